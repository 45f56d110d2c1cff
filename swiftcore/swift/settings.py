"""What a fit or a projection refuses: settings out of range, rows that do not fit the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.runtime.ranges import SEED, Range, out_of_range, whole
from swiftcore.spec import value_problems
from swiftcore.swift.factor_update import Factors

MAX_START = 1e100

# What every estimator has besides the settings of its spec.
RANGES = {
    "random_state": SEED,
    "n_jobs": Range(
        lambda value: value is None or (whole(-(2**31)).fits(value) and value != 0),
        "a whole number other than 0, or None for all cores",
    ),
}


def check_settings(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of its range."""
    if problems := [*value_problems(parameters), *out_of_range(parameters, RANGES)]:
        raise InvalidSettings(problems)


def checked_factors(initial: Sequence[ArrayLike], shape: tuple[int, ...], rank: int) -> Factors:
    """A start given by the caller, as float64 matrices of the right shapes."""
    wanted = [(size, rank) for size in shape]
    try:
        factors = [np.array(factor) for factor in initial]
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
    if [factor.shape for factor in factors] != wanted:
        raise refuse(
            "start-shape",
            "The start does not fit the tensor and the rank",
            "initial_factors",
            str([factor.shape for factor in factors]),
            f"Give matrices of shapes {wanted}.",
        )
    if not all(((factor >= 0) & (factor <= MAX_START)).all() for factor in factors):
        raise refuse(
            "start-values",
            "The start holds values that cannot be",
            "initial_factors",
            "a negative, huge or non-finite value",
            f"Give values from 0 to {MAX_START:g}.",
        )
    return factors
