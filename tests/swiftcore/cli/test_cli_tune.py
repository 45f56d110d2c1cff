"""``swift tune`` as a person or a program uses it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from dashboard.store.store import Store
from swiftcore.cli import main
from swiftcore.cli.tune import _minutes
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import ModelSpec


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """40 patients whose outcome goes with one of two groups of features."""
    rng = np.random.default_rng(0)
    lines = ["patient,diagnosis,medication,outcome"]
    lines += [
        f"{row},d{row % 2}{rng.integers(3)},m{row % 2}{rng.integers(2)},{row % 2}"
        for row in range(40)
        for _ in range(4)
    ]
    path = tmp_path / "events.csv"
    path.write_text("\n".join(lines))
    return path


def test_tune_writes_a_spec_its_tables_and_a_page(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = f"tune {events} --ranks 2 --budget 0.5s --out {out}"
    assert main([*words.split(), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    spec = ModelSpec.from_json(json.loads((out / "spec.json").read_text()))
    assert ModelSpec.from_json(said["spec"]) == spec and spec.rank == 2
    stored = Experiment.from_json((out / "tune.json").read_text())
    assert stored.about["reason"] == said["reason"] and stored.kind == "tune"
    assert len(said["candidates"]) == len(stored.tables["candidates"])
    assert said["not_tried"] == [one["state"] for one in said["candidates"]].count("not tried")
    assert (out / "tune_candidates.csv").read_text().startswith("candidate,rank,setting,state")
    page = (out / "tune.html").read_text()
    assert "Chosen: 2 phenotypes" in page and said["reason"] in page and "<table>" in page
    assert main(words.split()) == 0  # the same from what was kept
    shown = capsys.readouterr()
    assert "chosen" in shown.out and "as usual" in shown.out and "Chosen: R = 2" in shown.err


def test_tune_goes_where_the_dashboard_finds_it(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "store"
    words = f"tune {events} --ranks 2 --budget 0.5s --data-dir {root} --json".split()
    assert main(words) == 0
    first = capsys.readouterr()
    said, store = json.loads(first.out), Store(root)
    run = store.runs(kind="tune")[0]
    assert (said["run"], said["from_store"]) == (run.id, False) and "swift open" in first.err
    assert store.experiment(run.id).about["spec"] == said["spec"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again == {**said, "from_store": True}
    assert json.loads((tmp_path / "out" / "spec.json").read_text()) == said["spec"]
    assert len(store.runs(kind="tune")) == 1
    assert main(words[:2]) == 2 and "Say where the result shall go" in capsys.readouterr().err


def test_the_cure_for_a_small_class_works(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events.write_text(events.read_text() + "\nextra,d00,m00,rare")
    words = f"tune {events} --ranks 2 --budget 0.5s --out {tmp_path / 'out'}".split()
    assert main(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "1 rows for 3 folds" in said and "folds, or" not in said
    cure = said.partition("Leave such classes out: ")[2].split(".")[0].split()
    assert main([*words, *cure]) == 0
    assert "were left out: rare (1)" in " ".join(capsys.readouterr().err.split())


def test_budgets_are_times() -> None:
    assert [_minutes(text) for text in ("90s", "10m", "2h", "10", "none")] == [1.5, 10, 120, 10, 0]
    for text in ("0", "-1m", "soon", "1d", ""):
        with pytest.raises(argparse.ArgumentTypeError):
            _minutes(text)


def test_what_cannot_be_is_refused(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"tune {events} --ranks 0 --seed -1 --out {tmp_path / 'out'}".split()) == 2
    assert "2 problems" in capsys.readouterr().err and not (tmp_path / "out").exists()
