"""One sweep over all transport problems at once, and what the factor update needs of it.

The tasks (see ``column_task``) do the work; here it is dealt out and put together. The state of a
mode is log v on the nonzeros and what is known of each column; plans and marginals are never
stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.runtime.workers import Workers
from swiftcore.transport.column_task import (
    NEWTON_TOLERANCE,
    ColumnTask,
    Constants,
    ModeState,
    Output,
    make_task,
    part_of,
    run_task,
)
from swiftcore.transport.compiled.arguments import (
    DIVERGENCE,
    GAP,
    LOG_U,
    MASS,
    MOMENT,
    N_SUMS,
    TILT,
)
from swiftcore.transport.problem import TransportProblem, TransportSettings


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


def cold_state(problem: TransportProblem) -> list[ModeState]:
    """Log v before anything is known: v = 1."""
    dtype = problem.settings.dtype
    return [
        ModeState(
            log_scaling=np.zeros(part.n_entries),
            scaling=np.ones(part.n_entries, dtype=dtype),
            shift=np.zeros(part.n_columns),
            sums=np.zeros((part.n_columns, N_SUMS)),
        )
        for part in problem.unfoldings
    ]


def _numerators(task: ColumnTask, output: Output) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Rows of the stacked factors, and what a task adds to their numerators."""
    yield task.own, output.own_sum
    done = 0
    for rows in task.others:
        width = rows.stop - rows.start
        yield rows, output.other_sums[done : done + width]
        done += width


class Sweeper:
    """Runs sweeps of one problem with a team of workers.

    Keeps what every sweep reads, so that a sweep only deals out tasks and adds up what comes
    back, always in task order.
    """

    def __init__(self, problem: TransportProblem, workers: Workers) -> None:
        self.problem = problem
        self.workers = workers
        self._tasks = [make_task(problem, span) for span in problem.spans]
        self._parts: dict[int, list[int]] = {}
        for index, span in enumerate(problem.spans):
            self._parts.setdefault(span.part, []).append(index)

    @property
    def empty_model_cost(self) -> float:
        """What the objective would be if nothing were explained: the unit of tolerances."""
        problem = self.problem
        weight = problem.settings.marginal_weight * problem.n_modes
        return weight * problem.mass * problem.scale

    def sweep(
        self,
        states: Sequence[ModeState],
        stacked: NDArray[Any],
        *,
        gather: bool = True,
        tolerance: float = NEWTON_TOLERANCE,
    ) -> list[NDArray[np.float64]] | None:
        """One sweep of every column; with ``gather`` also the factor update's numerators.

        Parameters
        ----------
        states : sequence of ModeState
            Warm starts; changed in place.
        stacked : ndarray
            The factors the transport is solved for, from ``stack_factors``.
        gather : bool
            Compute the numerators of the factor update.
        tolerance : float
            Relative gap to which columns too sharp for sweeps are solved.

        Returns
        -------
        list of ndarray or None
            Per mode n the matrix ``sum_i (Delta_i / X^) KR_n``, (mode size x rank).
        """
        constants = Constants(self.problem.settings, self.problem.offset, gather, tolerance)
        inputs = [
            (task, part_of(states[task.span.mode], task), stacked, constants)
            for task in self._tasks
        ]
        outputs = self.workers.run(run_task, inputs, [task.work for task in self._tasks])
        self._advance(states, outputs)
        return self._add_up(outputs, stacked.shape[1]) if gather else None

    def _add_up(self, outputs: Sequence[Output], rank: int) -> list[NDArray[np.float64]]:
        """The numerators of all modes; parts share those of the features, which are added up
        part by part and then in the order of the parts, wherever a part was worked on.
        """
        first_features = self.problem.shape[0]
        total = np.zeros((sum(self.problem.shape), rank))
        for indices in self._parts.values():
            shared = np.zeros((len(total) - first_features, rank))
            for index in indices:
                for rows, numerators in _numerators(self._tasks[index], outputs[index]):
                    if rows.start < first_features:
                        total[rows] += numerators
                    else:
                        within = slice(rows.start - first_features, rows.stop - first_features)
                        shared[within] += numerators
            total[first_features:] += shared
        return np.split(total, self.problem.first_rows[1:])

    def _advance(self, states: Sequence[ModeState], outputs: Sequence[Output]) -> None:
        """Put the tasks' parts of the new state in place."""
        for task, output in zip(self._tasks, outputs, strict=True):
            state = states[task.span.mode]
            state.log_scaling[task.entries] = output.state.log_scaling
            state.scaling[task.entries] = output.state.scaling
            state.shift[task.columns] = output.state.shift
            state.sums[task.columns] = output.state.sums

    def value(
        self, states: Sequence[ModeState], factors: Sequence[NDArray[np.float64]]
    ) -> TransportValue:
        """The objective of the plans of the last sweep and the factors it was run with."""
        problem = self.problem
        rows = sum(factors[0][part].sum(axis=0) for part in problem.row_parts)
        masses = [rows, *(factor.sum(axis=0) for factor in factors[1:])]
        return value_of(self.sums(states), masses, problem.settings, problem.scale, problem.mass)

    def sums(self, states: Sequence[ModeState]) -> NDArray[np.float64]:
        """What is noted of all columns, added up part by part."""
        found = np.zeros(N_SUMS)
        for indices in self._parts.values():
            part = np.zeros(N_SUMS)
            for mode, state in enumerate(states):
                own = [
                    task.columns
                    for task in map(self._tasks.__getitem__, indices)
                    if task.span.mode == mode
                ]
                if own:
                    part += state.sums[own[0].start : own[-1].stop].sum(axis=0)
            found += part
        return found


def value_of(
    sums: NDArray[np.float64],
    masses: Sequence[NDArray[np.float64]],
    settings: TransportSettings,
    scale: float,
    data_mass: float,
) -> TransportValue:
    """The objective from what was noted of all columns.

    Parameters
    ----------
    sums : ndarray
        Of all columns of all modes.
    masses : sequence of ndarray
        Column sums of each factor.
    scale, data_mass : float
        What values were divided by, and their sum after that.
    """
    rho, lam, n = settings.sharpness, settings.marginal_weight, len(masses)
    model_mass = float(np.prod(masses, axis=0).sum())
    plans = n * lam * (model_mass + data_mass) - (2 * lam + 1 / rho) * sums[MASS]
    return TransportValue(
        transport=scale * float(sums[LOG_U] + sums[MOMENT] - sums[MASS]) / rho,
        model_divergence=scale * float(n * model_mass - sums[MASS] - sums[LOG_U] / (lam * rho)),
        data_divergence=scale * float(sums[DIVERGENCE]),
        objective=scale * float(plans + lam * sums[TILT]),
        gap=scale * float(lam * sums[GAP]),
    )
