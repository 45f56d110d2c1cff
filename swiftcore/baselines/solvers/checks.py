"""What the baselines refuse: settings out of range, data that does not fit the model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from swiftcore.errors import InvalidSettings, NotEnoughMemory, Problem, refuse
from swiftcore.runtime.memory import GIGABYTE, SPARE, available_memory

MIN_WHOLE = {"rank": 1, "max_iterations": 0, "inner_iterations": 1, "sweeps": 1}


def check_settings(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of its range.

    Whole numbers are those in ``MIN_WHOLE`` and the seed; all others are real.
    """
    problems = []
    for name, value in parameters.items():
        if name == "random_state":
            fits, wanted = value is None or _whole(value, 0), "a whole number of 0 or more, or None"
        elif name in MIN_WHOLE:
            least = MIN_WHOLE[name]
            fits, wanted = _whole(value, least), f"a whole number of {least} or more"
        elif name == "growth":
            fits, wanted = _amount(value) and value >= 1, "a finite number of 1 or more"
        elif name in ("floor", "sharpness", "marginal_weight"):
            fits, wanted = _amount(value) and value > 0, "a finite number above 0"
        else:
            fits, wanted = _amount(value), "a finite number of 0 or more"
        if not fits:
            problems.append(
                Problem(
                    f"setting-{name}",
                    "A setting is out of range",
                    name,
                    repr(value),
                    f"Give {wanted}.",
                )
            )
    if problems:
        raise InvalidSettings(problems)


def class_signs(labels: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Labels as signs, (rows x classes): +1 in the class, -1 out of it, 0 where unknown.

    Two classes make one column: +1 for the later one in sorted order.
    """
    names = np.asarray([] if labels is None else labels, dtype=object)
    known = ~pd.isna(names) if names.ndim == 1 else np.zeros(0, dtype=bool)
    classes = sorted(set(names[known]), key=str) if len(known) == n_rows else []
    if len(classes) < 2:
        raise refuse(
            "labels",
            "A supervised factorization needs one label per row, of two or more classes",
            "labels",
            "none"
            if labels is None
            else f"{names.size} labels for {n_rows} rows, {len(classes)} classes",
            "Give a label, or None, for each row.",
        )
    if len(classes) == 2:
        classes = classes[1:]
    signs = np.array([[1.0 if name == one else -1.0 for one in classes] for name in names])
    signs[~known] = 0.0
    return signs


def refuse_if_too_large(needed: float, shape: Sequence[int]) -> None:
    """Raise :class:`NotEnoughMemory` when a loss over all cells would not fit."""
    free = available_memory()
    if needed > SPARE * free:
        raise refuse(
            "memory",
            "The fit needs more memory than is free",
            f"shape {tuple(shape)}",
            f"{needed / GIGABYTE:.2f} GB needed, {free / GIGABYTE:.2f} GB free",
            "This loss looks at every cell: use fewer features, or a sparse method.",
            kind=NotEnoughMemory,
        )


def check_loss(loss: float) -> None:
    """Raise :class:`InvalidData` when the numbers have run out of range."""
    if not math.isfinite(loss):
        raise refuse(
            "value-range",
            "The loss is not a finite number",
            "values",
            repr(loss),
            "Use fewer components, or another method; divide values far from 1 by a common unit.",
        )


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _amount(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return bool(real and math.isfinite(value) and value >= 0)
