"""The loop: transport and factors in turn, with the objective known at every iteration.

Which modes are free is an argument: a fit frees all of them, a projection only the first.

The loop is the paper's Algorithm 1: ``# 1.3`` marks its line 3, counted from "K_n = ..." without
the "end"s. Lines 1 and 6, kernel and Phi, are in ``transport.problem``; line 2, the start, is in
``start``. There every iteration solves all transports anew by 25 sweeps; here they go on from
where they stood, and one sweep of all modes gives the objective and the next step at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.progress import FitOutcome, FitProgress, ProgressCallback
from swiftcore.swift.factor_update import (
    Factors,
    extrapolate,
    normalize,
    update_factors,
    update_rows,
)
from swiftcore.transport.column_task import ModeState
from swiftcore.transport.sweep import Sweeper, TransportValue, cold_state, stack_factors

# Plans are brought this close (gap / cost of an empty model) before the first step.
GAP_TOLERANCE = 3e-5
MAX_SETTLING_SWEEPS = 40
FIRST_MOMENTUM, MOMENTUM_GROWTH = 0.3, 1.1
WINDOW = 4  # iterations over which convergence is judged


@dataclass(frozen=True)
class Schedule:
    """How long to go on and how fast to go.

    Attributes
    ----------
    max_iterations : int
    tolerance : float
        Stop when an iteration lowers the objective by less than this share of what an empty
        model would cost (marginal weight x modes x mass), on average over the last few: with
        momentum a single small step means little.
    momentum : float
        Largest exponent with which a step is carried on; 0 for plain steps.
    """

    max_iterations: int = 50
    tolerance: float = 3e-6
    momentum: float = 0.8


@dataclass(frozen=True, eq=False)
class FitResult:
    """Factors (of the data divided by the problem's scale), the way there, and how it ended."""

    factors: Factors
    history: tuple[FitProgress, ...]
    outcome: FitOutcome


@dataclass(frozen=True, eq=False)
class _Point:
    """Factors, what they cost, and where a plain step leads from them."""

    factors: Factors
    value: TransportValue
    step: Factors


class _History:
    """Keeps the history and asks the caller whether to go on."""

    def __init__(self, max_iterations: int, callback: ProgressCallback | None) -> None:
        self.entries: list[FitProgress] = []
        self._max_iterations = max_iterations
        self._callback = callback
        self._started = time.perf_counter()

    def note(self, value: TransportValue, accepted: bool = True) -> bool:
        """Write down one iteration; True when the caller wants to stop."""
        entry = FitProgress(
            iteration=len(self.entries),
            max_iterations=self._max_iterations,
            objective=value.objective,
            transport=value.transport,
            model_divergence=value.model_divergence,
            data_divergence=value.data_divergence,
            gap=value.gap,
            accepted=accepted,
            seconds=time.perf_counter() - self._started,
        )
        self.entries.append(entry)
        return bool(self._callback(entry)) if self._callback is not None else False

    def fall(self) -> float:
        """By how much the objective fell per iteration of late; infinite before that is known."""
        if len(self.entries) <= WINDOW:
            return np.inf
        before, now = self.entries[-1 - WINDOW], self.entries[-1]
        return (before.objective - now.objective) / WINDOW


def alternate(
    sweeper: Sweeper,
    start: Sequence[NDArray[np.float64]],
    free_modes: Sequence[int],
    schedule: Schedule,
    callback: ProgressCallback | None = None,
) -> FitResult:
    """Minimise the objective over the free factors, starting from ``start``.

    Every iteration is one sweep of all columns, from which both the objective and the EM
    step of all free modes follow. Steps are carried on with momentum; a trial that turns out
    worse is taken back and the plain step, which cannot raise the objective, is tried.
    """
    states = cold_state(sweeper.problem)  # 1.7, but only here
    history = _History(schedule.max_iterations, callback)
    best = _evaluate(sweeper, states, normalize(start, free_modes), free_modes, converge=True)
    _refuse_not_finite(best.value)
    stop, momentum = history.note(best.value), min(FIRST_MOMENTUM, schedule.momentum)
    plain, unit = True, sweeper.empty_model_cost
    earlier: Factors | None = None
    trial = best.step
    while not stop and len(history.entries) <= schedule.max_iterations:  # 1.3
        point = _evaluate(sweeper, states, trial, free_modes)
        for _ in range(MAX_SETTLING_SWEEPS):
            if not _in_doubt(point.value, best.value.objective):
                break
            point = _evaluate(sweeper, states, trial, free_modes)
        change = best.value.objective - point.value.objective
        if not change >= 0:
            stop = history.note(best.value, accepted=False)
            if plain and not stop:
                return FitResult(best.factors, tuple(history.entries), FitOutcome.CONVERGED)
            trial, earlier, plain = best.step, None, True
            momentum *= 0.5
            continue
        stop = history.note(point.value)
        if history.fall() <= schedule.tolerance * unit and not stop:
            return FitResult(point.factors, tuple(history.entries), FitOutcome.CONVERGED)
        plain = earlier is None or schedule.momentum == 0
        trial = point.step
        if earlier is not None and schedule.momentum > 0:
            trial = extrapolate(point.step, earlier, momentum, free_modes)
            momentum = min(momentum * MOMENTUM_GROWTH, schedule.momentum)
        best, earlier = point, point.step
    outcome = FitOutcome.STOPPED if stop else FitOutcome.ITERATION_LIMIT
    return FitResult(best.factors, tuple(history.entries), outcome)


def _refuse_not_finite(value: TransportValue) -> None:
    if not np.isfinite(value.objective):
        raise refuse(
            "not-finite",
            "The objective of the start is not a number",
            "objective",
            str(value.objective),
            "Use milder settings, or another start or unit.",
            kind=InvalidSettings,
        )


def _in_doubt(value: TransportValue, best: float) -> bool:
    """Worse than the best, but perhaps only because the plans are not up to date yet."""
    return value.objective > best >= value.objective - value.gap


def _evaluate(
    sweeper: Sweeper,
    states: Sequence[ModeState],
    factors: Factors,
    free_modes: Sequence[int],
    converge: bool = False,
) -> _Point:
    """Evaluate factors and find the plain step from them, in one sweep.

    ``converge`` first sweeps until the plans are close to their best, for factors that are new.
    """
    stacked = stack_factors(factors, sweeper.problem.settings.dtype)
    if converge:  # 1.8
        for _ in range(MAX_SETTLING_SWEEPS):
            sweeper.sweep(states, stacked, gather=False)
            value = sweeper.value(states, factors)
            if value.gap <= GAP_TOLERANCE * sweeper.empty_model_cost:
                break
    numerators = sweeper.sweep(states, stacked)  # 1.4 to 1.11, all modes
    assert numerators is not None
    value = sweeper.value(states, factors)
    return _Point(factors, value, update_factors(factors, numerators, free_modes))  # 1.12 to 1.14


def project_rows(
    sweeper: Sweeper, factors: Sequence[NDArray[np.float64]], max_iterations: int, tolerance: float
) -> tuple[Factors, FitOutcome]:
    """Memberships of rows that know nothing of each other (no mass moves between rows).

    Plain steps only, and every row stops by itself: its result is that of projecting it alone.
    """
    states = cold_state(sweeper.problem)
    now = [np.array(factor) for factor in factors]
    moving = np.ones(len(now[0]), dtype=bool)
    for _ in range(max_iterations):
        stacked = stack_factors(now, sweeper.problem.settings.dtype)
        numerators = sweeper.sweep(states, stacked)
        assert numerators is not None
        step = update_rows(now, numerators[0])
        change = np.abs(step - now[0]).max(axis=1)
        now[0][moving] = step[moving]
        moving &= change > tolerance * step.max(axis=1)
        if not moving.any():
            return now, FitOutcome.CONVERGED
    return now, FitOutcome.ITERATION_LIMIT
