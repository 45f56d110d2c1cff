"""The page for clinicians: the document of that name, inside the app."""

from __future__ import annotations

from pathlib import Path

NAME = "for-clinicians.md"
# An installed package carries the page inside itself; a source checkout has it in its documents.
FOLDERS = (Path(__file__).parent / "_pages", Path(__file__).parents[2] / "docs")


def for_clinicians() -> str:
    """Its Markdown without the title; our own words, no user text."""
    path = next(folder / NAME for folder in FOLDERS if (folder / NAME).is_file())
    title, _, text = path.read_text(encoding="utf-8").partition("\n")
    assert title.startswith("# ")
    return text.strip()
