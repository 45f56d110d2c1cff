"""One task of a sweep: a range of columns of one mode, everything it reads and hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.transport.compiled.arguments import (
    DIVERGENCE,
    LOG_U,
    MASS,
    MOMENT,
    N_SUMS,
    Columns,
    Halfway,
    Model,
    Numerators,
    Patience,
    Scaling,
    Weights,
)
from swiftcore.transport.compiled.columns import finish_sweep, sweep_columns
from swiftcore.transport.compiled.immobile_mode import sweep_cells
from swiftcore.transport.compiled.log_domain import solve_logs
from swiftcore.transport.kernel import (
    BlockKernel,
    DenseKernel,
    IdentityKernel,
    Kernel,
    LogKernel,
)
from swiftcore.transport.problem import ColumnRange, TransportProblem, TransportSettings

# In logarithms a column is solved until its duality gap is this share of its mass, or at
# most this many Newton steps were taken: warm starts rarely need more than two.
NEWTON_TOLERANCE = 1e-5
NEWTON_STEPS = 30


@dataclass(eq=False)
class ModeState:
    """Where the sweeps of one mode stand; changed in place by ``sweep``."""

    log_scaling: NDArray[np.float64]
    scaling: NDArray[Any]
    shift: NDArray[np.float64]
    sums: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnTask:
    """What never changes about one task: its data, its slices and index ranges."""

    span: ColumnRange
    kind: type
    entries: slice
    columns: slice
    data: Columns
    kernel: NDArray[Any] | None
    own: slice
    others: tuple[slice, ...]
    shifts: NDArray[np.int64]
    work: float


@dataclass(frozen=True, eq=False)
class Output:
    """What one task hands back: its part of the new state, and of the numerators."""

    state: ModeState
    own_sum: NDArray[np.float64]
    other_sums: NDArray[np.float64]


@dataclass(frozen=True)
class Constants:
    """The numbers that all tasks of a sweep share."""

    settings: TransportSettings
    offset: float
    gather: bool
    tolerance: float


def make_task(problem: TransportProblem, span: ColumnRange) -> ColumnTask:
    """Slice out of a problem what one task needs, and say how much work it is."""
    part, kernel = problem.unfoldings[span.mode], problem.kernels[span.mode]
    first_rows = problem.first_rows
    low, high = 0, part.n_rows
    if isinstance(kernel, BlockKernel):
        low, high = (int(row) for row in kernel.starts[span.block : span.block + 2])
        kernel = kernel.blocks[span.block]
    entries = slice(int(part.starts[span.first]), int(part.starts[span.last]))
    columns = slice(span.first, span.last)
    places = part.column_places[columns] + first_rows[list(part.other_modes)]
    starts = part.starts[span.first : span.last + 1] - entries.start
    rows = part.rows[entries] - np.int32(low) if low else part.rows[entries]
    log_x = problem.log_values[span.mode][entries]
    others = tuple(slice(int(column.min()), int(column.max()) + 1) for column in places.T)
    widths = [rows.stop - rows.start for rows in others]
    begin = int(first_rows[span.mode])
    return ColumnTask(
        span=span,
        kind=type(kernel),
        entries=entries,
        columns=columns,
        data=Columns(starts, rows, places, log_x),
        kernel=_array_of(kernel),
        own=slice(begin + low, begin + high),
        others=others,
        shifts=np.cumsum([0, *widths[:-1]]) - [rows.start for rows in others],
        work=_work(kernel, high - low, len(places), len(log_x)),
    )


def _array_of(kernel: Kernel) -> NDArray[Any] | None:
    if isinstance(kernel, IdentityKernel):
        return None
    return kernel.matrix if isinstance(kernel, DenseKernel) else kernel.cost


def _work(kernel: Kernel, n_rows: int, n_columns: int, n_entries: int) -> float:
    """About how much a task takes, compared with others."""
    if isinstance(kernel, IdentityKernel):
        return 100.0 * n_entries
    per_entry = 2.0 if isinstance(kernel, DenseKernel) else 20.0
    return n_rows * (40.0 * n_columns + per_entry * n_entries)


def part_of(state: ModeState, task: ColumnTask) -> ModeState:
    """The task's part of the state, as it stands."""
    return ModeState(
        state.log_scaling[task.entries],
        state.scaling[task.entries],
        state.shift[task.columns],
        state.sums[task.columns],
    )


def run_task(
    task: ColumnTask, before: ModeState, stacked: NDArray[Any], constants: Constants
) -> Output:
    """One task: set up what it writes to and run the compiled loop of its kernel.

    What it is given is left alone: in another process it may be a read-only map of a file.
    """
    state = ModeState(
        before.log_scaling.copy(),
        before.scaling.copy(),
        before.shift.copy(),
        np.zeros((len(task.data.places), N_SUMS)),
    )
    model = Model(stacked, stacked[task.own])
    numerators = _numerators(task, stacked.shape[1], constants.gather)
    run = {IdentityKernel: _sweep_identity, LogKernel: _solve_logs, DenseKernel: _sweep_dense}
    run[task.kind](task, state, model, numerators, constants)
    return Output(state, numerators.own, numerators.others)


def _numerators(task: ColumnTask, rank: int, wanted: bool) -> Numerators:
    """Zeros to add to: the mode's own rows, and of the others those that the task reaches."""
    if not wanted:
        return Numerators(False, np.zeros((0, 0)), np.zeros((0, 0)), task.shifts)
    n_own = task.own.stop - task.own.start
    n_others = sum(rows.stop - rows.start for rows in task.others)
    return Numerators(True, np.zeros((n_own, rank)), np.zeros((n_others, rank)), task.shifts)


def _sweep_dense(
    task: ColumnTask,
    state: ModeState,
    model: Model,
    numerators: Numerators,
    constants: Constants,
) -> None:
    """One Sinkhorn sweep with the kernel itself."""
    relaxation, offset = constants.settings.relaxation, constants.offset
    scaling = Scaling(state.log_scaling, state.scaling, state.shift)
    half = Halfway(np.zeros(len(task.data.rows)), np.empty((len(task.data.places), 4)))
    sweep_columns(task.data, scaling, task.kernel, model, relaxation, offset, numerators, half)
    finish_sweep(task.data, half, relaxation, offset, scaling, state.sums)


def _solve_logs(
    task: ColumnTask,
    state: ModeState,
    model: Model,
    numerators: Numerators,
    constants: Constants,
) -> None:
    """Newton steps in logarithms, from the cost."""
    setting, h = constants.settings, state.log_scaling
    weights = Weights(setting.sharpness, setting.marginal_weight, constants.offset)
    patience = Patience(constants.tolerance, NEWTON_STEPS, not h.any())
    solve_logs(task.data, h, task.kernel, model, weights, patience, numerators, state.sums)


def _sweep_identity(
    task: ColumnTask,
    state: ModeState,
    model: Model,
    numerators: Numerators,
    constants: Constants,
) -> None:
    """The closed form where no mass moves; it leaves no gap."""
    setting, sums = constants.settings, state.sums
    cells = np.empty((len(task.data.places), 4))
    powers = identity_powers(setting.relaxation, constants.offset)
    sweep_cells(task.data, model, powers, numerators, cells)
    weight = setting.marginal_weight * setting.sharpness
    sums[:, MASS] = cells[:, 0]
    sums[:, LOG_U] = -weight * cells[:, 1]
    sums[:, MOMENT] = -weight * cells[:, 2]
    sums[:, DIVERGENCE] = cells[:, 2] - cells[:, 0] + cells[:, 3]


def identity_powers(relaxation: float, offset: float) -> tuple[float, float, float]:
    """Level and powers of the single-cell problem's closed form (see ``sweep_cells``)."""
    power = relaxation / (1.0 + relaxation)
    return offset * (2.0 * power - 1.0), power, 1.0 - power
