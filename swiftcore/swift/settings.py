"""What a fit or a projection refuses: settings out of range, rows that do not fit the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swiftcore.errors import InvalidSettings, Problem, refuse
from swiftcore.runtime.ranges import ABOVE_ZERO, SEED, Range, out_of_range, real, whole
from swiftcore.swift.factor_update import Factors

# phi = product / (product + 1) must differ from 0 and 1 by more than rounding.
MIN_PRODUCT, MAX_PRODUCT = 1e-8, 1e8
MAX_START = 1e100

_NOT_NEGATIVE = Range(real(0).fits, "a number of 0 or more")
RANGES = {
    "rank": whole(1),
    "sharpness": ABOVE_ZERO,
    "marginal_weight": ABOVE_ZERO,
    "max_iterations": whole(0),
    "tolerance": _NOT_NEGATIVE,
    "start": Range(lambda value: value in ("kl", "random"), "'kl' or 'random'"),
    "n_restarts": whole(1),
    "momentum": _NOT_NEGATIVE,
    "value_unit": Range(
        lambda value: (isinstance(value, str) and value == "mean") or ABOVE_ZERO.fits(value),
        "a finite number above 0, or 'mean'",
    ),
    "random_state": SEED,
    "n_jobs": Range(
        lambda value: value is None or (whole(-(2**31)).fits(value) and value != 0),
        "a whole number other than 0, or None for all cores",
    ),
    "dtype": Range(lambda value: value in ("float32", "float64"), "'float32' or 'float64'"),
}


def check_settings(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of its range."""
    problems = out_of_range(parameters, RANGES)
    weight, sharpness = parameters["marginal_weight"], parameters["sharpness"]
    if not problems and not MIN_PRODUCT <= weight * sharpness <= MAX_PRODUCT:
        problems.append(
            Problem(
                "setting-product",
                "Sharpness and marginal weight do not go together",
                "sharpness x marginal_weight",
                f"{weight * sharpness:.3g}",
                f"Keep their product from {MIN_PRODUCT:g} to {MAX_PRODUCT:g}: "
                "beyond, the numbers cannot tell the plans apart.",
            )
        )
    if problems:
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
