"""Text that a spreadsheet will not take for a formula."""

from __future__ import annotations


def csv_safe(text: str) -> str:
    """The text, with a quote before it if a spreadsheet would take it for a formula."""
    start = text.lstrip("\t\r\n \0")[:1]
    return f"'{text}" if start and start in "=+-@\uff1d\uff0b\uff0d\uff20" else text
