"""The loop: transport and factors in turn, with the objective known at every iteration.

Which modes are free is an argument: a fit frees all of them, a projection only the first.

The loop is the paper's Algorithm 1: ``# 1.3`` marks its line 3, counted from "K_n = ..." without
the "end"s. Lines 1 and 6, kernel and Phi, are in ``transport.problem``; line 2, the start, is in
``start``. There every iteration solves all transports anew by 25 sweeps; here they go on from
where they stood, and one sweep of all modes gives the objective and the next step at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.progress import FitOutcome, FitProgress, ProgressCallback
from swiftcore.swift.engine import Engine, LoopState, Point
from swiftcore.swift.factor_update import Factors, update_rows
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


Keep = Callable[[LoopState], None]
"""Called between any two sweeps with a state from which the loop could go on."""
_Pause = Callable[[LoopState, int], None]


@dataclass(frozen=True, eq=False)
class FitResult:
    """Factors (of the data divided by the problem's scale), the way there, and how it ended.

    ``state`` is where the loop stood: a fit that was stopped can go on from there.
    """

    factors: Factors
    history: tuple[FitProgress, ...]
    outcome: FitOutcome
    state: LoopState


class _History:
    """Keeps the history and the time, and asks the caller whether to go on."""

    def __init__(
        self, begun: LoopState, max_iterations: int, callback: ProgressCallback | None
    ) -> None:
        self.entries = begun.history
        self._max_iterations = max_iterations
        self._callback = callback
        self._started = time.perf_counter() - begun.seconds

    @property
    def seconds(self) -> float:
        """Spent in the loop, in this process and in those before it."""
        return time.perf_counter() - self._started

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
            seconds=self.seconds,
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
    engine: Engine,
    begun: LoopState,
    free_modes: Sequence[int],
    schedule: Schedule,
    callback: ProgressCallback | None = None,
    keep: Keep | None = None,
) -> FitResult:
    """Minimise the objective over the free factors, from where ``begun`` stands.

    Every iteration is one sweep of all columns, from which both the objective and the EM
    step of all free modes follow. Steps are carried on with momentum; a trial that turns out
    worse is taken back and the plain step, which cannot raise the objective, is tried.
    """
    history = _History(begun, schedule.max_iterations, callback)

    def pause(state: LoopState, settling: int) -> None:
        if keep is not None:
            keep(replace(state, settling=settling, seconds=history.seconds))

    now, stop = begun, False
    if now.best is None:
        point = _first_point(engine, now, free_modes, pause)
        _refuse_not_finite(point.value)
        stop = history.note(point.value)
        momentum = min(FIRST_MOMENTUM, schedule.momentum)
        now = replace(now, best=point, trial=point.step, momentum=momentum, settling=0)
    while not stop and len(history.entries) <= schedule.max_iterations:  # 1.3
        assert now.best is not None
        point = _next_point(engine, now, now.best.value.objective, free_modes, pause)
        if not point.value.objective <= now.best.value.objective:
            stop = history.note(now.best.value, accepted=False)
            if now.plain:
                return _result(now, now.best, FitOutcome.CONVERGED)
            now = _taken_back(now, now.best)
            continue
        stop = history.note(point.value)
        if history.fall() <= schedule.tolerance * engine.empty_model_cost:
            return _result(now, point, FitOutcome.CONVERGED)
        now = _accepted(engine, now, point, schedule.momentum, free_modes)
    assert now.best is not None
    last = replace(now, seconds=history.seconds)
    return _result(last, now.best, FitOutcome.STOPPED if stop else FitOutcome.ITERATION_LIMIT)


def _result(state: LoopState, point: Point, outcome: FitOutcome) -> FitResult:
    return FitResult(point.factors, tuple(state.history), outcome, state)


def _taken_back(now: LoopState, best: Point) -> LoopState:
    """After a trial that was worse: the plain step from the best, and less momentum."""
    return replace(
        now,
        trial=best.step,
        momentum=now.momentum * 0.5,
        plain=True,
        carried=False,
        settling=0,
    )


def _accepted(
    engine: Engine, now: LoopState, point: Point, most_momentum: float, free_modes: Sequence[int]
) -> LoopState:
    """After a trial that was better: the step from it, carried on if there was one before."""
    trial, momentum = point.step, now.momentum
    plain = not now.carried or most_momentum == 0
    if not plain:
        trial = engine.carried_on(now, point, free_modes)
        momentum = min(momentum * MOMENTUM_GROWTH, most_momentum)
    return replace(
        now,
        best=point,
        trial=trial,
        momentum=momentum,
        plain=plain,
        carried=True,
        settling=0,
    )


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


def _first_point(engine: Engine, now: LoopState, free_modes: Sequence[int], pause: _Pause) -> Point:
    """Evaluate a start: first sweep until the plans are close to their best."""
    for turn in range(now.settling, MAX_SETTLING_SWEEPS):  # 1.8
        pause(now, turn)
        if engine.value_at(now).gap <= GAP_TOLERANCE * engine.empty_model_cost:
            break
    return engine.point(now, free_modes)


def _next_point(
    engine: Engine, now: LoopState, best: float, free_modes: Sequence[int], pause: _Pause
) -> Point:
    """Evaluate a trial: sweep until it is clear whether it is better than the best."""
    for turn in range(now.settling, MAX_SETTLING_SWEEPS + 1):
        pause(now, turn)
        point = engine.point(now, free_modes)
        if not _in_doubt(point.value, best):
            break
    return point


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
