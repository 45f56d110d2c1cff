"""The tables of the README on small data: every kind runs with its usual methods, and is kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import evidence
from swiftcore.data.dataset import Dataset
from swiftcore.tensor import SparseTensor


def two_groups() -> Dataset:
    rng = np.random.default_rng(0)
    group = np.arange(40) % 2
    places = [
        (row, 3 * group[row] + rng.integers(3), 2 * group[row] + rng.integers(2))
        for row in range(40)
        for _ in range(6)
    ]
    tensor = SparseTensor.from_coordinates(places, np.ones(len(places)))
    return Dataset("two groups", tensor, group == 1, "second", "made for a test")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "methods", "compared"),
    [
        ("ablation", [], {"swift"}),
        ("evaluation", ["swift", "cp_als"], {"swift", "cp_als"}),
        ("noise", ["swift"], {"swift"}),
    ],
)
def test_each_kind_is_computed_and_kept(
    kind: str,
    methods: list[str],
    compared: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(evidence, "load", lambda name: [two_groups()])
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    monkeypatch.setattr(evidence, "RESULTS", tmp_path / "results")
    named = ["--methods", *methods] if methods else []
    words = f"bbc {kind} --quick --ranks 2 --jobs 1 --levels 0.1 --draws 1"
    evidence.main([*words.split(), *named])
    kept = json.loads((tmp_path / "results" / f"bbc_{kind}.json").read_text())
    assert set(kept["about"]["settings"]["methods"]) == compared
    assert kept["about"]["settings"]["fit"] == {"method": "swift"}  # SWIFT as shipped
    means = [
        float(cell.split(" ± ")[0])
        for line in capsys.readouterr().out.splitlines()[2:]
        for cell in line.split("|")[2:-1]
    ]
    assert means and min(means) > 0.9  # groups that share no feature are told apart
