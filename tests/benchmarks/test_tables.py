"""The tables in the documents are those of the recorded results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import tables


@pytest.mark.parametrize("path", tables.DOCUMENTS, ids=lambda path: path.name)
def test_a_document_shows_what_was_recorded(path: Path) -> None:
    document = path.read_text()
    assert re.search("<!-- table: ", document)
    assert document == tables.filled(document), "run: python -m benchmarks.tables"


def test_a_changed_number_would_be_seen() -> None:
    document = tables.DOCUMENTS[0].read_text()
    swift = re.search(r"\| SWIFT \|.*?(0\.\d{3}) ±", document)
    assert swift is not None
    changed = document[: swift.start(1)] + "0.999" + document[swift.end(1) :]
    assert tables.filled(changed) == document


def test_the_papers_means_stand_beside_ours_at_its_ranks_alone() -> None:
    evaluation = tables.filled("<!-- table: bbc_fresh_evaluation -->\n<!-- end of table -->")
    swift = next(line for line in evaluation.splitlines() if line.startswith("| SWIFT |"))
    shown = [float(mean) for mean in re.findall(r"\((0\.\d{3})\)", swift)]
    assert shown == [0.759, 0.781, 0.803, 0.815, 0.818]
    noise = tables.filled("<!-- table: bbc_fresh_noise -->\n<!-- end of table -->")
    assert "(" not in noise and "| no false entries | 5 % false |" in noise
