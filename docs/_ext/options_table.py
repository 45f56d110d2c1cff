"""The options of a build as a Markdown table, one line per field of ``BuildOptions``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

HEAD = ("option", "values", "unless set", "what it does", "example")


def options_table(options: Iterable[Any]) -> list[str]:
    """Lines of a Markdown table.

    Parameters
    ----------
    options : iterable of OptionHelp
        In the order in which they are listed.
    """
    lines = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    for one in options:
        cells = (f"`{one.name}`", one.values, one.default, one.about, f"`{one.example}`")
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return lines
