"""A README that a person finishes, and links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from fenced import COMMENT, DOCUMENTS, README, ROOT, prose

MAX_WORDS, MAX_LINE = 1000, 120
PARTS = ("swiftcore", "dashboard")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The headings of a document as links name them."""
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose(path))]
    return {heading.strip().replace(" ", "-") for heading in plain}


def fault(path: Path, link: str) -> str:
    """What is wrong with a link, or nothing."""
    parts = urlsplit(link)
    if parts.scheme:
        return "" if parts.scheme in ("http", "https") and parts.netloc else "no address"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(ROOT) or not target.exists():
        return "no such file"
    known = anchors(target) if parts.fragment and target.suffix == ".md" else {parts.fragment}
    return "" if parts.fragment in known else "no such heading"


def test_it_is_short() -> None:
    text = COMMENT.sub("", README.read_text(encoding="utf-8"))
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= MAX_WORDS


def test_its_lines_fit_a_screen() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > MAX_LINE] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    links = LINK.findall(prose(path))
    assert {link: fault(path, link) for link in links if fault(path, link)} == {}
    assert links or path != README


def test_a_dead_link_would_be_found() -> None:
    assert fault(README, "docs/nowhere.md") and fault(README, "docs/evidence.md#nowhere")
    assert fault(README, "https:nowhere") and not fault(README, "docs/evidence.md#false-entries")


def test_the_architecture_names_every_folder() -> None:
    """All packages of both parts, and all folders beside them that git knows."""
    listed = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```text")[1]
    packages = [path.parent for part in PARTS for path in (ROOT / part).glob("*/__init__.py")]
    beside = [path for path in ROOT.iterdir() if (path / "__init__.py").exists()]
    names = {f"{path.name}/" for path in (*packages, *beside)}
    assert len(names) > 20 and {name for name in names if name not in listed} == set()


def test_every_picture_has_words() -> None:
    for path in DOCUMENTS:
        assert "![](" not in path.read_text(encoding="utf-8"), path.name
