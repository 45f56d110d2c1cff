"""What every factorization asks of factors it is given, to start from or to go on with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.errors import refuse
from swiftcore.tensor.masks import refuse_masked

MAX_START = 1e100


def checked_factors(
    initial: Sequence[ArrayLike], shape: tuple[int, ...], rank: int, *, nonnegative: bool = True
) -> list[NDArray[np.float64]]:
    """A start given by the caller, as new float64 matrices of the right shapes.

    Raises
    ------
    InvalidData
        If it is no list of matrices, of other shapes, or holds values that cannot be.
    """
    wanted = [(size, rank) for size in shape]
    try:
        given = list(initial)
        factors = [np.array(factor) for factor in given]
        if any(factor.dtype.kind not in "biuf" for factor in factors):
            raise ValueError
        factors = [factor.astype(np.float64) for factor in factors]
    except (TypeError, ValueError):
        raise refuse(
            "start-type",
            "The start is not a list of matrices",
            "initial_factors",
            type(initial).__name__,
            f"Give real matrices of shapes {wanted}.",
        ) from None
    for mode, factor in enumerate(given, start=1):
        refuse_masked(factor, f"initial_factors, mode {mode}")
    if [factor.shape for factor in factors] != wanted:
        raise refuse(
            "start-shape",
            "The start does not fit the tensor and the rank",
            "initial_factors",
            str([factor.shape for factor in factors]),
            f"Give matrices of shapes {wanted}.",
        )
    least = 0.0 if nonnegative else -MAX_START
    if not all(((factor >= least) & (factor <= MAX_START)).all() for factor in factors):
        raise refuse(
            "start-values",
            "The start holds values that cannot be",
            "initial_factors",
            f"a {'negative, ' if nonnegative else ''}huge or non-finite value",
            f"Give values from {least:g} to {MAX_START:g}.",
        )
    return factors
