"""Nothing of the test rows reaches training, and labels that say nothing score at chance."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from support.evaluation_data import planted_patients, small_corpus

from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.trial import Trial, run_trial
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.protocol.folds import Fold, make_folds, read_labels
from swiftcore.tensor import Mode, SparseTensor

SWIFT = CATALOGUE["swift"]
SHORT = json.dumps({"max_iterations": 6})
WEIGHTED = json.dumps(
    {"max_iterations": 6, "row_mass": "equal", "feature_weighting": "rarity and outcome"}
)


def trained(data: Dataset, fold: Fold, features: int, setting: str = SHORT) -> str:
    trial = Trial("swift", 3, setting, 0, fold.number, features=features)
    return str(run_trial(data, read_labels(data), fold, SWIFT, trial, digest=True)["trained"])


def perturbed(data: Dataset, rows: np.ndarray, rng: np.random.Generator) -> Dataset:
    """Other entries, other words and other labels in some rows; all else stays."""
    tensor, changed = data.tensor, np.isin(data.tensor.coordinates[:, 0], rows)
    places, values = tensor.coordinates.copy(), tensor.values.copy()
    for mode in range(1, tensor.n_modes):
        places[changed, mode] = rng.integers(0, tensor.shape[mode], changed.sum())
    values[changed] = rng.integers(1, 6, changed.sum())
    outcome = np.array(data.outcome)
    outcome[rows] = rng.permutation(outcome[rows])
    counts = data.word_counts
    if counts is not None:
        dense = counts.toarray()
        dense[rows] = rng.integers(0, 3, (len(rows), dense.shape[1]))
        counts = type(counts)(dense)
    return replace(
        data,
        tensor=SparseTensor.from_coordinates(places, values, modes=tensor.modes),
        outcome=outcome,
        word_counts=counts,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "features"), [(planted_patients, 5), (small_corpus, 12)], ids=["patients", "documents"]
)
@pytest.mark.parametrize(
    ("number", "setting"), [(0, SHORT), (3, WEIGHTED)], ids=["plain", "weighted"]
)
@pytest.mark.parametrize("times", [12, pytest.param(100, marks=pytest.mark.nightly)])
def test_test_rows_leave_no_trace_in_training(
    make: Callable[[], Dataset], features: int, number: int, setting: str, times: int
) -> None:
    data = make()
    fold = make_folds(data, read_labels(data))[number]
    before = trained(data, fold, features, setting)
    rng = np.random.default_rng(number)
    for _ in range(times):
        assert trained(perturbed(data, fold.test, rng), fold, features, setting) == before


@pytest.mark.slow
@pytest.mark.parametrize("key", list(CATALOGUE))
def test_no_method_sees_test_rows(key: str) -> None:
    method, data, rng = CATALOGUE[key], small_corpus(), np.random.default_rng(1)
    labels = read_labels(data)
    fold = make_folds(data, labels)[1]
    setting = json.dumps(dict(method.quick_grid[-1]), sort_keys=True)
    trial = Trial(key, 2 if method.is_factorization else 0, setting, 0, 1, features=8)

    def digest(changed: np.ndarray) -> str:
        other = perturbed(data, changed, rng) if len(changed) else data
        found = run_trial(other, read_labels(other), fold, method, trial, digest=True)
        return str(found["trained"])

    before = digest(np.empty(0, dtype=int))
    assert all(digest(fold.test) == before for _ in range(3))
    assert digest(fold.validation) != before and digest(fold.train) != before


@pytest.mark.parametrize("part", ["train", "validation"])
def test_the_check_would_notice_a_leak(part: str) -> None:
    data = small_corpus()
    fold = make_folds(data, read_labels(data))[0]
    before, rng = trained(data, fold, 12), np.random.default_rng(0)
    rows = getattr(fold, part)
    assert all(trained(perturbed(data, rows, rng), fold, 12) != before for _ in range(5))


@pytest.mark.slow
@pytest.mark.parametrize("setting", [SHORT, WEIGHTED], ids=["plain", "weighted by labels"])
def test_shuffled_labels_score_at_chance(setting: str) -> None:
    scores, chances = [], []
    for shuffle in range(40):
        data = planted_patients(120, seed=1)
        rng = np.random.default_rng(shuffle)
        data = replace(data, outcome=rng.permutation(np.array(data.outcome)))
        labels = read_labels(data)
        fold = make_folds(data, labels, seed=shuffle)[0]
        trial = Trial("swift", 3, setting, 0, 0)
        scores.append(run_trial(data, labels, fold, SWIFT, trial)["second"])
        chances.append(labels.chance)
    # ROC AUC of 24 test rows: 0.5 on average whatever the prevalence
    error = np.std(scores, ddof=1) / np.sqrt(40)
    assert abs(np.mean(scores) - 0.5) < 3 * error
    assert error < 0.03


def test_real_labels_score_far_above_chance() -> None:
    data = planted_patients(120, seed=1)
    labels = read_labels(data)
    fold = make_folds(data, labels)[0]
    found = run_trial(data, labels, fold, SWIFT, Trial("swift", 3, SHORT, 0, 0))
    assert found["second"] > 0.8 and found["score"] > labels.chance + 0.3


def test_a_feature_that_gives_the_answer_away_is_reported() -> None:
    data = planted_patients()
    ill = np.flatnonzero(np.array(data.outcome))
    modes = (
        data.tensor.modes[0],
        Mode("diagnosis", (*data.tensor.modes[1].labels, "the illness itself")),
        data.tensor.modes[2],
    )
    planted = np.column_stack([ill, np.full(len(ill), 9), np.zeros(len(ill), dtype=int)])
    tensor = SparseTensor.from_coordinates(
        np.vstack([data.tensor.coordinates, planted]),
        np.concatenate([data.tensor.values, np.ones(len(ill))]),
        modes=modes,
    )
    settings = ExperimentSettings(methods=("lasso_indicators",), folds=3)
    leaky = run_experiment("evaluation", replace(data, tensor=tensor), settings)
    assert any("the illness itself" in note for note in leaky.about["notes"])
    assert run_experiment("evaluation", data, settings).about["notes"] == []
