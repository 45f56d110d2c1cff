"""Where what is drawn came from: said once on the page, and in every table and chart saved.

A drawing is marked by what it is drawn inside of: the page of an imported result, a part with an
imported experiment. Tables and charts ask here, so none of them has to be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dashboard.store.imported import Origin

WITH_A_RESULT = "came with an imported result"  # said of data
_source: ContextVar[str] = ContextVar("source", default="")
_method: ContextVar[str] = ContextVar("method", default="")
_made_for: ContextVar[str] = ContextVar("made_for", default="")


@contextmanager
def drawn_from(*origins: Origin | str | None) -> Iterator[None]:
    """Within it everything is drawn from these, instead of what was said around it."""
    said = [one.words if isinstance(one, Origin) else one for one in origins if one]
    token = _source.set("; ".join(dict.fromkeys(said)))
    try:
        yield
    finally:
        _source.reset(token)


@contextmanager
def found_by(method: str, made_for: str = "") -> Iterator[None]:
    """Within it everything is drawn from a result of this method (a title), perhaps guided."""
    tokens = _method.set(method), _made_for.set(made_for)
    try:
        yield
    finally:
        _method.reset(tokens[0])
        _made_for.reset(tokens[1])


def made_for() -> str:
    """The mark of what is drawn now, if it was guided by the outcome; with user text."""
    return _made_for.get()


def method() -> str:
    """The method of what is drawn now, if it is another one than SWIFT; a title."""
    return _method.get()


def source() -> str:
    """Where what is drawn now came from, in words with user text; empty if it is one's own."""
    return _source.get()


def file_name(name: str) -> str:
    """The name of a file with what is drawn now."""
    return f"imported_{name}" if source() else name
