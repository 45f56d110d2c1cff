"""What every factorization asks of factors it is given, to start from or to go on with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.tensor.masks import refuse_masked

MAX_START = 1e100
PROFILE_ROUNDING = 1e-9  # a pinned profile sums to 1 but for this


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


def checked_pins(
    pinned: Sequence[int], initial: Sequence[NDArray[np.float64]] | None, rank: int
) -> tuple[int, ...]:
    """Components whose profiles a start fixes, in order and each once.

    Raises
    ------
    InvalidSettings
        If there is no start, no such component, or a profile that does not sum to 1.
    """
    chosen = sorted({int(component) for component in pinned})
    if not chosen:
        return ()
    if initial is None:
        found, cure = "no start", "Give initial_factors with the profiles that are to stay."
    elif chosen[0] < 0 or chosen[-1] >= rank:
        found, cure = str(chosen), f"Give components from 0 to {rank - 1}."
    elif any(
        (abs(part[:, chosen].sum(axis=0) - 1) > PROFILE_ROUNDING).any() for part in initial[1:]
    ):
        found, cure = "profiles with another sum", "Give pinned profiles that sum to 1."
    else:
        return tuple(chosen)
    what = "These components cannot be pinned"
    raise refuse("pinned", what, "pinned", found, cure, kind=InvalidSettings)
