"""A given spec is what stands in its row, in every experiment; and the words of documents."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings
from swiftcore.evaluation.experiments import trial
from swiftcore.evaluation.experiments.about import _most_often
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.protocol.folds import make_folds, read_labels
from swiftcore.evaluation.protocol.preparation import choose_features, words_missed
from swiftcore.fitting import fit_dataset
from swiftcore.spec import ModelSpec

SPEC = ModelSpec(
    rank=2, sharpness=5.0, row_mass="as recorded", max_iterations=6, n_restarts=1, seed=3
)
GIVEN = ExperimentSettings(methods=("lasso_indicators",), ranks=(2,), folds=3, fit=SPEC.plain())


@pytest.fixture(scope="module")
def judged(patients: Dataset) -> Experiment:
    return run_experiment("evaluation", patients, GIVEN)


def test_the_row_is_the_spec_with_nothing_to_choose(judged: Experiment) -> None:
    assert judged.judged == "swift"
    scores = judged.tables["scores"]
    mine = scores[scores["method"] == "swift"]
    assert len(mine) == 3  # first, though nobody named it
    for text in mine["setting"]:
        setting = json.loads(text)
        assert (setting["sharpness"], setting["row_mass"], setting["seed"]) == (
            5.0,
            "as recorded",
            3,
        )
    said = "SWIFT is the given spec (R = 2, sharpness 5"
    assert any(said in one for one in judged.about["notes"])
    summary = judged.tables["summary"].set_index("method")
    assert summary.loc["swift", "low"] < summary.loc["swift", "mean"] < summary.loc["swift", "high"]
    compared = judged.tables["comparison"]
    assert list(compared["method"]) == ["lasso_indicators"]
    assert Experiment.from_json(judged.to_json()).judged == "swift"


def test_a_fold_fits_the_spec_as_a_fit_of_its_training_rows_does(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = []

    def noted(*given: object, **more: object) -> object:
        fitted.append(fit_dataset(*given, **more))  # type: ignore[arg-type]
        return fitted[-1]

    monkeypatch.setattr(trial, "fit_dataset", noted)
    run_experiment("evaluation", patients, replace(GIVEN, methods=("swift",)))
    for model, fold in zip(fitted, make_folds(patients, read_labels(patients), 3), strict=True):
        rows = replace(
            patients,
            tensor=patients.tensor.select(0, fold.train),
            outcome=np.asarray(patients.outcome)[fold.train],
        )
        alone = fit_dataset(rows, SPEC)
        for ours, theirs in zip(model.factors, alone.factors, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_noise_and_stability_follow_the_given_spec(patients: Dataset) -> None:
    given = ModelSpec(rank=2, method="cp_als", max_iterations=5)
    settings = replace(GIVEN, fit=given.plain(), methods=(), levels=(0.1,), draws=1, seeds=1)
    found = run_experiment("stability", patients, settings)
    assert set(found.tables["summary"]["method"]) == {"cp_als"}
    settings = replace(settings, methods=("lasso_indicators",))
    noise = run_experiment("noise", patients, settings)
    assert list(noise.tables["comparison"]["method"].unique()) == ["lasso_indicators"]
    assert set(noise.tables["comparison"]["level"]) == {0.0, 0.1}
    mine = noise.tables["scores"].set_index("method").loc["cp_als", "setting"]
    assert all(json.loads(one)["max_iterations"] == 5 for one in mine)
    read = Experiment.from_json(noise.to_json())
    assert set(read.tables) >= {"summary", "comparison", "survival"}


def test_an_ablation_varies_only_the_costs(patients: Dataset) -> None:
    settings = replace(GIVEN, methods=(), recipes=("random",))
    found = run_experiment("ablation", patients, settings)
    scores = found.tables["scores"]
    assert set(scores["recipe"]) == {"as given", "random"}
    assert {json.loads(one)["sharpness"] for one in scores["setting"]} == {5.0}
    assert list(found.tables["comparison"]["recipe"]) == ["random"]


def test_without_a_spec_the_table_says_what_was_chosen(patients: Dataset) -> None:
    settings = replace(GIVEN, methods=("swift",), fit={})
    found = run_experiment("evaluation", patients, settings)
    [note] = [one for one in found.about["notes"] if "validation rows chose" in one]
    assert "SWIFT stands for the settings" in note and "of 3 times" in note
    assert found.judged == ""


def test_a_wrong_spec_is_refused_with_everything_that_is_wrong() -> None:
    with pytest.raises(InvalidSettings) as caught:
        ExperimentSettings(fit={"method": "swift", "sharpness": -1, "rank": 0}, subsets=3)
    codes = {one.code for one in caught.value.problems}
    assert codes == {"setting-sharpness", "setting-rank", "subsets"}
    with pytest.raises(InvalidSettings, match="no such factorization"):
        ExperimentSettings(fit={"method": "lasso_indicators"})


def test_words_that_training_documents_would_choose_anyway_draw_no_warning(corpus: Dataset) -> None:
    """Built with many words and cut per fold, nothing of the test documents decides."""
    folds = make_folds(corpus, read_labels(corpus), 3)
    labels = corpus.tensor.modes[1].labels
    chosen = [choose_features(corpus, fold.train, 6).modes[1].labels for fold in folds]
    places = sorted({labels.index(word) for words in chosen for word in words})
    assert 6 < len(places) < len(labels)
    many = replace(corpus, tensor=corpus.tensor.select(1, places).select(2, places))
    for fold, words in zip(folds, chosen, strict=True):
        assert choose_features(many, fold.train, 6).modes[1].labels == words
        assert words_missed(many, fold.train, 6) == 0
    fewer = replace(many, tensor=many.tensor.select(1, range(2)).select(2, range(2)))
    assert words_missed(fewer, folds[0].train, 6) >= 4
    settings = ExperimentSettings(methods=("lasso_indicators",), folds=3, features=6)
    said = run_experiment("evaluation", many, settings).about["notes"]
    assert not any("words" in one for one in said)
    said = run_experiment("evaluation", many, replace(settings, features=0)).about["notes"]
    assert any("vocabulary_size=0" in one for one in said)
    said = run_experiment("evaluation", fewer, replace(settings, features=1)).about["notes"]
    assert any("lack 1 of the 1 that" in one for one in said)


def test_subsets_and_small_classes_go_through_an_experiment(corpus: Dataset) -> None:
    outcome = np.array(corpus.outcome)
    outcome[:2] = "rare"
    data = replace(corpus, outcome=outcome)
    settings = ExperimentSettings(
        methods=("lasso_indicators", "knn_indicators"),
        folds=3,
        subsets=2,
        subset_size=30,
        least_class_size=3,
    )
    found = run_experiment("evaluation", data, settings)
    scores = found.tables["scores"]
    assert set(scores["subset"]) == {0, 1} and len(scores) == 12
    assert "rare" not in found.about["classes"]
    notes = " ".join(found.about["notes"])
    assert "2 rows of classes with fewer than 3 rows were left out: rare (2)" in notes
    assert "2 random subsets of 30 rows" in notes
    Experiment.from_json(found.to_json())


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (["a", "a", ""], "most often (2 of 3 times) a, in place of the usual ones"),
        (["", "", "a"], "most often (2 of 3 times) the usual ones"),
        (["a", "b", ""], "different ones each of 3 times"),
        (["a"], "most often (1 of 1 times) a, in place of the usual ones"),
    ],
)
def test_what_was_chosen_most_often_is_told_only_if_something_was(
    chosen: list[str], told: str
) -> None:
    assert _most_often(Counter(chosen)) == told
