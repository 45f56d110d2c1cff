"""User text (feature names, labels, comments) made fit to be looked at, whatever is in it."""

from __future__ import annotations

import unicodedata

MAX_LENGTH = 60
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: object) -> str:
    """The text with control, zero-width and direction characters made visible."""
    return "".join(map(_visible, str(text)))


def clipped(text: object, longest: int = MAX_LENGTH) -> str:
    """The visible text, cut to a length that a table or a chart can hold."""
    shown = visible(str(text)[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}\u2026"


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return f"[U+{code:04X}]" if unicodedata.category(character) in _UNSEEN else character
