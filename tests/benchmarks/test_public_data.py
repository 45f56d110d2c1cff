"""The articles that judge are none of those on which the grid was developed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import public_data
from benchmarks.evidence_tables import joined
from swiftcore.evaluation.experiments.result import Experiment

CATEGORIES = ("business", "sport")


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hundred articles of each category in the archive's layout; every tenth is a repeat."""
    rng = np.random.default_rng(0)
    words = ["alpha", "bravo", "delta", "gamma", "omega", "sigma", "theta", "kappa"]
    for category in CATEGORIES:
        folder = tmp_path / "bbc" / "bbc" / category
        folder.mkdir(parents=True)
        for number in range(100):
            own = number - 1 if number % 10 == 9 else number
            text = f"{category} story {own}. " + " ".join(rng.choice(words, 6)) + "."
            if own != number:
                text = (folder / f"{own:03d}.txt").read_text() + "  \n"
            (folder / f"{number:03d}.txt").write_text(text)
    monkeypatch.setattr(public_data, "SHARED", tmp_path)
    monkeypatch.setattr(public_data, "PER_CATEGORY", 15)
    return tmp_path


def test_fresh_draws_share_no_text_with_the_first_or_each_other(archive: Path) -> None:
    def texts(name: str) -> list[list[str]]:
        return [
            [
                " ".join((archive / "bbc" / "bbc" / f"{row}.txt").read_text().split())
                for row in data.tensor.modes[0].labels
            ]
            for data in public_data.load(name)
        ]

    drawn = [*texts("bbc"), *texts("bbc_fresh")]
    assert [len(one) for one in drawn] == [30] * 4
    fresh = [text for one in drawn[1:] for text in one]
    assert len(set(fresh)) == len(fresh)
    assert not set(fresh) & set(drawn[0])
    assert len(texts("bbc_all")[0]) == 200 and len(texts("bbc_unique")[0]) == 180
    for data in public_data.load("bbc_fresh"):
        assert {name: int((data.outcome == name).sum()) for name in CATEGORIES} == {
            "business": 15,
            "sport": 15,
        }


def one_experiment(scores: list[float], seconds: float) -> Experiment:
    table = pd.DataFrame(
        {
            "method": ["swift", "swift", "cp_als", "cp_als"],
            "kind": "factorization",
            "rank": 5,
            "repeat": [0, 1, 0, 1],
            "fold": 0,
            "score": scores,
            "second": 0.5,
        }
    )
    counts = pd.DataFrame(
        {"method": ["swift"], "rank": 5, "truth": "a", "predicted": "b", "count": 3}
    )
    tables = {"scores": table, "summary": table, "comparison": table, "confusion": counts}
    return Experiment("evaluation", {"data": {"name": str(seconds)}, "seconds": seconds}, tables)


def test_data_sets_are_joined_as_further_repeats() -> None:
    whole = joined(
        [one_experiment([0.8, 0.6, 0.5, 0.5], 1.0), one_experiment([0.6, 0.6, 0.7, 0.3], 2.0)]
    )
    scores = whole.tables["scores"]
    swift = scores[scores["method"] == "swift"]
    assert swift["repeat"].tolist() == [0, 1, 2, 3]
    summary = whole.tables["summary"].set_index("method")
    assert summary.loc["swift", "mean"] == pytest.approx(0.65) and summary.loc["swift", "n"] == 4
    comparison = whole.tables["comparison"].set_index("method")
    assert comparison.loc["cp_als", "difference"] == pytest.approx(0.15)
    assert whole.tables["confusion"]["count"].tolist() == [6]
    assert whole.about["seconds"] == 3.0 and len(whole.about["data"]) == 2
