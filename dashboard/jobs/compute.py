"""The computations themselves, in the worker: estimators and the compiler are loaded here."""

from __future__ import annotations

import io
import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from joblib import parallel_config

from dashboard.jobs.need import fits_at_once
from dashboard.jobs.progress_reporter import Cancelled, ProgressReporter
from dashboard.store.job_state import FIT_STATE
from dashboard.store.refit_request import refit_request
from dashboard.store.request import EXPERIMENTS, OF_A_FIT, Request
from dashboard.store.results import LAST_STATE, PROJECTION_FORMAT
from dashboard.store.store import Store
from dashboard.store.temporary import temporary_place
from swiftcore.cluster.independent_parts import experiments_on
from swiftcore.cluster_fit import fit_on_cluster
from swiftcore.consensus_fits import FitsStopped
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, SwiftError, refuse
from swiftcore.evaluation.experiments.checkpoints import Stopped
from swiftcore.evaluation.experiments.result import ExperimentProgress
from swiftcore.evaluation.experiments.run import link_outcome, run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.evaluation.experiments.tuning.tune import tune
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.progress import FitOutcome, FitProgress, FitsProgress
from swiftcore.projection import on_features, project_rows
from swiftcore.refitting import refit
from swiftcore.swift.checkpoint import FitCheckpoint, row_folders

logger = logging.getLogger(__name__)
Files = dict[str, bytes]
FITS_COMPARED = "Making the fits to compare"


def compute(store: Store, request: Request, reporter: ProgressReporter, cluster: str = "") -> Files:
    """The files of a result.

    Parameters
    ----------
    cluster : str
        Name of a configured cluster that computes it; empty: this process. New rows and refits
        are always computed here.

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
        parent = _parent(store, request) if request.guidance else None
        return compute_fit(store, dataset, request, reporter, parent, cluster)
    if request.kind in EXPERIMENTS:
        return compute_experiment(store, dataset, request, reporter, cluster)
    if request.kind == "tune":
        return compute_choice(store, dataset, request, reporter, cluster)
    return compute_projection(store, dataset, request.run, reporter)


def compute_fit(
    store: Store,
    dataset: Dataset,
    request: Request,
    reporter: ProgressReporter,
    parent: FittedModel | None,
    cluster: str = "",
) -> Files:
    """A fit, or a refit of its parent; the state of it is kept until it is done."""
    notes = _FitNotes(reporter)
    state = store.checkpoints(request.key()) / FIT_STATE
    checkpoint = FitCheckpoint(state, resumed=notes.resume)
    kept: dict[str, Any] = {"callback": notes, "stage": reporter.phase, "checkpoint": checkpoint}
    try:
        if parent is not None:
            fitted = refit(dataset, parent, request.guidance, **kept)
        elif cluster:
            kept["fits_callback"] = notes.compared
            fitted = fit_on_cluster(dataset, request.spec, cluster, **kept).model
        else:
            fitted = fit_dataset(dataset, request.spec, fits_callback=notes.compared, **kept)
    except FitsStopped:
        raise Cancelled from None
    reporter.phase("Looking for links to the outcome")
    files = fit_files(fitted, dataset)
    whole = not row_folders(state)  # of rows in parts the file is not all
    if fitted.outcome is FitOutcome.ITERATION_LIMIT and state.is_file() and whole:
        files[LAST_STATE] = state.read_bytes()
    return files


def fit_files(fitted: FittedModel, dataset: Dataset) -> Files:
    """Factors, and their link to the outcome, as they are stored."""
    files = {"model.npz": fitted.contents().to_bytes()}
    try:
        links = link_outcome(fitted.memberships, dataset, fitted.spec.seed)
    except SwiftError as error:  # too few rows of a class: the fit is good all the same
        logger.warning("no links to the outcome: %s", error)
        return files
    return files if links is None else {**files, "links.json": links.to_json().encode()}


def compute_experiment(
    store: Store, dataset: Dataset, request: Request, reporter: ProgressReporter, cluster: str = ""
) -> Files:
    """An experiment; finished parts stay in the store until the whole is done."""
    settings = dict(request.settings)
    if request.run:  # judge the spec of that fit, follow its phenotypes
        spec = store.run(request.run).request.spec
        settings["fit"] = spec.plain()
        settings["ranks"] = sorted({spec.rank, *settings["ranks"]})
    if request.kind in OF_A_FIT:  # a page shows one number of phenotypes
        settings["ranks"] = [spec.rank] if request.run else settings["ranks"][:1]
    chosen = ExperimentSettings(**settings, jobs=fits_at_once(store, request, [os.getpid()]))
    reporter.phase("Computing the first part")
    notes = _ExperimentNotes(reporter)
    with side_by_side(store, cluster):
        experiment = run_experiment(
            request.kind,
            dataset,
            chosen,
            progress=notes,
            checkpoints=store.checkpoints(request.key()),
        )
    return {"experiment.json": experiment.to_json().encode()}


def compute_choice(
    store: Store, dataset: Dataset, request: Request, reporter: ProgressReporter, cluster: str = ""
) -> Files:
    """The settings of a model within a time; finished fits stay until the whole is done."""
    settings = TuneSettings(**request.settings, jobs=fits_at_once(store, request, [os.getpid()]))
    reporter.phase("Trying the usual settings")
    notes, parts = _ExperimentNotes(reporter), store.checkpoints(request.key())
    with side_by_side(store, cluster):
        found = tune(dataset, settings, progress=notes, checkpoints=parts)
    return {"experiment.json": found.to_json().encode()}


@contextmanager
def side_by_side(store: Store, cluster: str = "") -> Iterator[None]:
    """Within it, parts of an experiment run on a cluster, or in processes that end with us."""
    try:
        if cluster:
            with experiments_on(cluster):
                yield
            return
        # joblib shares large arrays through files
        with temporary_place(store.temporary) as scratch:
            scratch.mkdir(mode=0o700)
            with parallel_config(
                backend="loky", temp_folder=scratch, initializer=partial(leave_with, os.getpid())
            ):
                yield
    except Stopped:
        raise Cancelled from None


def compute_projection(
    store: Store, dataset: Dataset, fit_id: str, reporter: ProgressReporter
) -> Files:
    """Memberships of new rows, each row by itself."""
    model = load_fit(store, fit_id)
    known = on_features(dataset.tensor, model.modes)

    def note(done: int, total: int) -> None:
        if reporter.note("Describing rows", {"done": done, "total": total}):
            raise Cancelled

    memberships = project_rows(model, known.tensor, note)
    about = {
        "format": PROJECTION_FORMAT,
        "signed": factorization(model.spec.method).signed,
        "modes": [{"name": mode.name, "labels": mode.labels} for mode in known.tensor.modes],
        "unknown": known.unknown,
        "entries_left_out": known.left_out,
        "empty_rows": known.empty,
    }
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        "memberships": memberships,
        "coordinates": known.tensor.coordinates.astype(np.int32),
        "values": known.tensor.values,
        **{f"profile_{axis}": factor for axis, factor in enumerate(model.factors) if axis},
    }
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return {"projection.npz": out.getvalue()}


def _parent(store: Store, request: Request) -> FittedModel:
    """The fit that a refit begins as; raises UnknownRun, DamagedRun or InvalidSettings."""
    model = load_fit(store, request.run)
    wanted = refit_request(store.run(request.run), model.modes, model.factors, request.guidance)
    if wanted != request:
        raise refuse(
            "refit-request",
            "The request does not go with the fit it names",
            f"run {request.run[:8]}",
            "other settings, or changes in other words",
            "Ask for it again on the page of that fit.",
            kind=InvalidSettings,
        )
    return model


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


class _FitNotes:
    def __init__(self, reporter: ProgressReporter) -> None:
        self._reporter = reporter
        self._history: list[float] = []

    def resume(self, history: tuple[FitProgress, ...]) -> None:
        """Take over what the attempts before have noted."""
        self._history = [entry.objective for entry in history]

    def __call__(self, progress: FitProgress) -> bool:
        self._history.append(progress.objective)
        stop = self._reporter.note(
            "Fitting",
            {
                "done": progress.iteration,
                "total": progress.expected,
                "objective": progress.objective,
                "history": self._history,
                "seconds_left": progress.seconds_left,
            },
        )
        if stop:
            raise Cancelled
        return False

    def compared(self, progress: FitsProgress) -> bool:
        """While the fits of a consensus run."""
        stands = {
            "done": progress.done,
            "total": progress.total,
            "seconds_left": progress.seconds_left,
        }
        return self._reporter.note(FITS_COMPARED, stands)


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
