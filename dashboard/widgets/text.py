"""User text inside our own Markdown sentences: shown as typed, nothing in it comes alive."""

from __future__ import annotations

import re

from dashboard.text.display import clipped, visible

__all__ = ["clipped", "plain", "visible"]

_JOINER = "\u2060"  # invisible; keeps Markdown extensions from seeing links, emoji and arrows
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_LIVE = re.compile(r"(\\[:@<>=-]|www)(?=\S)")


def plain(text: object, longest: int | None = None) -> str:
    """User text made safe for Markdown, in full or cut to a length."""
    shown = visible(text) if longest is None else clipped(text, longest)
    return _LIVE.sub(rf"\1{_JOINER}", _PUNCTUATION.sub(r"\\\1", shown))
