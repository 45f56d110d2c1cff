"""The factor update, written once for every mode and every set of free modes.

With the transport held fixed, the factors minimise ``sum_i KL(Delta_i || X^)``: a Poisson CP
model of the mean ``(1/N) sum_i Delta_i`` (the 1/N that the printed update lost). Its EM step
moves all free modes at once from one pass over the ratio Delta / X^ and never raises the sum.

This is line 14 of the paper's Algorithm 1, which is its Algorithm 2. The reshaping and permuting
there (all lines but the last) brings the Delta_i to one order of cells; here each sweep adds its
share to the numerators of all modes as it goes, and only the last line is left:

    A_n = A_n * ((sum_i Pi(Delta_i, n) / P) KR_n) / (1 KR_n),   P = A_n KR_n' = X^_(n)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Factors = list[NDArray[np.float64]]
MAX_EXTRAPOLATION = 10.0  # momentum changes no entry by more than this factor


def update_factors(
    factors: Sequence[NDArray[np.float64]],
    numerators: Sequence[NDArray[np.float64]],
    free_modes: Sequence[int],
    pinned: Sequence[int] = (),
) -> Factors:
    """One EM step of the free modes.

    The step is found for every component and mode by itself, so a component whose profiles are
    pinned takes the step of its weights all the same, and the sum still never rises.

    Parameters
    ----------
    factors : sequence of ndarray, (mode size x rank)
    numerators : sequence of ndarray
        Per mode n the matrix ``sum_i (Delta_i / X^) KR_n``.
    free_modes : sequence of int
        Modes that move; the first of them carries the weight of each component.
    pinned : sequence of int
        Components that move in the first free mode only; their other columns sum to 1.

    Returns
    -------
    list of ndarray
        Free modes but the first have columns that sum to 1.
    """
    n_modes = len(factors)
    moved = [np.array(factor) for factor in factors]
    for mode in free_modes:  # Algorithm 2, last line: the numerator, and the missing 1/N
        moved[mode] = factors[mode] * numerators[mode] / n_modes
    # The denominator 1 KR_n is a product of column sums: 1 for the free modes, so normalized.
    fixed_sums = [moved[mode].sum(axis=0) for mode in range(n_modes) if mode not in free_modes]
    for mode in free_modes[1:]:
        moved[mode] = share_of(moved[mode], moved[mode].sum(axis=0))
    if fixed_sums:
        moved[free_modes[0]] = share_of(moved[free_modes[0]], np.prod(fixed_sums, axis=0))
    return _held(moved, factors, free_modes, pinned)


def update_rows(
    factors: Sequence[NDArray[np.float64]], numerator: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The paper's multiplicative update of the first mode alone, with the missing 1/N."""
    others = [factor.sum(axis=0) for factor in factors[1:]]
    return share_of(factors[0] * numerator, len(factors) * np.prod(others, axis=0))


def extrapolate(
    step: Sequence[NDArray[np.float64]],
    earlier: Sequence[NDArray[np.float64]],
    momentum: float,
    free_modes: Sequence[int],
    pinned: Sequence[int] = (),
    row_parts: Sequence[slice] = (),
) -> Factors:
    """Go on where the last two steps led, in logarithms: step (step / earlier)^momentum."""
    extrapolated = list(step)
    for mode in free_modes:
        extrapolated[mode] = carry_on(step[mode], earlier[mode], momentum)
    scaled = normalize(extrapolated, free_modes, row_parts=row_parts)
    return _held(scaled, step, free_modes, pinned)


def carry_on(
    step: NDArray[np.float64], earlier: NDArray[np.float64], momentum: float
) -> NDArray[np.float64]:
    """One mode's step times a power of what it changed; not normalized."""
    ratio = np.clip(share_of(step, earlier), 1 / MAX_EXTRAPOLATION, MAX_EXTRAPOLATION)
    return np.asarray(step * ratio**momentum)


def normalize(
    factors: Sequence[NDArray[np.float64]],
    free_modes: Sequence[int],
    pinned: Sequence[int] = (),
    row_parts: Sequence[slice] = (),
) -> Factors:
    """The same model with free columns summing to 1 and all weight in the first free mode.

    Pinned columns sum to 1 up to rounding, and keep their bits. Rows that come in parts are added
    up part by part.
    """
    scaled = [np.array(factor) for factor in factors]
    sums = [factor.sum(axis=0) for factor in scaled]
    if len(row_parts) > 1:
        sums[0] = sum(scaled[0][part].sum(axis=0) for part in row_parts)
    weights = np.prod([sums[mode] for mode in free_modes], axis=0)
    for mode in free_modes:
        scaled[mode] = share_of(scaled[mode], sums[mode])
    scaled[free_modes[0]] *= weights
    return _held(scaled, factors, free_modes, pinned)


def _held(
    moved: Factors,
    before: Sequence[NDArray[np.float64]],
    free_modes: Sequence[int],
    pinned: Sequence[int],
) -> Factors:
    """The moved factors with the pinned profiles as they were, bit for bit."""
    if len(pinned):
        columns = list(pinned)
        for mode in free_modes[1:]:
            moved[mode][:, columns] = before[mode][:, columns]
    return moved


def share_of(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """part / whole, and 0 where whole is 0: a dead component stays dead and finite."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
