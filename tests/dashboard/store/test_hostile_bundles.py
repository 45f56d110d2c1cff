"""A bundle that somebody changed and sealed anew is refused in words, or is harmless and marked."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.hostile_bundles import (
    Members,
    data_mutations,
    members,
    mutations,
    resealed,
    with_arrays,
    with_json,
    zipped,
)
from support.made_runs import computed
from support.tiny_store import tiny_dataset

from dashboard.jobs import jobs
from dashboard.store.cards import RunCard
from dashboard.store.request import EXPERIMENTS, Request
from dashboard.store.store import Store
from swiftcore.data.samples import load_sample, sample_folder
from swiftcore.errors import SwiftError
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import ModelSpec

SHARES = {
    "fit": 80,
    "projection": 30,
    "stability": 30,
    "noise": 25,
    "ablation": 20,
    "evaluation": 15,
}
SHARE_COLUMNS = ("score", "validation", "second", "mean", "recall", "precision", "level", "seeds")
WHOLE_COLUMNS = ("rank", "n", "count", "run", "draw", "repeat")


@dataclass(frozen=True)
class Stage:
    """A store with the data of all bundles and none of their runs, and the bundles."""

    store: Store
    bundles: dict[str, Members]


@pytest.fixture(scope="module")
def stage(fitted_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A fit and a projection of tiny data, and the experiments that come with a sample."""
    folder = tmp_path_factory.mktemp("stage")
    made = Store(shutil.copytree(fitted_root, folder / "made"))
    store = Store(folder / "store")
    fit = made.runs(kind="fit")[0]
    rows = made.add_dataset(tiny_dataset(rows=10, seed=3))
    projection = computed(made, Request("projection", rows, {}, fit.id))
    bundles = {"fit": members(made.export_run(fit.id))}
    bundles["projection"] = members(made.export_run(projection))
    for dataset in (made.dataset(fit.dataset), made.dataset(rows), load_sample("heart_failure")):
        store.add_dataset(dataset, synthetic=True)
    for kind in EXPERIMENTS:
        path = sample_folder("heart_failure") / "results" / f"{kind}.zip"
        bundles[kind] = members(path.read_bytes())
    return Stage(store, bundles)


def honest(stage: Stage, kind: str) -> Request:
    from dashboard.store.run_record import read_facts

    return read_facts(stage.bundles[kind]["run/run.json"])[0]


def taken(stage: Stage, files: Members, folder: Path) -> RunCard | None:
    """The card of a bundle that was taken in; None if it was refused in words."""
    before = sorted(path.name for path in (stage.store.root / "runs").iterdir())
    try:
        run_id = stage.store.import_run(zipped(resealed(files, folder)), "from elsewhere.zip")
    except SwiftError:  # and no other exception
        assert sorted(path.name for path in (stage.store.root / "runs").iterdir()) == before
        return None
    return stage.store.run(run_id)


def wrong(stage: Stage, card: RunCard) -> list[str]:
    """Everything about an accepted run that must not be."""
    store = stage.store
    found = [] if card.imported is not None else ["not marked"]
    answers = [kind for kind in SHARES if store.is_finished(honest(stage, kind).key())]
    found += [f"answers the request for a {kind}" for kind in answers]
    found += ["is found by its own request"] if store.is_finished(card.request.key()) else []
    found += [f"time {value}" for value in (card.created, card.ended) if not _is_time(value)]
    found += [] if 0 <= card.seconds < 1e9 else [f"{card.seconds} seconds"]
    if card.kind == "fit":
        return found + list(_fit_faults(store, card))
    if card.kind == "projection":
        return found + list(_projection_faults(store, card))
    return found + list(_experiment_faults(store.experiment(card.id)))


def _is_time(value: Any) -> bool:
    return isinstance(value, float) and 0 <= value < 5e9


def _fit_faults(store: Store, card: RunCard) -> Iterator[str]:
    ModelSpec.of(card.request.settings)
    fit, data = store.fit(card.id), store.dataset(card.dataset)
    if fit.modes != data.tensor.modes:
        yield "other labels than the data"
    if fit.rank != card.request.settings["rank"]:
        yield f"rank {fit.rank}"
    for factor in fit.factors:
        if not np.isfinite(factor).all() or (factor < 0).any() or not np.isfinite(factor.sum()):
            yield "a factor out of range"
    for factor in fit.factors[1:]:
        sums = factor.sum(axis=0)
        if not np.all((np.abs(sums - 1) < 1e-6) | (sums == 0)):
            yield "profiles that do not sum to 1"
    if fit.factors[0].max() > 1e12 * data.tensor.values.sum():
        yield "memberships beyond all data"
    lines = fit.history
    numbers = lines.drop(columns="accepted").to_numpy(float)
    if not np.isfinite(numbers).all() or (np.diff(lines["objective"]) > 1e-6).any():
        yield "a history that cannot be"
    if list(lines["iteration"]) != list(range(len(lines))) or (lines["seconds"] < 0).any():
        yield "iterations that cannot be"
    if not set(fit.dead) <= set(range(fit.rank)):
        yield "a dead component that is none"
    if fit.links is not None:
        yield from _experiment_faults(fit.links)
        if not set(fit.links.tables["links"]["phenotype"]) <= set(fit.identifiers):
            yield "a link of no phenotype"


def _projection_faults(store: Store, card: RunCard) -> Iterator[str]:
    found, rows = store.projection(card.id), store.dataset(card.dataset).tensor
    if found.row_labels != rows.modes[0].labels:
        yield "other rows than the data"
    for array in (found.memberships, found.values, *found.profiles):
        if not np.isfinite(array).all() or (array < 0).any() or not np.isfinite(array.sum()):
            yield "a number out of range"
    if len(found.values) + found.entries_left_out != rows.n_entries:
        yield "other entries than the data"
    if not set(found.empty_rows) <= set(range(len(found.row_labels))):
        yield "an empty row that is none"


def _experiment_faults(found: Experiment) -> Iterator[str]:
    for table in found.tables.values():
        for name, column in table.items():
            yield from _column_faults(str(name), column)
    for name, low, high in (("chance", 0, 1), ("found_from", 0, 1), ("seconds", 0, 1e9)):
        value = found.about.get(name, low)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            yield f"{name} {value!r}"
    texts = [*found.about.get("notes", []), *found.about.get("classes", [])]
    texts.append(str(found.about.get("metric_title", "")))
    if any(len(text) > 20_000 for text in texts) or "<img" in texts[-1]:
        yield "a text that cannot be"


def _column_faults(name: str, column: pd.Series[Any]) -> Iterator[str]:
    if not pd.api.types.is_numeric_dtype(column):
        if not all(isinstance(cell, str) and len(cell) <= 20_000 for cell in column):
            yield f"{name}: no text"
        return
    numbers = column.astype(float).dropna()
    if not np.isfinite(numbers).all() or (numbers.abs() > 1e15).any():
        yield f"{name}: beyond all numbers"
    if name in SHARE_COLUMNS and not numbers.between(0, 1).all():
        yield f"{name}: no share"
    if name in WHOLE_COLUMNS and not ((numbers >= 0) & (numbers % 1 == 0)).all():
        yield f"{name}: no count"


@pytest.mark.parametrize("kind", SHARES)
def test_resealed_bundles_are_refused_or_harmless_and_marked(
    stage: Stage, tmp_path: Path, kind: str
) -> None:
    rng = np.random.default_rng(14)
    files = stage.bundles[kind]
    other = stage.bundles["stability" if kind != "stability" else "noise"]
    refused, faults = 0, []
    for what, changed in islice(mutations(files, other, rng), SHARES[kind]):
        card = taken(stage, changed, tmp_path)
        refused += card is None
        faults += [f"{what}: {fault}" for fault in (wrong(stage, card) if card else ())]
        if card is not None:
            stage.store.delete_run(card.id)
    assert not faults, "\n".join(["", *faults])
    assert refused > SHARES[kind] / 2, f"{refused} of {SHARES[kind]} refused"


def test_there_are_two_hundred_of_them() -> None:
    assert sum(SHARES.values()) == 200


def test_resealed_data_are_refused_or_sound_and_count_as_real(
    fitted_root: Path, tmp_path: Path
) -> None:
    made = Store(fitted_root)
    files = members(made.export_run(made.runs(kind="fit")[0].id, with_data=True))
    faults = []
    for what, changed in islice(data_mutations(files, np.random.default_rng(14)), 30):
        store = Store(tmp_path / "into")
        sealed = resealed(resealed(changed, tmp_path), tmp_path, "dataset")
        try:
            run_id = store.import_run(zipped(sealed))
        except SwiftError:
            assert not store.datasets()
            continue
        card = store.run(run_id)
        data, (seen,) = store.dataset(card.dataset), store.datasets()
        texts = (data.name, data.origin, data.outcome_name, *data.tensor.modes[1].labels)
        sound = np.isfinite(data.tensor.values.sum()) and all(isinstance(t, str) for t in texts)
        if not sound or seen.synthetic or not seen.imported or [*_fit_faults(store, card)]:
            faults.append(what)
        store.delete_dataset(card.dataset)
    assert not faults, faults


def shuffled(arrays: dict[str, Any]) -> dict[str, Any]:
    arrays["about"]["modes"][1]["labels"].reverse()
    return arrays


def changed_setting(name: str, value: Any) -> Any:
    def change(plain: Any) -> Any:
        plain["request"]["settings"][name] = value
        return plain

    return change


NAMED = {  # the false results that were once taken for true ones, and their kin
    "shuffled labels": lambda files: with_arrays(files, "run/model.npz", shuffled),
    "rank -1": lambda files: with_json(files, "run/run.json", changed_setting("rank", -1)),
    "another rank": lambda files: with_json(files, "run/run.json", changed_setting("rank", 4)),
    "a tag as dtype": lambda files: with_json(
        files, "run/run.json", changed_setting("dtype", "<img src=x>")
    ),
    "another sharpness": lambda files: with_json(
        files, "run/run.json", changed_setting("sharpness", 77.0)
    ),
    "costs that are no numbers": lambda files: with_arrays(
        files, "run/model.npz", lambda arrays: {**arrays, "cost_1": np.full((8, 8), math.nan)}
    ),
    "factors of 1e308": lambda files: with_arrays(
        files, "run/model.npz", lambda arrays: {**arrays, "factor_0": np.full((30, 3), 1e308)}
    ),
    "deep nesting": lambda files: {**files, "run/links.json": b"[" * 200_000},
    "from the future": lambda files: with_json(
        files, "run/run.json", lambda plain: {**plain, "created": 4e9, "ended": 4e9}
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_false_results_are_refused(stage: Stage, tmp_path: Path, name: str) -> None:
    assert taken(stage, NAMED[name](stage.bundles["fit"]), tmp_path) is None


def test_asking_for_an_imported_fit_computes_it(stage: Stage, tmp_path: Path) -> None:
    card = taken(stage, stage.bundles["fit"], tmp_path)
    assert card is not None and not wrong(stage, card)
    request = honest(stage, "fit")
    assert "Already computed" not in jobs.estimate(stage.store, request).sentence
    own = computed(stage.store, request)
    assert own == request.key() != card.id
    assert stage.store.run(own).imported is None
