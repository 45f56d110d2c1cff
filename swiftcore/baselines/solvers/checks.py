"""What the baselines refuse: settings out of range, data that does not fit the model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.runtime.memory import not_enough_memory, usable_memory
from swiftcore.runtime.ranges import ABOVE_ZERO, SEED, out_of_range, real, whole
from swiftcore.spec import SETTINGS, value_problems

RANGES = {  # what only baselines have; the other settings are those of the spec
    "inner_iterations": whole(1),
    "sweeps": whole(1),
    "random_state": SEED,
    "growth": real(1),
    "floor": ABOVE_ZERO,
}
ANY_OTHER = real(0)
# Losses square values and products of factors, and divide by both: these stay finite.
MIN_VALUE, MAX_VALUE = 1e-70, 1e70


def check_settings(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of its range."""
    own = {name: RANGES.get(name, ANY_OTHER) for name in parameters if name not in SETTINGS}
    if problems := [*value_problems(parameters), *out_of_range(parameters, own)]:
        raise InvalidSettings(problems)


def class_signs(labels: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Labels as signs, (rows x classes): +1 in the class, -1 out of it, 0 where unknown.

    Two classes make one column: +1 for the later one in sorted order. A masked label is unknown.
    """
    names = np.array([] if labels is None else labels, dtype=object)
    if isinstance(labels, np.ma.MaskedArray):
        names[np.ma.getmaskarray(labels)] = None
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
    had = usable_memory()
    if needed > had:
        cure = "This loss looks at every cell: use fewer features, or a sparse method."
        raise not_enough_memory(f"shape {tuple(shape)}", needed, had, cure)


def check_values(values: NDArray[np.float64]) -> None:
    """Raise :class:`InvalidData` when squares of the values would leave the range of numbers."""
    if values.min() < MIN_VALUE or values.max() > MAX_VALUE:
        raise refuse(
            "value-range",
            "The values are too small or too large for this method",
            "values",
            f"{values.min():.3g} to {values.max():.3g}",
            f"Divide all by a common unit, so that they lie between {MIN_VALUE:g} and "
            f"{MAX_VALUE:g}, and leave out values next to nothing.",
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
