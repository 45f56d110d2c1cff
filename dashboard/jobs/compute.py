"""The computations themselves, in the worker: estimators and the compiler are loaded here."""

from __future__ import annotations

import io
import json
import logging
import os
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray

from dashboard.jobs.need import ROWS_AT_ONCE, fits_at_once
from dashboard.jobs.progress_reporter import Cancelled, ProgressReporter
from dashboard.store.job_state import FIT_STATE
from dashboard.store.request import EXPERIMENTS, OF_A_FIT, Request
from dashboard.store.results import PROJECTION_FORMAT
from dashboard.store.store import Store
from dashboard.store.temporary import temporary_place
from swiftcore.data.dataset import Dataset
from swiftcore.errors import SwiftError, refuse
from swiftcore.evaluation.experiments.checkpoints import Stopped
from swiftcore.evaluation.experiments.result import ExperimentProgress
from swiftcore.evaluation.experiments.run import link_outcome, run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.progress import FitProgress
from swiftcore.spec import ModelSpec, key_values
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.tensor import Mode, SparseTensor

logger = logging.getLogger(__name__)
Files = dict[str, bytes]


def compute(store: Store, request: Request, reporter: ProgressReporter) -> Files:
    """The files of a result.

    Raises
    ------
    Cancelled
        When somebody asked to stop.
    SwiftError
        With what is wrong, where, and how to fix it.
    """
    reporter.phase("Reading the data")
    dataset = store.dataset(request.dataset)
    if request.kind == "fit":
        state = store.checkpoints(request.key()) / FIT_STATE
        return compute_fit(dataset, request.spec, reporter, state)
    if request.kind in EXPERIMENTS:
        return compute_experiment(store, dataset, request, reporter)
    return compute_projection(store, dataset, request.run, reporter)


def compute_fit(
    dataset: Dataset, spec: ModelSpec, reporter: ProgressReporter, state: Path
) -> Files:
    """Factors, and their link to the outcome; the state of the fit is kept until it is done."""
    notes = _FitNotes(reporter)
    checkpoint = FitCheckpoint(state, resumed=notes.resume)
    fitted = fit_dataset(dataset, spec, callback=notes, stage=reporter.phase, checkpoint=checkpoint)
    reporter.phase("Looking for links to the outcome")
    files = {"model.npz": fitted.contents().to_bytes()}
    try:
        links = link_outcome(fitted.memberships, dataset, spec.seed)
    except SwiftError as error:  # too few rows of a class: the fit is good all the same
        logger.warning("no links to the outcome: %s", error)
        return files
    return files if links is None else {**files, "links.json": links.to_json().encode()}


def compute_experiment(
    store: Store, dataset: Dataset, request: Request, reporter: ProgressReporter
) -> Files:
    """An experiment; finished parts stay in the store until the whole is done."""
    settings = dict(request.settings)
    if request.run:  # follow the phenotypes of that fit
        fit = key_values(store.run(request.run).request.settings)
        settings["seed"] = fit.pop("seed")
        settings["ranks"] = [fit.pop("rank")]
        settings["fit"] = fit
    if request.kind in OF_A_FIT:  # a page shows one number of phenotypes
        settings["ranks"] = settings["ranks"][:1]
    chosen = ExperimentSettings(**settings, jobs=fits_at_once(store, request, [os.getpid()]))
    reporter.phase("Computing the first part")
    notes = _ExperimentNotes(reporter)
    with temporary_place(store.temporary) as scratch:  # joblib shares large arrays through files
        scratch.mkdir(mode=0o700)
        try:
            with parallel_config(
                backend="loky", temp_folder=scratch, initializer=partial(leave_with, os.getpid())
            ):
                experiment = run_experiment(
                    request.kind,
                    dataset,
                    chosen,
                    progress=notes,
                    checkpoints=store.checkpoints(request.key()),
                )
        except Stopped:
            raise Cancelled from None
    return {"experiment.json": experiment.to_json().encode()}


def compute_projection(
    store: Store, dataset: Dataset, fit_id: str, reporter: ProgressReporter
) -> Files:
    """Memberships of new rows, each row by itself."""
    model = load_fit(store, fit_id)
    tensor, unknown, left_out = on_features(dataset.tensor, model.modes)
    rows, blocks = tensor.shape[0], []
    for first in range(0, rows, ROWS_AT_ONCE):
        block = range(first, min(rows, first + ROWS_AT_ONCE))
        share = {"done": first, "total": rows}
        if reporter.note("Describing rows", share):
            raise Cancelled
        blocks.append(_project(model, tensor, block))
    empty = np.setdiff1d(np.arange(rows), tensor.coordinates[:, 0])
    about = {
        "format": PROJECTION_FORMAT,
        "modes": [{"name": mode.name, "labels": mode.labels} for mode in tensor.modes],
        "unknown": unknown,
        "entries_left_out": left_out,
        "empty_rows": empty.tolist(),
    }
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "memberships": np.vstack(blocks),
        "coordinates": tensor.coordinates.astype(np.int32),
        "values": tensor.values,
        **{f"profile_{axis}": factor for axis, factor in enumerate(model.factors) if axis},
    }
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return {"projection.npz": out.getvalue()}


def on_features(
    tensor: SparseTensor, known: Sequence[Mode]
) -> tuple[SparseTensor, dict[str, list[str]], int]:
    """New rows in the features of a fit, by label: unknown ones left out, missing ones zero.

    Returns
    -------
    tensor, unknown labels by mode, number of entries left out
    """
    order = _mode_order(tensor.modes, known)
    kept = np.ones(tensor.n_entries, dtype=bool)
    places, unknown = [tensor.coordinates[:, 0]], {}
    for axis, mode in zip(order, known[1:], strict=True):
        index = {label: place for place, label in enumerate(mode.labels)}
        labels = tensor.modes[axis].labels
        place = np.array([index.get(label, -1) for label in labels])[tensor.coordinates[:, axis]]
        kept &= place >= 0
        places.append(place)
        missing = [label for label in labels if label not in index]
        if missing:
            unknown[mode.name] = missing
    if not kept.any():
        raise refuse(
            "projection-features",
            "The new rows share no feature with the fit",
            "the new data",
            f"{tensor.n_entries:,} entries, none with known features",
            "Use the same names for features as in the data of the fit.",
        )
    modes = (tensor.modes[0], *known[1:])
    coordinates = np.column_stack(places)[kept]
    mapped = SparseTensor.from_coordinates(coordinates, tensor.values[kept], modes=modes)
    return mapped, unknown, int((~kept).sum())


def load_fit(store: Store, run_id: str) -> FittedModel:
    """The model of a finished fit; raises UnknownRun or DamagedRun."""
    store.fit(run_id)  # checks the seal and says it in words
    return FittedModel.load(store.root / "runs" / run_id / "model.npz")


def leave_with(parent: int) -> None:
    """In a child of the worker: end soon after the worker does, however that happens."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _project(model: FittedModel, tensor: SparseTensor, rows: range) -> NDArray[np.float64]:
    block = tensor.select(0, rows)
    if block.n_entries == 0:
        return np.zeros((len(rows), model.spec.rank))
    return model.transform(block)


def _mode_order(modes: Sequence[Mode], known: Sequence[Mode]) -> list[int]:
    """Which mode of the new rows is which of the fit: by name if all agree, else by position."""
    if len(modes) != len(known):
        raise refuse(
            "projection-modes",
            "The new rows have another number of modes than the fit",
            "the new data",
            f"{len(modes)} modes, the fit has {len(known)}",
            "Load data of the same kind as those of the fit.",
        )
    mine, theirs = [mode.name for mode in modes[1:]], [mode.name for mode in known[1:]]
    if sorted(mine) == sorted(theirs) and len(set(mine)) == len(mine):
        return [1 + mine.index(name) for name in theirs]
    return list(range(1, len(modes)))


class _FitNotes:
    def __init__(self, reporter: ProgressReporter) -> None:
        self._reporter = reporter
        self._history: list[float] = []

    def resume(self, history: tuple[FitProgress, ...]) -> None:
        """Take over what the attempts before have noted."""
        self._history = [entry.objective for entry in history]

    def __call__(self, progress: FitProgress) -> bool:
        self._history.append(progress.objective)
        left = progress.max_iterations - progress.iteration
        stop = self._reporter.note(
            "Fitting",
            {
                "done": progress.iteration,
                "total": progress.max_iterations,
                "objective": progress.objective,
                "history": self._history,
                "seconds_left": left * progress.seconds / max(1, progress.iteration),
            },
        )
        if stop:
            raise Cancelled
        return False


class _ExperimentNotes:
    def __init__(self, reporter: ProgressReporter) -> None:
        self._reporter = reporter

    def __call__(self, progress: ExperimentProgress) -> bool:
        left = progress.seconds_left
        return self._reporter.note(
            progress.what,
            {
                "done": progress.done,
                "total": progress.total,
                "seconds_left": left if np.isfinite(left) else None,
            },
        )
