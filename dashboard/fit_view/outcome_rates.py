"""How often carriers of a phenotype have the outcome, beside all others.

A rate without an interval says too much, and a rate of few people says who they are: of each
comparison either all numbers are shown or none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.fit_view.row_tables import outcome_words

NORMAL = 1.959964  # of a 95 % interval


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class OutcomeRates:
    """The outcome among carriers and others.

    Attributes
    ----------
    outcome : str
        What is counted: the outcome, or one of its classes; user text.
    carriers, others : Estimate or None
        Shares, with Wilson intervals; None if too few rows stand behind one of the counts.
    ratio : Estimate or None
        Carriers against others (risk ratio, interval by its logarithm); None if hidden, or if
        one of the two groups has no case.
    """

    outcome: str
    carriers: Estimate | None
    others: Estimate | None
    ratio: Estimate | None


def wilson(count: int, total: int) -> Estimate:
    """A share with Wilson's score interval; ``total`` is at least 1."""
    share, square = count / total, NORMAL**2
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = (
        NORMAL
        / (1 + square / total)
        * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    )
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


def risk_ratio(cases: int, total: int, other_cases: int, other_total: int) -> Estimate | None:
    """How many times as often; None where no interval can be given."""
    if not cases or not other_cases:
        return None
    ratio = (cases / total) / (other_cases / other_total)
    error = math.sqrt(1 / cases - 1 / total + 1 / other_cases - 1 / other_total)
    spread = math.exp(NORMAL * error)
    return Estimate(ratio, ratio / spread, ratio * spread)


def outcome_rates(
    carries: NDArray[np.bool_],
    outcome: NDArray[np.generic],
    name: str,
    speaks_for: str,
    limit: int,
) -> OutcomeRates | None:
    """Compare carriers with all others; None if one of the two groups is empty.

    Parameters
    ----------
    carries : ndarray of bool, (rows,)
    outcome : ndarray of bool or str, (rows,)
    name : str
        What a yes-or-no outcome is called.
    speaks_for : str
        The class to count when there are several; empty for the one most carriers have.
    limit : int
        The smallest count that may be shown; 0 shows all.
    """
    is_case, counted = _cases(carries, outcome, name, speaks_for)
    totals = int(carries.sum()), int((~carries).sum())
    cases = int((carries & is_case).sum()), int((~carries & is_case).sum())
    if not all(totals):
        return None
    cells = [*cases, totals[0] - cases[0], totals[1] - cases[1]]
    if any(0 < cell < limit for cell in cells):
        return OutcomeRates(counted, None, None, None)
    return OutcomeRates(
        counted,
        wilson(cases[0], totals[0]),
        wilson(cases[1], totals[1]),
        risk_ratio(cases[0], totals[0], cases[1], totals[1]),
    )


def _cases(
    carries: NDArray[np.bool_], outcome: NDArray[np.generic], name: str, speaks_for: str
) -> tuple[NDArray[np.bool_], str]:
    """Which rows are counted, and what they are."""
    if outcome.dtype == np.bool_:
        return outcome.astype(bool), name or "the outcome"
    words = outcome_words(outcome)
    if not speaks_for and carries.any():
        classes, counts = np.unique(words[carries], return_counts=True)
        speaks_for = str(classes[counts.argmax()])
    return words == speaks_for, speaks_for
