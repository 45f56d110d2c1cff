"""The whole search on small data whose right answer is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from support.evaluation_data import planted_patients, small_corpus, small_search

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData
from swiftcore.evaluation.experiments import stability
from swiftcore.evaluation.experiments.checkpoints import FAILED
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.trial import PROJECTION_STEPS, choose_lasso
from swiftcore.evaluation.experiments.tuning import judge, search, tune
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.evaluation.protocol.folds import Fold, read_labels
from swiftcore.evaluation.protocol.preparation import prepare
from swiftcore.fitting import fit_dataset
from swiftcore.spec import ModelSpec
from swiftcore.tensor import SparseTensor

ALL = TuneSettings(ranks=(2, 3), minutes=0.0)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_search(monkeypatch)


@pytest.fixture(scope="module")
def patients() -> Dataset:
    return planted_patients(60)


def without_times(found: Experiment) -> list[pd.DataFrame]:
    return [table.drop(columns="seconds") for table in found.tables.values()]


def test_the_choice_is_a_spec_that_fits_and_does_not_depend_on_jobs(
    patients: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tune.tune(patients, ALL, checkpoints=tmp_path)
    table = found.tables["candidates"]
    assert table["state"].tolist().count("chosen") == 1 and "not tried" not in set(table["state"])
    usual = table.iloc[0]
    assert usual["setting"] == "{}" and usual["folds"] == 3  # to the end
    assert len(found.tables["tried"]) == table["folds"].sum()
    spec = ModelSpec.from_json(found.about["spec"])
    assert spec.rank == 3  # three groups of features were planted, two cannot tell them apart
    assert fit_dataset(patients, spec).factors[0].shape == (60, 3)
    assert Experiment.from_json(found.to_json()).about["spec"] == found.about["spec"]
    with parallel_config("threading"):
        other = tune.tune(patients, replace(ALL, jobs=2))
    for one, two in zip(without_times(found), without_times(other), strict=True):
        pd.testing.assert_frame_equal(one, two)
    monkeypatch.setattr(judge, "fit_dataset", None)  # everything is in the folder
    again = tune.tune(patients, ALL, checkpoints=tmp_path)
    for one, two in zip(without_times(found), without_times(again), strict=True):
        pd.testing.assert_frame_equal(one, two)


def test_classes_of_few_rows_are_refused_until_they_are_left_out(patients: Dataset) -> None:
    assert patients.outcome is not None
    texts = np.where(patients.outcome, "ill", "well").astype(object)
    texts[:2] = "rare"
    data = replace(patients, outcome=texts)
    short = TuneSettings(ranks=(2,), minutes=1e-4)
    with pytest.raises(InvalidData, match=r"2 rows for 3 folds. Leave .*-size 3\.$"):
        tune.tune(data, short)
    found = tune.tune(data, replace(short, least_class_size=3))
    assert any("2 rows of classes with fewer than 3" in one for one in found.about["notes"])
    with pytest.raises(InvalidData, match="least class size, and no outcome"):
        tune.tune(replace(data, outcome=None), replace(short, least_class_size=3))


def test_folds_are_no_more_than_the_persons_of_a_class(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "FOLDS", 5)
    visits = replace(patients, row_groups=tuple(f"person {row % 8}" for row in range(60)))
    outcome = np.arange(60) % 8 < 4  # four persons with it, four without
    data = replace(visits, outcome=outcome)
    assert max(fold.number for fold in judge.inner_folds(data, read_labels(data), 0)) == 3


def test_no_row_of_an_outer_test_fold_is_seen(
    patients: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, tested = np.arange(45), np.arange(45, 60)
    places = patients.tensor.coordinates.copy()
    values = patients.tensor.values.copy()
    of_test = np.isin(places[:, 0], tested)
    places[of_test, 1] = 8 - places[of_test, 1]
    values[of_test] += 7
    other = SparseTensor.from_coordinates(places, values, modes=patients.tensor.modes)
    assert patients.outcome is not None
    turned = np.where(np.arange(60) >= 45, ~patients.outcome, patients.outcome)
    changed = replace(patients, tensor=other, outcome=turned)
    settings = replace(ALL, ranks=(2,))
    found = search.search(patients.with_rows(known), settings, checkpoints=tmp_path)
    monkeypatch.setattr(judge, "fit_dataset", None)
    monkeypatch.setattr(stability, "fit_dataset", None)
    # parts are kept under the digest of all the data that a search sees: all of them are found
    spec = tune.tuned_spec(changed, known, settings, checkpoints=tmp_path)
    assert spec == found.chosen.candidate.spec
    with pytest.raises((TypeError, InvalidData)):  # what is not there cannot be computed
        tune.tuned_spec(changed, np.arange(46), settings, checkpoints=tmp_path)


def heavy_patients() -> Dataset:
    """Entries say by being there what group a row is of; their values are of the few heavy rows."""
    made = planted_patients(60, seed=1)
    rng = np.random.default_rng(0)
    values = np.exp(rng.normal(0, 3, made.tensor.n_entries))
    tensor = SparseTensor(made.tensor.modes, made.tensor.coordinates, np.ceil(values))
    return replace(made, tensor=tensor)


def test_a_weighting_that_matters_is_found() -> None:
    found = tune.tune(heavy_patients(), TuneSettings(ranks=(3,), minutes=0.0))
    spec = ModelSpec.from_json(found.about["spec"])
    assert (spec.entry_values, spec.row_mass) == ("presence", "equal")
    assert found.tables["candidates"]["behind"].iloc[0] > 0


def test_without_an_outcome_entries_are_foreseen(patients: Dataset) -> None:
    bare = replace(patients, outcome=None, outcome_name="")
    found = tune.tune(bare, ALL)
    assert ModelSpec.from_json(found.about["spec"]).rank == 3
    assert "no outcome" in found.about["notes"][0]
    assert Experiment.from_json(found.to_json()).kind == "tune"
    with pytest.raises(InvalidData, match="outcome that is not there"):
        tune.tune(bare, replace(ALL, guided=True))


def test_when_the_time_is_up_the_shipped_settings_were_tried(patients: Dataset) -> None:
    found = tune.tune(patients, replace(ALL, minutes=1e-6))
    assert found.tables["candidates"]["state"].tolist() == ["chosen", *["not tried"] * 3]
    assert len(found.tables["tried"]) == 1
    assert "3 of 4 settings were not tried" in found.about["notes"][-1]
    assert ModelSpec.from_json(found.about["spec"]) == ModelSpec(rank=3)


def test_what_cannot_be_fitted_leaves_its_reason_and_the_others_go_on(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(dataset: Dataset, spec: ModelSpec, **more: Any) -> Any:
        if spec.entry_values == "presence" or spec.rank == 2:
            raise ValueError("too sharp")
        return fit_dataset(dataset, spec, **more)

    monkeypatch.setattr(judge, "fit_dataset", fit)
    found = tune.tune(patients, ALL)
    states = found.tables["candidates"].set_index(["rank", "setting"])["state"]
    assert states[3, "{}"] == "chosen" and sorted(states) == ["chosen", *["failed"] * 3]
    assert "too sharp" in set(found.tables["tried"]["reason"])
    with pytest.raises(InvalidData, match=r"No settings came to a result.*too sharp"):
        tune.tune(patients, replace(ALL, ranks=(2,)))


def test_losses_are_those_of_the_lasso_that_an_evaluation_would_choose(patients: Dataset) -> None:
    labels = read_labels(patients)
    fold = judge.inner_folds(patients, labels, 0)[0]
    spec = ModelSpec(rank=2)
    part = judge.judge(patients, labels, fold, spec)
    assert FAILED not in part and part["rows"] == fold.validation.tolist()
    prepared = prepare(patients, labels, fold)
    fitted = fit_dataset(prepared.training, spec)
    memberships = {
        name: fitted.transform(prepared.tensors[name], max_iterations=PROJECTION_STEPS)
        for name in ("train", "validation")
    }
    choice = choose_lasso(memberships, prepared.codes, 2)
    assert np.mean(part["losses"]) == pytest.approx(choice.loss, abs=1e-6)
    assert part["score"] == choice.score


def test_rows_train_or_judge_and_each_judges_once_per_draw(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "MAX_REPEATS", 3)
    monkeypatch.setattr(judge, "ROUND_ROWS", 50)
    folds = judge.inner_folds(patients, read_labels(patients), 0)
    assert len(folds) == 9
    for fold in folds:
        assert sorted([*fold.train, *fold.validation]) == list(range(60))
    judged = np.concatenate([fold.validation for fold in folds])
    assert (np.bincount(judged) == 3).all()
    assert judge.rounds(folds) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


@pytest.mark.parametrize("seed", range(3))
def test_some_entries_of_a_row_are_hidden_and_never_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.unique(rng.integers(0, (30, 5, 5), (200, 3)), axis=0)
    held = SparseTensor.from_coordinates(places, np.ones(len(places)))
    hidden = judge._hidden(held, np.random.default_rng(seed))
    entries = np.bincount(held.coordinates[:, 0])
    gone = np.bincount(held.coordinates[hidden, 0], minlength=len(entries))
    assert (gone == np.where(entries > 1, np.maximum(1, entries // 5), 0)).all()


def ten_seconds(_: Dataset, __: Any, fold: Fold, spec: ModelSpec) -> dict[str, Any]:
    """A judgement that says it took that long; presence is better."""
    loss = 0.25 if spec.entry_values == "presence" else 0.5
    rows = fold.validation.tolist()
    return {"rows": rows, "losses": [loss] * len(rows), "score": 0.5, "seconds": 10.0}


@pytest.mark.parametrize(("seconds", "tried"), [(10, 1), (14, 2), (30, 3), (80, 4)])
def test_a_short_time_is_for_several_candidates_and_not_for_several_folds(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch, seconds: int, tried: int
) -> None:
    monkeypatch.setattr(search, "judge", ten_seconds)
    counts = replace(patients, tensor=heavy_patients().tensor)
    found = search.search(counts, replace(ALL, minutes=seconds / 60))
    assert [(one.number, fold) for one, fold in found.parts][:tried] == [
        (number, 0) for number in range(tried)
    ]
    assert len(found.parts) == tried + 3 * (seconds == 80)  # 64 seconds are for all folds
    assert len(found.not_tried) == 4 - tried


def test_a_round_that_not_everybody_finished_decides_nothing(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "judge", ten_seconds)
    counts = replace(patients, tensor=heavy_patients().tensor)
    found = tune.tune(counts, TuneSettings(ranks=(3,), minutes=0.5))
    table = found.tables["candidates"]
    assert table["folds"].tolist() == [2, 1]  # 24 of 30 seconds are for the folds
    assert table["state"].tolist() == ["worse", "chosen"]
    assert table["loss"].tolist() == [0.5, 0.25] and table["behind"].tolist() == [0.25, 0.0]
    assert "1 of 3 folds decide" in found.about["notes"][1]


def test_some_rows_keep_all_that_is_known_of_them() -> None:
    corpus = replace(small_corpus(12), row_groups=tuple("abcdefabcdef"))
    rows = np.array([7, 2, 3])
    some = corpus.with_rows(rows)
    assert some.outside is corpus.outside and some.words == corpus.words
    assert corpus.outcome is not None and some.outcome is not None
    assert some.outcome.tolist() == corpus.outcome[rows].tolist()
    assert some.row_groups == ("b", "c", "d")
    assert some.tensor.digest() == corpus.tensor.select(0, rows).digest()
    assert some.word_counts is not None and corpus.word_counts is not None
    assert (some.word_counts.toarray() == corpus.word_counts.toarray()[rows]).all()
