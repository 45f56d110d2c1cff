"""The whole way to the factors: starts, the best of them, the loop; and back onto it.

Wherever it is left, a :class:`FitFile` knows the way on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swiftcore.progress import FitOutcome, ProgressCallback
from swiftcore.swift.engine import LoopState, WholeRows
from swiftcore.swift.factor_update import Factors
from swiftcore.swift.fit_file import FitFile, FitState
from swiftcore.swift.loop import FitResult, Schedule, alternate
from swiftcore.swift.some_rows import memberships_for, start_problem
from swiftcore.swift.start import Restarts, best_start, finish_kl, kl_trial, random_start
from swiftcore.transport.sweep import Sweeper

TRIAL_ITERATIONS = 8  # how far a random restart is run before the best one goes on


@dataclass(frozen=True)
class Plan:
    """How a fit begins and how long it goes on; the settings are those of ``Swift``."""

    rank: int
    start: str
    n_restarts: int
    random_state: int | None
    schedule: Schedule
    pinned: tuple[int, ...] = ()


def find_factors(
    sweeper: Sweeper,
    plan: Plan,
    initial: Factors | None,
    callback: ProgressCallback | None,
    file: FitFile | None,
) -> FitResult:
    """Fit all modes, from the state in the file if it has one.

    Parameters
    ----------
    initial : list of ndarray, optional
        Start from these.
    file : FitFile, optional
        Where the state is kept, if it is.
    """
    problem = sweeper.problem
    modes, engine = range(problem.n_modes), WholeRows(sweeper)
    found = FitState() if file is None else file.read()
    loop = found.loop if found.restarts is None else None
    if loop is None:
        start = initial or _start(sweeper, plan, file, found)
        loop = LoopState.cold(problem, start, modes, plan.pinned)
    elif file is not None:
        file.resume(loop)

    if file is None:
        return alternate(engine, loop, modes, plan.schedule, callback)

    def write_if_due(now: LoopState) -> None:
        if file.due:
            file.write(FitState(loop=now))

    result = alternate(engine, loop, modes, plan.schedule, callback, write_if_due)
    if result.outcome is not FitOutcome.CONVERGED:  # another fit may go on from here
        file.write(FitState(loop=result.state))
    return result


def _start(sweeper: Sweeper, plan: Plan, file: FitFile | None, found: FitState) -> Factors:
    """The start of all rows, if need be from that of some of them."""
    some = start_problem(sweeper.problem)
    if some is sweeper.problem:
        return Starts(sweeper, plan, file, found).best()
    features = Starts(Sweeper(some, sweeper.workers), plan, file, found).best()[1:]
    return [memberships_for(sweeper.problem, features), *features]


class Starts:
    """Looks for a start, from nothing or from where another process was."""

    def __init__(self, sweeper: Sweeper, plan: Plan, file: FitFile | None, found: FitState) -> None:
        self._sweeper, self._plan, self._file, self._found = sweeper, plan, file, found
        self._rng = np.random.default_rng(plan.random_state)
        if found.random is not None:
            self._rng.bit_generator.state = found.random

    def best(self) -> Factors:
        """The start from which the fit sets out."""
        problem, plan = self._sweeper.problem, self._plan
        if plan.start == "random" and plan.n_restarts == 1:
            return random_start(problem, plan.rank, self._rng)
        attempt = self._kl_attempt if plan.start == "kl" else self._loop_attempt
        begun = self._found.restarts or Restarts()
        best = best_start(attempt, plan.n_restarts, begun, self._keep)
        return finish_kl(problem, best) if plan.start == "kl" else best

    def _kl_attempt(self, now: Restarts) -> tuple[Factors, float]:
        return kl_trial(self._sweeper.problem, self._plan.rank, self._rng, now.tried)

    def _loop_attempt(self, now: Restarts) -> tuple[Factors, float]:
        """A few iterations of the fit itself, from random factors."""
        sweeper, plan = self._sweeper, self._plan
        modes = range(sweeper.problem.n_modes)
        begun = self._found.loop
        if begun is None:
            start = random_start(sweeper.problem, plan.rank, self._rng)
            begun = LoopState.cold(sweeper.problem, start, modes)
        self._found = FitState()  # the later ones begin at their own start
        few = Schedule(TRIAL_ITERATIONS, 0.0, plan.schedule.momentum)
        run = alternate(
            WholeRows(sweeper), begun, modes, few, keep=lambda loop: self._keep(now, loop)
        )
        return run.factors, run.history[-1].objective

    def _keep(self, now: Restarts, loop: LoopState | None = None) -> None:
        if self._file is not None and self._file.due:
            self._file.write(FitState(now, self._rng.bit_generator.state, loop))
