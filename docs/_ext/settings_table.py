"""The settings of a fit as a Markdown table, one line per entry of ``swiftcore.spec.SETTINGS``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEAD = ("setting", "default", "a value is", "what it does", "clinicians", "data scientists")


def settings_table(settings: Mapping[str, Any]) -> list[str]:
    """Lines of a Markdown table.

    Parameters
    ----------
    settings : mapping of str to Setting
        By name, in the order in which they are listed.
    """
    lines = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    for name, setting in settings.items():
        cells = (
            f"`{name}`<br>`{setting.option}`",
            f"`{setting.default!r}`",
            setting.wanted,
            setting.help,
            setting.clinician,
            setting.scientist,
        )
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
