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
from swiftcore.transport.columns import finish_sweep, solve_logs, sweep_cells, sweep_tile
from swiftcore.transport.kernel import LogKernel, StillKernel, TiledKernel
from swiftcore.transport.problem import Task, TransportProblem, TransportSettings

# In logarithms a column is solved until its duality gap is this share of its mass, or so many
# Newton steps were taken: warm starts rarely need more than two.
NEWTON_TOLERANCE = 1e-5
NEWTON_TURNS = 30
# Columns of ModeState.sums
MASS, LOG_U, TILT, GAP, MOMENT, DIVERGENCE = range(6)


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
    return ModeState(log_scaling, scaling, shift, np.zeros((len(shift), 6)))


def _log_column_means(problem: TransportProblem, mode: int) -> NDArray[np.float64]:
    kernel = problem.kernels[mode]
    if isinstance(kernel, TiledKernel):
        total = sum(tile.sum(axis=1, dtype=np.float64) for tile in kernel.tiles)
        return np.asarray(np.log(total) - np.log(problem.shape[mode]))
    assert isinstance(kernel, LogKernel)
    exponents = -problem.settings.sharpness * kernel.cost.astype(np.float64)
    top = exponents.max(axis=1)
    mean = np.exp(exponents - top[:, None]).mean(axis=1)
    return np.asarray(top + np.log(mean))


@dataclass(frozen=True, eq=False)
class _Share:
    """What never changes about one task: its slices and index ranges."""

    task: Task
    entries: slice
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    places: NDArray[np.int64]
    kind: type
    kernel: NDArray[Any] | None
    own: slice
    others: tuple[slice, ...]
    work: float


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
        moved : ndarray, optional
            Factors to take the numerators at, when they differ from ``stacked``.

        Returns
        -------
        list of ndarray or None
            Per mode n the matrix ``sum_i (Delta_i / X^) KR_n``, (mode size x rank).
        """
        setting = self.problem.settings
        inputs = [
            (share, self._scalings(share, states), stacked, moved, gather,
             (setting, self.problem.offset, tolerance))
            for share in self._shares
        ]  # fmt: skip
        outputs = self.workers.run(_run_share, inputs, [share.work for share in self._shares])
        if advance:
            self._advance(states, outputs, deflate)
        return self._add_up(outputs, stacked.shape[1]) if gather else None

    def _scalings(self, share: _Share, states: Sequence[ModeState]) -> tuple[NDArray[Any], ...]:
        """The part of the state the share reads: v and its shift, log v, or the data."""
        state, kernel = states[share.task.mode], self.problem.kernels[share.task.mode]
        log_x = self.problem.log_values[share.task.mode][share.entries]
        if isinstance(kernel, TiledKernel):
            return state.scaling[share.entries], state.shift[share.task.first : share.task.last]
        if isinstance(kernel, LogKernel):
            return log_x, state.log_scaling[share.entries].copy()
        return (log_x,)

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

    def _advance(
        self, states: Sequence[ModeState], outputs: Sequence[_Output], deflate: bool
    ) -> None:
        """The second half of the sweep, tile sums first."""
        groups: dict[tuple[int, int], list[int]] = {}
        for index, share in enumerate(self._shares):
            groups.setdefault((share.task.mode, share.task.first), []).append(index)
        for (mode, _), members in groups.items():
            share, parts = self._shares[members[0]], [outputs[index] for index in members]
            columns = slice(share.task.first, share.task.last)
            state, kernel = states[mode], self.problem.kernels[mode]
            sums = state.sums[columns]
            if isinstance(kernel, StillKernel):
                _note_still(sums, parts[0].column_sums, self.problem)
                continue
            if isinstance(kernel, LogKernel):
                sums[:] = parts[0].column_sums
                state.log_scaling[share.entries] = parts[0].ktu
                continue
            for part in parts[1:]:
                parts[0].column_sums[:, 1:] += part.column_sums[:, 1:]
            sums[:, MASS] = parts[0].column_sums[:, 1]
            sums[:, LOG_U] = parts[0].column_sums[:, 2]
            finish_sweep(
                share.starts, self.problem.log_values[mode][share.entries],
                self._log_ktu(share, parts), self.problem.settings.relaxation, deflate,
                state.log_scaling[share.entries], state.scaling[share.entries],
                state.shift[columns], sums[:, TILT:],
            )  # fmt: skip

    def _log_ktu(self, share: _Share, parts: Sequence[_Output]) -> NDArray[np.float64]:
        total = parts[0].ktu.astype(np.float64)
        for part in parts[1:]:
            total += part.ktu
        kappa = np.repeat(parts[0].column_sums[:, 0], np.diff(share.starts))
        with np.errstate(divide="ignore"):  # -inf marks a column the model cannot reach
            log_total = np.log(total)
        return log_total + (self.problem.settings.relaxation * kappa - self.problem.offset)

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


@dataclass(frozen=True, eq=False)
class _Output:
    """What one task hands back."""

    ktu: NDArray[Any]
    column_sums: NDArray[np.float64]
    own_sum: NDArray[np.float64]
    other_sums: NDArray[np.float64]


def _share_of(problem: TransportProblem, task: Task) -> _Share:
    part, kernel = problem.unfoldings[task.mode], problem.kernels[task.mode]
    first_rows = problem.first_rows
    entries = slice(int(part.starts[task.first]), int(part.starts[task.last]))
    places = part.column_places[task.first : task.last] + first_rows[list(part.other_modes)]
    low, high = 0, part.n_rows
    array: NDArray[Any] | None = None
    n_entries, n_columns = entries.stop - entries.start, task.last - task.first
    if isinstance(kernel, TiledKernel):
        low, high = kernel.bounds[task.tile], kernel.bounds[task.tile + 1]
        array = kernel.tiles[task.tile]
        work = (high - low) * (40.0 * n_columns + 2.0 * n_entries)
    elif isinstance(kernel, LogKernel):
        array = kernel.cost
        work = (high - low) * (40.0 * n_columns + 20.0 * n_entries)
    else:
        work = 100.0 * n_entries
    return _Share(
        task=task,
        entries=entries,
        starts=part.starts[task.first : task.last + 1] - entries.start,
        rows=part.rows[entries],
        places=places,
        kind=type(kernel),
        kernel=array,
        own=slice(int(first_rows[task.mode] + low), int(first_rows[task.mode] + high)),
        others=tuple(slice(int(column.min()), int(column.max()) + 1) for column in places.T),
        work=work,
    )


def _run_share(
    share: _Share,
    scalings: tuple[NDArray[Any], ...],
    stacked: NDArray[Any],
    moved: NDArray[Any] | None,
    gather: bool,
    constants: tuple[TransportSettings, float, float],
) -> _Output:
    """One task's half sweep: set up what it writes to, then the compiled loop."""
    setting, offset, tolerance = constants
    rank, own = stacked.shape[1], stacked[share.own]
    now = stacked if moved is None else moved
    widths = [rows.stop - rows.start for rows in share.others]
    shifts = np.r_[0, np.cumsum(widths)[:-1]] - [rows.start for rows in share.others]
    n_columns, n_entries = len(share.places), len(share.rows)
    own_sum = np.zeros((len(own), rank) if gather else (0, 0))
    other_sums = np.zeros((sum(widths), rank) if gather else (0, 0))
    where = (share.starts, share.rows, share.places)
    sums = (own_sum, other_sums, shifts)
    models = (stacked, own, now, now[share.own])
    if share.kind is StillKernel:
        ktu, column_sums = np.empty(0), np.empty((n_columns, 4))
        powers = still_powers(setting.relaxation, offset)
        sweep_cells(*where, *scalings, stacked, own, powers, gather, *sums, column_sums)
    elif share.kind is LogKernel:
        ktu, column_sums = scalings[1], np.empty((n_columns, 6))
        numbers = (setting.sharpness, setting.marginal_weight, offset)
        cold = not scalings[1].any()
        solve_logs(*where, *scalings, share.kernel, numbers, tolerance, NEWTON_TURNS, cold,
                   *models, gather, moved is None, *sums, column_sums)  # fmt: skip
    else:
        ktu, column_sums = np.empty(n_entries, dtype=stacked.dtype), np.empty((n_columns, 3))
        sweep_tile(*where, *scalings, share.kernel, *models, setting.relaxation, offset,
                   gather, moved is None, *sums, ktu, column_sums)  # fmt: skip
    return _Output(ktu, column_sums, own_sum, other_sums)


def still_powers(relaxation: float, offset: float) -> tuple[float, float, float]:
    """Level and powers of the single-cell problem's closed form (see ``sweep_cells``)."""
    power = relaxation / (1.0 + relaxation)
    return offset * (2.0 * power - 1.0), power, 1.0 - power


def _note_still(
    sums: NDArray[np.float64], cells: NDArray[np.float64], problem: TransportProblem
) -> None:
    """Column sums of a mode in which nothing moves; its closed form leaves no gap."""
    weight = problem.settings.marginal_weight * problem.settings.sharpness
    sums[:, MASS] = cells[:, 0]
    sums[:, LOG_U] = -weight * cells[:, 1]
    sums[:, MOMENT] = -weight * cells[:, 2]
    sums[:, DIVERGENCE] = cells[:, 2] - cells[:, 0] + cells[:, 3]
