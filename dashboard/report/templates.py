"""The one door from templates to HTML: every text that comes in is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboard.text.display import clipped, visible
from dashboard.text.wording import capital, plural

MAX_NAME = 90
MAX_HEADING = 160
MAX_HOVER = 500
MAX_COMMENT = 2000


def render(template: str, **content: Any) -> str:
    """A template of this folder with its content, as HTML."""
    return _ENVIRONMENT.get_template(template).render(**content)


def _shown(value: Any, kind: str) -> str:
    """A cell as people read it."""
    if value is None:
        return ""
    if kind == "percent":
        return f"{value:.0%}"
    if kind in ("score", "bar"):
        return f"{value:.3f}"
    if kind == "signed":
        return f"{value:+.3f}" if value else "0"
    if kind == "whole":
        return f"{value:,}"
    return clipped(value, MAX_NAME)


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(
    {
        "clip": lambda text: clipped(text, MAX_NAME),
        "hover": lambda text: visible(str(text)[:MAX_HOVER]),
        "comment": lambda text: clipped(text, MAX_COMMENT),
        "heading": lambda text: clipped(text, MAX_HEADING),
        "plural": plural,
        "capital": capital,
        "shown": _shown,
    }
)
