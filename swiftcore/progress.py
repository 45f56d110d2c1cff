"""How a fit is followed while it runs, how it ended, and how times are said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

USUAL_ITERATIONS = 90  # most fits converge in 20 to 180 (benchmarks/convergence.py)


@dataclass(frozen=True)
class FitProgress:
    """Where a fit stands after one iteration.

    Attributes
    ----------
    iteration, max_iterations : int
        Iteration 0 is the start before any update.
    objective : float
        The paper's objective for the factors held, exactly, for the plans at hand; it never
        rises from one iteration to the next.
    transport, model_divergence, data_divergence : float
        Its parts: objective = transport + marginal weight * (the two divergences).
    gap : float
        Better plans for the same factors could lower the objective by no more than this.
    accepted : bool
        False when the iteration's trial was worse and was taken back.
    seconds : float
        Since the loop began: making kernels and start is not counted.
    """

    iteration: int
    max_iterations: int
    objective: float
    transport: float
    model_divergence: float
    data_divergence: float
    gap: float
    accepted: bool
    seconds: float

    @property
    def expected(self) -> int:
        """The iteration at which it will end, as far as one can say: seldom at the limit."""
        usual = max(USUAL_ITERATIONS, round(1.25 * self.iteration))
        return min(self.max_iterations, usual)

    @property
    def seconds_left(self) -> float:
        """Until the iteration that is expected to be the last."""
        return (self.expected - self.iteration) * self.seconds / max(1, self.iteration)


ProgressCallback = Callable[[FitProgress], bool | None]
"""Called after every iteration; return True to stop and keep what there is."""


@dataclass(frozen=True)
class FitsProgress:
    """Where the fits behind a consensus stand.

    Attributes
    ----------
    done, total : int
        Steps that are finished, and all of them: a fit that is compared, or a comparison.
    begun : int
        Fits that were finished before: they took no time now.
    seconds : float
        Since the first began.
    """

    done: int
    total: int
    begun: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        """Until the last is finished; None while nobody knows."""
        here = self.done - self.begun
        return (self.total - self.done) * self.seconds / here if here else None


FitsCallback = Callable[[FitsProgress], bool | None]
"""Called after every iteration of any of them; return True to stop."""


class FitOutcome(Enum):
    """How a fit ended; each value is a sentence."""

    CONVERGED = "Converged: the objective no longer changes by more than the tolerance."
    ITERATION_LIMIT = "Not converged: the iteration limit was reached first."
    STOPPED = "Stopped on request; the factors of the last full iteration are kept."


def duration(seconds: float) -> str:
    """A time as a person says it: 7.4 s, 40 s, 3 min, 1.5 h."""
    if seconds < 90:
        return f"{round(seconds, 1 if seconds < 10 else 0):g} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{round(seconds / 3600, 1):g} h"
