"""Who holds the rows while the loop runs: all of them in memory here, elsewhere in parts.

The loop knows factors only by name: it asks for sweeps, steps and what the momentum makes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from swiftcore.progress import FitProgress
from swiftcore.swift.factor_update import Factors, extrapolate, normalize, update_factors
from swiftcore.transport.column_task import ModeState
from swiftcore.transport.problem import TransportProblem
from swiftcore.transport.sweep import Sweeper, TransportValue, cold_state, stack_factors


@dataclass(frozen=True, eq=False)
class Point:
    """Factors, what they cost, and where a plain step leads from them."""

    factors: Factors
    value: TransportValue
    step: Factors


@dataclass(frozen=True, eq=False)
class LoopState:
    """Everything the loop knows between two sweeps; from it the loop goes on to the same bits.

    Attributes
    ----------
    trial : list of ndarray
        The factors to be evaluated next.
    transport : list of ModeState
        Where the plans of each mode stand; changed in place by the sweeps.
    best : Point or None
        The best factors so far; None before the start was evaluated.
    momentum : float
        Exponent with which the next step is carried on.
    plain : bool
        Whether the trial is a plain step, which cannot raise the objective.
    carried : bool
        Whether the step from ``best`` may be compared with the one after it.
    settling : int
        Sweeps already spent on the trial.
    history : list of FitProgress
        Grown in place.
    seconds : float
        Spent in the loop so far.
    pinned : tuple of int
        Components whose profiles stay as they are; only their weights in the first mode move.
    """

    trial: Factors
    transport: list[ModeState]
    best: Point | None = None
    momentum: float = 0.0
    plain: bool = True
    carried: bool = False
    settling: int = 0
    history: list[FitProgress] = field(default_factory=list)
    seconds: float = 0.0
    pinned: tuple[int, ...] = ()

    @classmethod
    def cold(
        cls,
        problem: TransportProblem,
        start: Sequence[NDArray[np.float64]],
        free_modes: Sequence[int],
        pinned: tuple[int, ...] = (),
    ) -> LoopState:
        """Before the first sweep."""
        begin = normalize(start, free_modes, pinned, problem.row_parts)
        return cls(begin, cold_state(problem), pinned=pinned)  # 1.7, but only here


class Engine(Protocol):
    """What the loop asks of whoever holds the rows."""

    @property
    def empty_model_cost(self) -> float:
        """What the objective would be if nothing were explained: the unit of tolerances."""
        ...

    def value_at(self, now: LoopState) -> TransportValue:
        """Bring the plans of the trial closer to their best, by one sweep."""
        ...

    def point(self, now: LoopState, free_modes: Sequence[int]) -> Point:
        """Evaluate the trial and find the plain step from it, in one sweep."""
        ...

    def carried_on(self, now: LoopState, point: Point, free_modes: Sequence[int]) -> Factors:
        """Where the step from the best and the one from a better point lead together."""
        ...


@dataclass(frozen=True, eq=False)
class WholeRows:
    """All rows in the memory of this process; the state of the loop holds them."""

    sweeper: Sweeper

    @property
    def empty_model_cost(self) -> float:
        return self.sweeper.empty_model_cost

    def value_at(self, now: LoopState) -> TransportValue:
        stacked = stack_factors(now.trial, self.sweeper.problem.settings.dtype)
        self.sweeper.sweep(now.transport, stacked, gather=False)
        return self.sweeper.value(now.transport, now.trial)

    def point(self, now: LoopState, free_modes: Sequence[int]) -> Point:
        factors, states = now.trial, now.transport
        stacked = stack_factors(factors, self.sweeper.problem.settings.dtype)
        numerators = self.sweeper.sweep(states, stacked)  # 1.4 to 1.11, all modes
        assert numerators is not None
        value = self.sweeper.value(states, factors)
        step = update_factors(factors, numerators, free_modes, now.pinned)  # 1.12 to 1.14
        return Point(factors, value, step)

    def carried_on(self, now: LoopState, point: Point, free_modes: Sequence[int]) -> Factors:
        assert now.best is not None
        parts = self.sweeper.problem.row_parts
        return extrapolate(point.step, now.best.step, now.momentum, free_modes, now.pinned, parts)
