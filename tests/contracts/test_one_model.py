"""The model people see is the model that was judged: one spec, the same bits by every way in."""

from __future__ import annotations

import io
import json
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from support.tiny_store import tiny_dataset

from dashboard.jobs.compute import compute
from dashboard.jobs.progress_reporter import ProgressReporter
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.cli import main
from swiftcore.data.bundle import write_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.experiments.trial import Trial, _embed
from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for
from swiftcore.evaluation.protocol.folds import Fold, read_labels
from swiftcore.evaluation.protocol.preparation import prepare
from swiftcore.fitting import FittedModel
from swiftcore.model_file import ModelContents
from swiftcore.spec import ModelSpec

Array = NDArray[np.float64]
OWN = ("method", "rank", "seed", "costs")  # what a trial names by itself
SPECS: dict[str, dict[str, Any]] = {
    "usual": {},
    "presence in equal rows": {"entry_values": "presence", "row_mass": "equal"},
    "logarithms": {"entry_values": "log counts", "sharpness": 50.0, "marginal_weight": 10.0},
    "rare features": {"feature_weighting": "rarity", "sharpness": 2.0, "row_relation": "none"},
    "features of the outcome": {"feature_weighting": "outcome", "outcome_power": 2.0, "seed": 3},
    "all of it": {
        "feature_weighting": "rarity and outcome",
        "entry_values": "presence",
        "row_mass": "equal",
        "dtype": "float64",
    },
    "one minus identity": {"costs": "one-minus-identity", "start": "random", "n_restarts": 1},
    "random costs": {"costs": "random", "seed": 5, "momentum": 0.0, "value_unit": "mean"},
    "consensus": {"consensus": 3},
    "signed": {"method": "cp_als", "seed": 1},
    "Poisson": {"method": "cp_apr", "row_mass": "equal"},
    "supervised": {"method": "supervised_cp", "feature_weighting": "rarity"},
}
TRAIN, VALIDATION, TEST = np.split(np.random.default_rng(2).permutation(50), (30, 40))
FOLD = Fold(subset=0, repeat=0, number=0, train=TRAIN, validation=VALIDATION, test=TEST)
SPECS_BY_NAME = {
    name: spec_for(**{"method": "swift", "rank": 3, "max_iterations": 6, **changes})
    for name, changes in SPECS.items()
}


@cache
def whole() -> Dataset:
    """Rows with an outcome, counts above 1, and word counts by which rows are compared."""
    tiny = tiny_dataset(rows=50)
    assert tiny.tensor.values.max() > 1
    words = sparse.csr_array(np.random.default_rng(1).integers(0, 4, (50, 9)))
    return replace(tiny, word_counts=words, words=tuple("abcdefghi"))


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """The training rows of the fold as data of their own."""
    every = whole()
    assert every.outcome is not None and every.word_counts is not None
    return replace(
        every,
        tensor=every.tensor.select(0, FOLD.train),
        outcome=every.outcome[FOLD.train],
        word_counts=every.word_counts[FOLD.train],
    )


@pytest.fixture(scope="module")
def bundle(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data as a file, for the command line."""
    path = tmp_path_factory.mktemp("data") / "tiny.swift.npz"
    write_bundle(dataset, path)
    return path


def by_command(bundle: Path, spec: ModelSpec, folder: Path) -> list[Array]:
    """``swift fit --spec``: what its model file holds."""
    (folder / "spec.json").write_text(json.dumps(spec.to_json()))
    words = ["fit", str(bundle), "--spec", str(folder / "spec.json"), "--out", str(folder / "fit")]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        assert main(words) == 0, said.getvalue()
    fitted = FittedModel.load(folder / "fit" / "model.npz")
    assert fitted.spec == spec
    return fitted.factors


def by_worker(dataset: Dataset, spec: ModelSpec, folder: Path) -> list[Array]:
    """What the worker of the dashboard would publish."""
    store = Store(folder / "store")
    request = Request("fit", store.add_dataset(dataset), spec.plain())
    job = store.job(request.key())
    job.create(request, time.time(), 1)
    files = compute(store, request, ProgressReporter(job))
    return ModelContents.from_bytes(files["model.npz"], "model.npz").factors


@cache
def in_a_fold(name: str) -> list[Array]:
    """What a trial fits to the training rows of the fold."""
    spec, every = SPECS_BY_NAME[name], whole()
    prepared = prepare(every, read_labels(every), FOLD, recipe=spec.costs, seed=spec.seed)
    setting = {name: value for name, value in spec.plain().items() if name not in OWN}
    trial = Trial(
        *(spec.method, spec.rank, json.dumps(setting, sort_keys=True), 0, 0),
        recipe=spec.costs,
        seed=spec.seed,
    )
    _, trained = _embed(CATALOGUE[spec.method], prepared, trial)
    return list(trained[: every.tensor.n_modes])


@pytest.mark.parametrize("name", SPECS_BY_NAME)
def test_the_same_bits_by_every_way_in(
    name: str, dataset: Dataset, bundle: Path, tmp_path: Path
) -> None:
    spec = SPECS_BY_NAME[name]
    here = by_command(bundle, spec, tmp_path)
    assert [factor.shape for factor in here] == [(size, 3) for size in dataset.tensor.shape]
    for other in (by_worker(dataset, spec, tmp_path), in_a_fold(name)):
        for one, same in zip(here, other, strict=True):  # the first holds the memberships
            assert one.dtype == same.dtype and one.tobytes() == same.tobytes()


def test_the_specs_differ() -> None:
    """Else the contract would hold for settings that nobody reads."""
    found = {in_a_fold(name)[1].tobytes() for name in SPECS_BY_NAME}
    assert len(found) == len(SPECS_BY_NAME) >= 10
