"""A fit of rows that come in parts: within a memory budget, here or over a cluster.

The result is that of :func:`swiftcore.fitting.fit_dataset` on the whole data, to the bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.reader import ShardedDataset
from swiftcore.evaluation.methods.factorizations import make_model
from swiftcore.fitting import FittedModel, Stage
from swiftcore.model_file import ModelContents
from swiftcore.phenotypes.identifiers import dead_components
from swiftcore.progress import ProgressCallback
from swiftcore.row_parts import Prepared, RowsInBlocks, prepare_parts
from swiftcore.runtime.memory import usable_memory
from swiftcore.runtime.workers import Workers
from swiftcore.spec import ModelSpec
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.factor_update import share_of
from swiftcore.swift.loop import FitResult, Schedule
from swiftcore.swift.parts.engine import PartsEngine, Team
from swiftcore.swift.parts.local_team import LocalTeam
from swiftcore.swift.parts.parts_file import PartsFile, parts_key
from swiftcore.swift.parts.search import find_factors_of_parts, find_start
from swiftcore.swift.search import Plan
from swiftcore.transport.problem import times_scale

KEPT_BACK = 0.8  # share of a budget that is planned with; the rest is what allocators leave unused
MakeTeam = Callable[[Prepared, Path, float], Team]
"""Parts, a folder for their states and the bytes left go in; who holds them comes out."""


@dataclass(frozen=True)
class Means:
    """What a fit of parts may use.

    Attributes
    ----------
    memory : int or None
        Bytes that this process may take at its peak; None: what can be had.
    n_jobs : int or None
        Threads; None takes all cores.
    work : Path or None
        Where files that are gone afterwards lie; None: where the system keeps such files.
    """

    memory: int | None = None
    n_jobs: int | None = None
    work: Path | None = None


def fit_in_parts(
    data: Dataset | ShardedDataset,
    spec: ModelSpec,
    means: Means | None = None,
    *,
    callback: ProgressCallback | None = None,
    stage: Stage | None = None,
    checkpoint: FitCheckpoint | None = None,
    make_team: MakeTeam | None = None,
) -> FittedModel:
    """Factorize all rows of a data set, of which only some are in memory at a time.

    Parameters
    ----------
    data : Dataset or ShardedDataset
    spec : ModelSpec
        One for which ``swiftcore.row_parts.why_whole`` has no objection.
    means : Means
    callback, stage, checkpoint
        As in :func:`swiftcore.fitting.fit_dataset`.
    make_team : callable, optional
        Who is to hold the parts, if not this process.
    """
    means, say = means or Means(), stage or (lambda words: None)
    make_model(spec, means.n_jobs)  # refuses what is wrong before anything is built
    rows = RowsInBlocks(data)
    with (
        tempfile.TemporaryDirectory(prefix="swift-parts-", dir=means.work) as name,
        Workers(means.n_jobs) as workers,
    ):
        folder = Path(name)
        say("Comparing features")
        prepared = prepare_parts(rows, spec, folder, room_left(means))
        say("Finding a start")
        threads = workers.n_jobs

        def local(ready: Prepared, states: Path, room: float) -> Team:
            return LocalTeam(
                ready.parts, ready.shared, spec.rank, threads=threads, room=room, folder=states
            )

        team = (make_team or local)(prepared, folder, room_left(means))
        engine = PartsEngine(team, prepared.shared)
        result = _search(engine, prepared, spec, means, callback, checkpoint)
        return _fitted(engine, prepared, rows, spec, result, means)


def room_left(means: Means) -> float:
    """Bytes that may still be taken."""
    if means.memory is None:
        return usable_memory()
    return KEPT_BACK * means.memory - float(psutil.Process().memory_info().rss)


def _search(
    engine: PartsEngine,
    prepared: Prepared,
    spec: ModelSpec,
    means: Means,
    callback: ProgressCallback | None,
    checkpoint: FitCheckpoint | None,
) -> FitResult:
    schedule = Schedule(spec.max_iterations, float(spec.tolerance), float(spec.momentum))
    plan = Plan(spec.rank, spec.start, spec.n_restarts, spec.seed, schedule)
    file = None
    if checkpoint is not None:
        file = PartsFile(checkpoint, parts_key(prepared.parts, prepared.shared, spec.plain()))

    def start() -> tuple[list[NDArray[np.float64]], bool]:
        return find_start(prepared.parts, prepared.shared, plan, means.n_jobs)

    return find_factors_of_parts(engine, plan, start, callback, file)


def _fitted(
    engine: PartsEngine,
    prepared: Prepared,
    rows: RowsInBlocks,
    spec: ModelSpec,
    result: FitResult,
    means: Means,
) -> FittedModel:
    """The model, with memberships in the order and the units of the data."""
    scale, order = prepared.shared.scale, prepared.order
    memberships = np.empty((rows.shape[0], spec.rank))
    weights, done = np.zeros(spec.rank), 0
    for part in engine.memberships(result.factors):
        weights += part.sum(axis=0)
        memberships[order[done : done + len(part)]] = times_scale(part, scale)
        done += len(part)
    model = make_model(spec, means.n_jobs)
    features = [share_of(factor, factor.sum(axis=0)) for factor in result.factors[1:]]
    contents = ModelContents(
        spec,
        model.get_params(),
        rows.modes(),
        [memberships, *features],
        result.outcome,
        result.history,
        dead_components(weights),
        float(spec.value_unit),
        False,
        prepared.feature_costs,
        vars(prepared.weighting),
        row_relation="neighbourhoods",
    )
    contents.restore(model)
    return FittedModel(spec, model, prepared.weighting)
