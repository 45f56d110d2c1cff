"""Rows put together from several experiments: nothing recorded is kept that would differ now."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from benchmarks.evidence_tables import (
    CHOSEN,
    kept,
    named,
    others_recorded,
    stacked,
    with_rows_anew,
)
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings

DATA = {"name": "made up", "digest": "0" * 64, "shape": [4, 2, 2], "entries": 8}


def experiment(data: dict[str, object] = DATA, **scores: list[float]) -> Experiment:
    """Methods with a score in each of two folds."""
    lines = [
        {
            "method": method,
            "kind": "factorization",
            "rank": 10,
            "subset": 0,
            "repeat": 0,
            "fold": fold,
            "score": score,
            "validation": 0.5,
            "second": 0.5,
            "seconds": 1.0,
            "setting": "{}",
        }
        for method, both in scores.items()
        for fold, score in enumerate(both)
    ]
    about = {"data": data, "settings": ExperimentSettings().plain(), "seconds": 1.0}
    return Experiment("evaluation", about, {"scores": pd.DataFrame(lines)})


def test_rows_stand_in_the_usual_order_and_are_compared_with_the_shipped_form() -> None:
    shipped = experiment(swift=[0.8, 0.6])
    chosen = named(experiment(swift=[0.7, 0.7]), {"swift": CHOSEN})
    whole = stacked(shipped, experiment(cp_apr=[0.5, 0.5]), chosen, experiment(cp_als=[0.4, 0.2]))
    assert whole.tables["scores"]["method"].unique().tolist() == [
        "swift",
        CHOSEN,
        "cp_als",
        "cp_apr",
    ]
    compared = whole.tables["comparison"].set_index("method")["difference"]
    assert compared.to_dict() == pytest.approx({CHOSEN: 0.0, "cp_als": 0.4, "cp_apr": 0.2})
    assert whole.about["seconds"] == 4.0


def test_recorded_rows_are_kept_when_some_come_out_the_same(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    before = stacked(experiment(swift=[0.9, 0.9], cp_als=[0.4, 0.2], cp_apr=[0.5, 0.5]))
    kept(before, path)

    def taken(**again: list[float]) -> tuple[list[str], list[str]]:
        found, changed = others_recorded(path, experiment(**again))
        return found.tables["scores"]["method"].unique().tolist(), changed

    assert taken(cp_als=[0.4, 0.2]) == (["cp_als", "cp_apr"], [])
    assert taken(cp_als=[0.4, 0.2], cp_apr=[0.5, 0.502]) == (["cp_als"], ["cp_apr"])
    assert taken(cp_nmu=[0.4, 0.2]) == (["cp_als", "cp_apr"], ["cp_nmu"])  # never recorded
    with pytest.raises(ValueError, match="other data"):
        others_recorded(path, experiment({**DATA, "entries": 9}, cp_als=[0.4, 0.2]))


def test_rows_made_anew_replace_theirs_alone(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    kept(stacked(experiment(swift=[0.9, 0.7], cp_als=[0.4, 0.2], cp_apr=[0.5, 0.5])), path)
    whole = with_rows_anew(path, experiment(cp_als=[0.6, 0.6]))
    means = whole.tables["summary"].set_index("method")["mean"]
    assert means.to_dict() == pytest.approx({"swift": 0.8, "cp_als": 0.6, "cp_apr": 0.5})
    compared = whole.tables["comparison"].set_index("method")["difference"]
    assert compared.to_dict() == pytest.approx({"cp_als": 0.2, "cp_apr": 0.3})
    with pytest.raises(ValueError, match="other data"):
        with_rows_anew(path, experiment({**DATA, "entries": 9}, cp_als=[0.6, 0.6]))


def test_early_records_are_completed_and_levels_joined(tmp_path: Path) -> None:
    """They name no subsets, and those of noise no settings; survival is of SWIFT alone."""

    def noise(level: float, **scores: list[float]) -> Experiment:
        plain = experiment(**scores)
        lines = plain.tables["scores"].drop(columns=["second", "seconds"])
        lines = lines.assign(level=level, draw=0)
        survival = pd.DataFrame(
            {"rank": [10], "phenotype": ["P01"], "level": [level], "draw": [0], "cosine": [level]}
        )
        settings = {**plain.about["settings"], "levels": [level]}
        tables = {"scores": lines, "survival": survival}
        return Experiment("noise", {**plain.about, "settings": settings}, tables)

    early = noise(0.1, swift=[0.9, 0.7], cp_als=[0.4, 0.2])
    scores = early.tables["scores"].drop(columns=["subset", "setting"])
    path = tmp_path / "recorded.json"
    kept(Experiment("noise", early.about, {**early.tables, "scores": scores}), path)
    kept(with_rows_anew(path, noise(0.2, swift=[0.8, 0.8])), path)
    whole = Experiment.from_json(path.read_text())
    assert whole.about["settings"]["levels"] == [0.1, 0.2]
    assert whole.tables["survival"]["level"].tolist() == [0.2]
    found = whole.tables["scores"].groupby("method")["score"].apply(list).to_dict()
    assert found == {"swift": [0.8, 0.8], "cp_als": [0.4, 0.2]}
