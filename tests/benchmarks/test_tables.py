"""The tables in the documents are those of the recorded results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import RESULTS, tables
from swiftcore.evaluation.experiments.result import Experiment


@pytest.mark.parametrize("path", tables.DOCUMENTS, ids=lambda path: path.name)
def test_a_document_shows_what_was_recorded(path: Path) -> None:
    document = path.read_text()
    assert re.search("<!-- (table|summary): ", document)
    assert document == tables.filled(document), "run: python -m benchmarks.tables"


@pytest.mark.parametrize("path", tables.DOCUMENTS, ids=lambda path: path.name)
def test_a_changed_number_would_be_seen(path: Path) -> None:
    document = path.read_text()
    swift = re.search(r"^\| (?:SWIFT|5) \|.*?(0\.\d{3})", document, re.MULTILINE)
    assert swift is not None
    changed = document[: swift.start(1)] + "0.999" + document[swift.end(1) :]
    assert tables.filled(changed) == document


def test_the_summary_sets_swift_beside_the_best_other_method() -> None:
    name = "bbc_fresh_evaluation"
    scores = Experiment.from_json((RESULTS / f"{name}.json").read_text()).tables["scores"]
    means = scores[scores["rank"] == 10].groupby("method")["score"].mean()
    best = means.drop("swift").max()
    line = next(line for line in tables.summary([name]).splitlines() if line.startswith("| 10 |"))
    assert line.startswith(f"| 10 | {means['swift']:.3f} | ")
    assert f"**{best:.3f}** Supervised CP" in line, "bold where another method is ahead"


def test_the_summary_has_the_guided_form_where_it_was_run() -> None:
    scores = Experiment.from_json((RESULTS / "eicu_evaluation.json").read_text()).tables["scores"]
    means = scores[scores["rank"] == 5].groupby("method")["score"].mean()
    head, _, line, *_ = tables.summary(["bbc_fresh_evaluation", "eicu_evaluation"]).splitlines()
    assert head.count("guided") == 1 and head.count("best other method") == 2
    assert f"| **{means['swift']:.3f}** | {means['supervised_swift']:.3f} |" in line
    assert line.count("|") == head.count("|")


def test_the_papers_means_stand_beside_ours_at_its_ranks_alone() -> None:
    evaluation = tables.filled("<!-- table: bbc_fresh_evaluation -->\n<!-- end of table -->")
    swift = next(line for line in evaluation.splitlines() if line.startswith("| SWIFT |"))
    shown = [float(mean) for mean in re.findall(r"\((0\.\d{3})\)", swift)]
    assert shown == [0.759, 0.781, 0.803, 0.815, 0.818]
    noise = tables.filled("<!-- table: bbc_fresh_noise -->\n<!-- end of table -->")
    assert "(" not in noise and "| no false entries | 5 % false |" in noise
