"""One sweep over all transport problems at once, and what the factor update needs of it.

A sweep is half done by the tasks (K v, u, K'u: see ``columns``) and half here (new log v).
The state of a mode is log v on the nonzeros and what is known of each column; plans and
marginals are never stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.parallel import Workers
from swiftcore.transport.columns import finish_sweep, solve_logs, sweep_cells, sweep_columns
from swiftcore.transport.kernel import DenseKernel, LogKernel, StillKernel
from swiftcore.transport.problem import Task, TransportProblem, TransportSettings

# In logarithms a column is solved until its duality gap is this share of its mass, or so many
# Newton steps were taken: warm starts rarely need more than two.
NEWTON_TOLERANCE = 1e-5
NEWTON_TURNS = 30
# Columns of ModeState.sums
MASS, LOG_U, TILT, GAP, MOMENT, DIVERGENCE = range(6)
N_SUMS = 6


@dataclass(eq=False)
class ModeState:
    """Where the sweeps of one mode stand; changed in place by ``sweep``."""

    log_scaling: NDArray[np.float64]
    scaling: NDArray[Any]
    shift: NDArray[np.float64]
    sums: NDArray[np.float64]


@dataclass(frozen=True)
class TransportValue:
    """The objective for given factors, split into the paper's parts, with its certainty.

    Attributes
    ----------
    transport : float
        <C, T> - E(T) / sharpness, summed over modes and columns (part P1).
    model_divergence, data_divergence : float
        KL(Delta || X^) and KL(Psi || X), not yet times the marginal weight (P2, P3).
    objective : float
        transport + marginal_weight (model_divergence + data_divergence): what the plans at
        hand cost.
    gap : float
        No plans whatever can cost less than ``objective - gap`` for these factors.
    """

    transport: float
    model_divergence: float
    data_divergence: float
    objective: float
    gap: float


def stack_factors(factors: Sequence[NDArray[np.float64]], dtype: str) -> NDArray[Any]:
    """All factors one below the other, in the number type of the blocks."""
    return np.ascontiguousarray(np.concatenate(factors), dtype=dtype)


def cold_state(problem: TransportProblem, like_paper: bool = False) -> list[ModeState]:
    """Log v before anything is known: v = 1, or the paper's start from u = 1 / I."""
    states = []
    for part, kernel, log_x in zip(
        problem.unfoldings, problem.kernels, problem.log_values, strict=True
    ):
        start = np.zeros(part.n_entries)
        if like_paper and not isinstance(kernel, StillKernel):
            log_ktu = _log_column_means(problem, part.mode)[part.rows] - problem.offset
            start = problem.settings.relaxation * (log_x - log_ktu)
        states.append(_state_of(start, part.starts, problem.settings.dtype))
    return states


def _state_of(log_scaling: NDArray[np.float64], starts: NDArray[np.int64], dtype: str) -> ModeState:
    shift = np.maximum.reduceat(log_scaling, starts[:-1])
    scaling = np.exp(log_scaling - np.repeat(shift, np.diff(starts))).astype(dtype)
    return ModeState(log_scaling, scaling, shift, np.zeros((len(shift), N_SUMS)))


def _log_column_means(problem: TransportProblem, mode: int) -> NDArray[np.float64]:
    kernel = problem.kernels[mode]
    if isinstance(kernel, DenseKernel):
        return np.asarray(np.log(kernel.matrix.mean(axis=1, dtype=np.float64)))
    assert isinstance(kernel, LogKernel)
    exponents = -problem.settings.sharpness * kernel.cost.astype(np.float64)
    top = exponents.max(axis=1)
    mean = np.exp(exponents - top[:, None]).mean(axis=1)
    return np.asarray(top + np.log(mean))


@dataclass(frozen=True, eq=False)
class _Share:
    """What never changes about one task: its slices and index ranges."""

    task: Task
    kind: type
    entries: slice
    columns: slice
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    places: NDArray[np.int64]
    log_x: NDArray[np.float64]
    kernel: NDArray[Any] | None
    own: slice
    others: tuple[slice, ...]
    work: float


@dataclass(frozen=True, eq=False)
class _Output:
    """What one task hands back: its part of the new state, and of the numerators."""

    state: ModeState
    own_sum: NDArray[np.float64]
    other_sums: NDArray[np.float64]


@dataclass(frozen=True)
class _Constants:
    """The numbers that all tasks of a sweep share."""

    settings: TransportSettings
    offset: float
    gather: bool
    deflate: bool
    tolerance: float


class Sweeper:
    """Runs sweeps of one problem with a team of workers.

    Keeps what every sweep reads, so that a sweep only deals out tasks and adds up what comes
    back, always in task order.
    """

    def __init__(self, problem: TransportProblem, workers: Workers) -> None:
        self.problem = problem
        self.workers = workers
        self._shares = [_share_of(problem, task) for task in problem.tasks]

    def sweep(
        self,
        states: Sequence[ModeState],
        stacked: NDArray[Any],
        *,
        gather: bool = True,
        moved: NDArray[Any] | None = None,
        deflate: bool = True,
        advance: bool = True,
        tolerance: float = NEWTON_TOLERANCE,
    ) -> list[NDArray[np.float64]] | None:
        """One sweep of every column; with ``gather`` also the factor update's numerators.

        Parameters
        ----------
        states : sequence of ModeState
            Warm starts; changed in place when ``advance``.
        stacked : ndarray
            The factors the transport is solved for, from ``stack_factors``.
        gather : bool
            Compute the numerators of the factor update.
        moved : ndarray, optional
            Factors to take the numerators at, when they differ from ``stacked``.
        deflate : bool
            Remove the slow direction after the sweep.
        advance : bool
            Move the states on; without, only the numerators are of interest.
        tolerance : float
            Relative gap to which columns too sharp for sweeps are solved.

        Returns
        -------
        list of ndarray or None
            Per mode n the matrix ``sum_i (Delta_i / X^) KR_n``, (mode size x rank).
        """
        constants = _Constants(
            self.problem.settings, self.problem.offset, gather, deflate, tolerance
        )
        inputs = [
            (
                share,
                _part_of(states[share.task.mode], share),
                stacked,
                moved,
                constants,
            )
            for share in self._shares
        ]
        outputs = self.workers.run(_run_share, inputs, [share.work for share in self._shares])
        if advance:
            self._advance(states, outputs)
        return self._add_up(outputs, stacked.shape[1]) if gather else None

    def _add_up(self, outputs: Sequence[_Output], rank: int) -> list[NDArray[np.float64]]:
        total = np.zeros((sum(self.problem.shape), rank))
        for share, output in zip(self._shares, outputs, strict=True):
            total[share.own] += output.own_sum
            done = 0
            for rows in share.others:
                width = rows.stop - rows.start
                total[rows] += output.other_sums[done : done + width]
                done += width
        return np.split(total, self.problem.first_rows[1:])

    def _advance(self, states: Sequence[ModeState], outputs: Sequence[_Output]) -> None:
        """Put the tasks' parts of the new state in place."""
        for share, output in zip(self._shares, outputs, strict=True):
            state = states[share.task.mode]
            state.log_scaling[share.entries] = output.state.log_scaling
            state.scaling[share.entries] = output.state.scaling
            state.shift[share.columns] = output.state.shift
            state.sums[share.columns] = output.state.sums

    def value(
        self, states: Sequence[ModeState], factors: Sequence[NDArray[np.float64]]
    ) -> TransportValue:
        """The objective of the plans of the last sweep and the factors it was run with."""
        setting, scale, n = self.problem.settings, self.problem.scale, self.problem.n_modes
        rho, lam = setting.sharpness, setting.marginal_weight
        model_mass = float(np.prod([factor.sum(axis=0) for factor in factors], axis=0).sum())
        total = sum(state.sums.sum(axis=0) for state in states)
        plans = n * lam * (model_mass + self.problem.mass) - (2 * lam + 1 / rho) * total[MASS]
        return TransportValue(
            transport=scale * float(total[LOG_U] + total[MOMENT] - total[MASS]) / rho,
            model_divergence=scale
            * float(n * model_mass - total[MASS] - total[LOG_U] / (lam * rho)),
            data_divergence=scale * float(total[DIVERGENCE]),
            objective=scale * float(plans + lam * total[TILT]),
            gap=scale * float(lam * total[GAP]),
        )


def _share_of(problem: TransportProblem, task: Task) -> _Share:
    part, kernel = problem.unfoldings[task.mode], problem.kernels[task.mode]
    first_rows = problem.first_rows
    entries = slice(int(part.starts[task.first]), int(part.starts[task.last]))
    columns = slice(task.first, task.last)
    places = part.column_places[columns] + first_rows[list(part.other_modes)]
    n_entries, n_columns = entries.stop - entries.start, task.last - task.first
    array: NDArray[Any] | None = None
    work = 100.0 * n_entries
    if isinstance(kernel, DenseKernel):
        array, work = kernel.matrix, part.n_rows * (40.0 * n_columns + 2.0 * n_entries)
    elif isinstance(kernel, LogKernel):
        array, work = kernel.cost, part.n_rows * (40.0 * n_columns + 20.0 * n_entries)
    return _Share(
        task=task,
        kind=type(kernel),
        entries=entries,
        columns=columns,
        starts=part.starts[task.first : task.last + 1] - entries.start,
        rows=part.rows[entries],
        places=places,
        log_x=problem.log_values[task.mode][entries],
        kernel=array,
        own=slice(int(first_rows[task.mode]), int(first_rows[task.mode]) + part.n_rows),
        others=tuple(slice(int(column.min()), int(column.max()) + 1) for column in places.T),
        work=work,
    )


def _part_of(state: ModeState, share: _Share) -> ModeState:
    """The share's part of the state, as it stands."""
    return ModeState(
        state.log_scaling[share.entries],
        state.scaling[share.entries],
        state.shift[share.columns],
        state.sums[share.columns],
    )


def _run_share(
    share: _Share,
    before: ModeState,
    stacked: NDArray[Any],
    moved: NDArray[Any] | None,
    constants: _Constants,
) -> _Output:
    """One task: set up what it writes to, run the compiled loop, finish whole columns.

    What it is given is left alone: in another process it may be a read-only map of a file.
    """
    state = ModeState(
        before.log_scaling.copy(), before.scaling.copy(), before.shift.copy(),
        np.zeros((len(share.places), N_SUMS)),
    )  # fmt: skip
    setting, offset, gather = constants.settings, constants.offset, constants.gather
    rank, own = stacked.shape[1], stacked[share.own]
    now = stacked if moved is None else moved
    widths = [rows.stop - rows.start for rows in share.others]
    shifts = np.concatenate(([0], np.cumsum(widths)[:-1])) - [r.start for r in share.others]
    own_sum = np.zeros((len(own), rank) if gather else (0, 0))
    other_sums = np.zeros((sum(widths), rank) if gather else (0, 0))
    where = (share.starts, share.rows, share.places)
    results = (own_sum, other_sums, shifts)
    models = (stacked, own, now, now[share.own])
    column_sums = np.empty((len(share.places), 4))
    if share.kind is StillKernel:
        powers = still_powers(setting.relaxation, offset)
        sweep_cells(*where, share.log_x, stacked, own, powers, gather, *results, column_sums)
        _note_still(state.sums, column_sums, setting)
    elif share.kind is LogKernel:
        numbers = (setting.sharpness, setting.marginal_weight, offset)
        cold = not state.log_scaling.any()
        solve_logs(*where, share.log_x, state.log_scaling, share.kernel, numbers,
                   constants.tolerance, NEWTON_TURNS, cold, *models, gather, moved is None,
                   *results, state.sums)  # fmt: skip
    else:
        ktu = np.zeros(len(share.rows))
        sweep_columns(*where, state.scaling, state.shift, share.kernel, *models,
                      setting.relaxation, offset, gather, moved is None, *results,
                      ktu, column_sums)  # fmt: skip
        _finish(share, state, ktu, column_sums, constants)
    return _Output(state, own_sum, other_sums)


def _finish(
    share: _Share,
    state: ModeState,
    ktu: NDArray[Any],
    column_sums: NDArray[np.float64],
    constants: _Constants,
) -> None:
    """The second half of a sweep, in place, from K'u and (kappa, mass, <log u, Delta>)."""
    state.sums[:, MASS] = column_sums[:, 1]
    state.sums[:, LOG_U] = column_sums[:, 2]
    finish_sweep(
        share.starts, share.log_x, ktu, np.ascontiguousarray(column_sums[:, 0]),
        constants.settings.relaxation, constants.offset, constants.deflate,
        state.log_scaling, state.scaling, state.shift, state.sums[:, TILT:],
    )  # fmt: skip


def still_powers(relaxation: float, offset: float) -> tuple[float, float, float]:
    """Level and powers of the single-cell problem's closed form (see ``sweep_cells``)."""
    power = relaxation / (1.0 + relaxation)
    return offset * (2.0 * power - 1.0), power, 1.0 - power


def _note_still(
    sums: NDArray[np.float64], cells: NDArray[np.float64], settings: TransportSettings
) -> None:
    """Column sums of a mode in which nothing moves; its closed form leaves no gap."""
    weight = settings.marginal_weight * settings.sharpness
    sums[:, MASS] = cells[:, 0]
    sums[:, LOG_U] = -weight * cells[:, 1]
    sums[:, MOMENT] = -weight * cells[:, 2]
    sums[:, DIVERGENCE] = cells[:, 2] - cells[:, 0] + cells[:, 3]
