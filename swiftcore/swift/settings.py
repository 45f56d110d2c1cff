"""What a fit or a projection refuses: settings out of range, rows that do not fit the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swiftcore.errors import InvalidSettings, Problem, refuse
from swiftcore.swift.factor_update import Factors


def _whole(low: int) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low
    )


def _real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _real(value) and value > 0


def _not_negative(value: Any) -> bool:
    return _real(value) and value >= 0


# phi = product / (product + 1) must differ from 0 and 1 by more than rounding.
MIN_PRODUCT, MAX_PRODUCT = 1e-8, 1e8
MAX_START = 1e100

RANGES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "rank": (_whole(1), "a whole number of 1 or more"),
    "sharpness": (_positive, "a finite number above 0"),
    "marginal_weight": (_positive, "a finite number above 0"),
    "max_iterations": (_whole(0), "a whole number of 0 or more"),
    "tolerance": (_not_negative, "a number of 0 or more"),
    "start": (lambda value: value in ("kl", "random"), "'kl' or 'random'"),
    "n_restarts": (_whole(1), "a whole number of 1 or more"),
    "momentum": (_not_negative, "a number of 0 or more"),
    "value_unit": (
        lambda value: (isinstance(value, str) and value == "mean") or _positive(value),
        "a finite number above 0, or 'mean'",
    ),
    "random_state": (
        lambda value: value is None or _whole(0)(value),
        "a whole number of 0 or more, or None",
    ),
    "n_jobs": (
        lambda value: value is None or (_whole(-(2**31))(value) and value != 0),
        "a whole number other than 0, or None for all cores",
    ),
    "dtype": (lambda value: value in ("float32", "float64"), "'float32' or 'float64'"),
}


def check_settings(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of its range."""
    problems = [
        Problem(
            f"setting-{name}",
            "A setting is out of range",
            name,
            repr(parameters[name]),
            f"Give {wanted}.",
        )
        for name, (fits, wanted) in RANGES.items()
        if not fits(parameters[name])
    ]
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
