"""Whatever fails leaves a cell with its reason, and everything else goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.ends_itself import ends_itself
from support.evaluation_data import planted_patients

from swiftcore.data.dataset import Dataset
from swiftcore.errors import NotEnoughMemory, SwiftError, refuse
from swiftcore.evaluation.experiments import stability
from swiftcore.evaluation.experiments.checkpoints import (
    FAILED,
    KILLED,
    Task,
    compute_checkpoints,
)
from swiftcore.evaluation.experiments.result import Experiment, ExperimentProgress
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.methods import classifiers
from swiftcore.evaluation.protocol.folds import Fold, Labels, make_folds

CHEAP = ("lasso_indicators", "knn_indicators")
SMALL = ExperimentSettings(methods=CHEAP, ranks=(2,), folds=3)


def no_memory(*_: Any, **__: Any) -> Any:
    raise refuse("memory", "There is not enough memory", "x", "1 GB", "y", kind=NotEnoughMemory)


def raises(error: BaseException) -> Any:
    def broken(*_: Any, **__: Any) -> Any:
        raise error

    return broken


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError("cannot allocate 3 TB"), "MemoryError: cannot allocate"),
        (np.linalg.LinAlgError("Singular matrix"), "LinAlgError: Singular matrix"),
        (TypeError("a number was expected"), "TypeError: a number"),
        (RecursionError("too deep"), "RecursionError"),
        (OSError(28, "No space left on device"), "No space left"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_any_exception_leaves_a_cell_with_its_reason(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch, error: BaseException, reason: str
) -> None:
    monkeypatch.setitem(classifiers._MAKERS, "knn", raises(error))
    found = run_experiment("evaluation", patients, SMALL)
    scores = found.tables["scores"].set_index("method")["score"]
    assert scores["knn_indicators"].isna().all() and scores["lasso_indicators"].notna().all()
    failed = found.tables["failures"]
    assert len(failed) == 3 and all(reason in one for one in failed["reason"])
    assert set(failed["method"]) == {"knn_indicators"}
    assert "fold 2" in failed["what"][1]
    Experiment.from_json(found.to_json())


def test_a_press_of_ctrl_c_is_no_failure(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = "swiftcore.evaluation.experiments.trial.classify"
    monkeypatch.setattr(target, raises(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        run_experiment("evaluation", patients, SMALL)


def test_predictions_that_are_no_numbers_are_no_score(
    corpus: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest of several NaN would pass for the first class."""

    def of_nothing(_: Any, rows: Any, n_classes: int) -> Any:
        return np.full((rows.shape[0], n_classes), np.nan)

    target = "swiftcore.evaluation.methods.classifiers.class_probabilities"
    monkeypatch.setattr(target, of_nothing)
    with pytest.raises(SwiftError, match="not a finite number"):
        run_experiment("evaluation", corpus, replace(SMALL, methods=("knn_indicators",)))


def test_memberships_that_are_no_numbers_fail_by_themselves(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_nothing(self: Any, rows: Any, **_: Any) -> Any:
        return np.full((rows.shape[0], self.spec.rank), np.nan)

    monkeypatch.setattr("swiftcore.fitting.FittedModel.transform", of_nothing)
    settings = replace(SMALL, methods=("cp_als", "lasso_indicators"))
    found = run_experiment("evaluation", patients, settings)
    assert "memberships" in found.tables["failures"]["reason"][0]
    assert found.tables["scores"]["score"].notna().sum() == 3


def test_a_fold_without_a_class_is_said_and_the_other_folds_count(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Average precision without a case would be 0, which is no score; groups can cause that."""

    def one_sided(dataset: Dataset, labels: Labels, *_: Any) -> list[Fold]:
        first, *others = make_folds(dataset, labels, 3)
        well = first.test[labels.codes[first.test] == 0]
        return [replace(first, test=well), *others]

    monkeypatch.setattr("swiftcore.evaluation.experiments.cross_validation.make_folds", one_sided)
    found = run_experiment("evaluation", patients, SMALL)
    failed = found.tables["failures"]
    assert len(failed) == 2 and set(failed["method"]) == set(CHEAP)
    assert "one class only (test rows): found none of illness" in failed["reason"][0]
    assert list(found.tables["summary"]["n"]) == [2, 2]


def test_memory_refused_and_more_components_than_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    few, settings = planted_patients(30), replace(SMALL, methods=("cp_als", *CHEAP), ranks=(2, 31))
    found = run_experiment("evaluation", few, settings)
    assert found.tables["scores"]["score"].notna().all()
    monkeypatch.setattr("swiftcore.evaluation.experiments.trial.fit_dataset", no_memory)
    found = run_experiment("evaluation", few, settings)
    assert set(found.tables["failures"]["rank"]) == {2, 31}
    assert "not enough memory" in found.tables["failures"]["reason"][0]


def test_a_fit_that_fails_takes_no_other_fit_with_it(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = stability.fit_dataset

    def moody(data: Dataset, spec: Any, **more: Any) -> Any:
        if spec.seed == 1 or spec.method == "cp_apr":
            raise ValueError("not with this seed")
        return fit(data, spec, **more)

    monkeypatch.setattr(stability, "fit_dataset", moody)
    settings = replace(SMALL, methods=("cp_als", "cp_apr"), seeds=2)
    found = run_experiment("stability", patients, settings)
    assert set(found.tables["summary"]["method"]) == {"cp_als"}
    matches = found.tables["matches"]
    assert set(matches.loc[matches["against"] == "seed", "run"]) == {1}
    assert (found.tables["failures"]["method"] == "cp_apr").sum() == 6
    assert any("CP-ALS with 2 components failed 1 time" in one for one in found.about["notes"])
    Experiment.from_json(found.to_json())
    with pytest.raises(SwiftError, match="not with this seed"):
        run_experiment("stability", patients, replace(settings, methods=("cp_apr",)))


def test_noise_keeps_its_phenotypes_when_no_score_can_be_had(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = "swiftcore.evaluation.experiments.trial.classify"
    monkeypatch.setattr(target, raises(ValueError("no")))
    settings = replace(SMALL, methods=("lasso_indicators",), levels=(0.1,), draws=1)
    found = run_experiment("noise", patients, settings)
    assert len(found.tables["survival"]) == 2 and found.tables["scores"]["score"].isna().all()
    Experiment.from_json(found.to_json())


def test_a_killed_process_costs_its_own_part_only(tmp_path: Path) -> None:
    tasks = [Task(f"key{n}", f"part {n}", (n,)) for n in range(4)]
    seen: list[ExperimentProgress] = []
    found = compute_checkpoints(tasks, ends_itself, tmp_path, 2, seen.append)
    assert found == [{"value": 0}, {FAILED: KILLED}, {"value": 2}, {"value": 3}]
    assert sorted(at.done for at in seen) == [1, 2, 3, 4]
    assert [at.what for at in seen if at.failed] == ["part 1"]
    assert len(list(tmp_path.iterdir())) == 3  # what failed is tried again
