"""The documents, and the fenced blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "tutorial.md"
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("sample_data/*.md")]
_BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```\s*$", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text and the line of the document it begins on."""

    language: str
    text: str
    line: int


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a document, in order."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in _BLOCK.finditer(text)
    ]


def prose(path: Path) -> str:
    """A document without its fenced blocks and comments."""
    text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
    return COMMENT.sub("", text)
