"""What a fit or a projection refuses: settings out of range, rows that do not fit the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swiftcore.errors import InvalidData, InvalidSettings, Problem
from swiftcore.factorization.factor_update import Factors
from swiftcore.tensor import Mode, SparseTensor


def _whole(low: int) -> Callable[[Any], bool]:
    return lambda value: (
        (isinstance(value, int) and not isinstance(value, bool) and value >= low)
        or (hasattr(value, "__index__") and not isinstance(value, bool) and int(value) >= low)
    )


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < math.inf


RANGES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "rank": (_whole(1), "a whole number of 1 or more"),
    "sharpness": (_positive, "a finite number above 0"),
    "marginal_weight": (_positive, "a finite number above 0"),
    "max_iterations": (_whole(0), "a whole number of 0 or more"),
    "tolerance": (_share, "a number of 0 or more"),
    "start": (lambda value: value in ("kl", "random"), "'kl' or 'random'"),
    "n_restarts": (_whole(1), "a whole number of 1 or more"),
    "momentum": (_share, "a number of 0 or more"),
    "value_unit": (lambda value: value == "mean" or _positive(value),
                   "a finite number above 0, or 'mean'"),
    "dtype": (lambda value: value in ("float32", "float64"), "'float32' or 'float64'"),
}  # fmt: skip


def check_settings(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of its range."""
    problems = [
        Problem(f"setting-{name}", f"The setting {name} is out of range", name,
                repr(parameters[name]), f"Give {wanted}.")
        for name, (fits, wanted) in RANGES.items()
        if not fits(parameters[name])
    ]  # fmt: skip
    if problems:
        raise InvalidSettings(problems)


def refuse_empty(tensor: SparseTensor) -> None:
    """Raise :class:`InvalidData` when the tensor holds no value at all."""
    if tensor.n_entries == 0:
        raise InvalidData(
            Problem("all-zero", "There is nothing to factorize", "the tensor", "no nonzero value",
                    "Check the filters that built it, or the file it came from.")
        )  # fmt: skip


def checked_factors(initial: Sequence[ArrayLike], shape: tuple[int, ...], rank: int) -> Factors:
    """A start given by the caller, as float64 matrices of the right shapes."""
    factors = [np.array(factor, dtype=np.float64) for factor in initial]
    wanted = [(size, rank) for size in shape]
    if [factor.shape for factor in factors] != wanted:
        raise InvalidData(
            Problem("start-shape", "The start does not fit the tensor and the rank",
                    "initial_factors", str([factor.shape for factor in factors]),
                    f"Give matrices of shapes {wanted}.")
        )  # fmt: skip
    if not all(np.isfinite(factor).all() and (factor >= 0).all() for factor in factors):
        raise InvalidData(
            Problem("start-values", "The start holds values that are not amounts",
                    "initial_factors", "a negative or non-finite value",
                    "Give finite values of 0 or more.")
        )  # fmt: skip
    return factors


def check_features(
    fitted_factors: Sequence[Any] | None, known_modes: Sequence[Mode], tensor: SparseTensor
) -> None:
    """Raise unless the model is fitted and the rows have its features, in its order."""
    if fitted_factors is None:
        raise InvalidSettings(
            Problem("not-fitted", "The model has not been fitted", "Swift", "no factors",
                    "Call fit first, or load a fitted model.")
        )  # fmt: skip
    expected = tuple(len(factor) for factor in fitted_factors[1:])
    if tensor.shape[1:] != expected:
        raise InvalidData(
            Problem("feature-count", "The rows have other features than the model",
                    "modes after the first", f"sizes {tensor.shape[1:]}",
                    f"Build the tensor with the model's {expected} features, in its order.")
        )  # fmt: skip
    for position, (mode, known) in enumerate(
        zip(tensor.modes[1:], known_modes[1:], strict=True), start=2
    ):
        if mode.labels != known.labels:
            first = next(i for i, label in enumerate(mode.labels) if label != known.labels[i])
            raise InvalidData(
                Problem("feature-order", "The rows' features are not those of the model",
                        f"mode {position}, index {first}",
                        f"{mode.labels[first]!r} where the model has {known.labels[first]!r}",
                        "Select and order the features as in the model.")
            )  # fmt: skip
