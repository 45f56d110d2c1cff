"""How a fit is followed while it runs, how it ended, and how times are said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


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


ProgressCallback = Callable[[FitProgress], bool | None]
"""Called after every iteration; return True to stop and keep what there is."""


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
