"""How many phenotypes: the planted number comes back, more of them do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from support.evaluation_data import planted_patients

from dashboard.charts.robustness import rank_choice
from swiftcore.evaluation.experiments.rank_choice import STEADY, recommended
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.fitting import fit_dataset
from swiftcore.spec import ModelSpec


@pytest.mark.parametrize(
    ("stability", "wanted", "words"),
    [
        ([1.0, 0.95, 0.6], 10, "largest number tried"),
        ([0.8, 0.7, 0.6], 5, "fewer may be better"),
        ([0.7, 0.8, 0.8], 10, "most often"),
        ([1.0, STEADY, STEADY], 20, "at least 90%"),
    ],
)
def test_the_largest_rank_that_is_steady(stability: list[float], wanted: int, words: str) -> None:
    table = pd.DataFrame({"rank": [5, 10, 20], "stability": stability, "objective": [3, 2, 1]})
    rank, reason = recommended(table)
    assert rank == wanted and words in reason and f"Take {wanted} phenotypes" in reason
    assert reason.count(".") == 1


def test_ranks_are_tried_kept_and_drawn(tmp_path: Path) -> None:
    settings = ExperimentSettings(ranks=(3, 2), seeds=2)
    found = run_experiment("ranks", planted_patients(), settings, checkpoints=tmp_path)
    table = found.tables["ranks"]
    assert table["rank"].tolist() == [2, 3] and table["stability"].between(0, 1).all()
    assert (table["least"] <= table["stability"]).all()
    assert table["objective"].is_monotonic_decreasing
    assert len(list(tmp_path.iterdir())) == 2
    again = Experiment.from_json(found.to_json())
    assert again.about["recommended"] in (2, 3)
    figure = rank_choice(again.tables["ranks"], again.about["recommended"], "components")
    assert figure.data[0].name == "found again, on average"
    assert list(figure.data[2].y) == table["objective"].tolist()


def test_a_given_spec_is_tried_at_every_rank_with_the_fits_asked_for() -> None:
    spec = ModelSpec(rank=7, sharpness=5.0, max_iterations=4, seed=3, consensus=9)
    settings = ExperimentSettings(ranks=(2,), seeds=2, fit=spec.plain())
    patients = planted_patients()
    found = run_experiment("ranks", patients, settings)
    wanted = fit_dataset(patients, replace(spec, rank=2, consensus=3))
    assert found.tables["ranks"]["objective"].tolist() == [wanted.history[-1].objective]
    assert found.about["notes"] == [
        "Each number is tried with 3 fits, not the 9 of the given spec."
    ]
