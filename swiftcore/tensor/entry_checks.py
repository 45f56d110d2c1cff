"""What a sparse tensor asks of the coordinates, values, shape and labels it is built from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.errors import InvalidData, Problem, refuse, where_list
from swiftcore.tensor.masks import refuse_masked
from swiftcore.tensor.mode import Mode

MAX_UNNAMED = 10_000_000  # beyond it an index is a slip rather than a size
MAX_MODE = 2**31 - 1  # indices are stored as 32-bit integers in the unfoldings


def checked_coordinates(coordinates: ArrayLike) -> NDArray[np.int64]:
    """The coordinates as a table of indices, copied; raise :class:`InvalidData` otherwise."""
    refuse_masked(coordinates, "coordinates")
    places: NDArray[Any] = np.asarray(coordinates)
    if places.ndim != 2 or not places.shape[1] >= 2:
        raise refuse(
            "coordinate-shape",
            "Coordinates must be a table with one row per entry",
            "coordinates",
            f"an array of shape {places.shape}",
            "Give one column of indices per mode, at least two modes.",
        )
    if not _whole(places):
        raise refuse(
            "coordinate-type",
            "Coordinates must be whole numbers",
            "coordinates",
            f"data of type {places.dtype}",
            "Give integer indices counted from 0.",
        )
    if places.size and (places.min() < 0 or places.max() > MAX_MODE):
        bad = np.flatnonzero(((places < 0) | (places > MAX_MODE)).any(axis=1))
        raise refuse(
            "coordinate-range",
            "An index lies outside what a mode can hold",
            f"entries {where_list(bad)}",
            f"{places.min()} to {places.max()}",
            "Count indices from 0 and close large gaps.",
        )
    return np.array(places, dtype=np.int64, copy=True)


def _whole(places: NDArray[Any]) -> bool:
    """Whether all are whole numbers, be they stored as floats."""
    if places.dtype.kind in "iu":
        return True
    finite = places.dtype.kind == "f" and bool(np.isfinite(places).all())
    return finite and bool(np.all(np.mod(places, 1) == 0))


def checked_values(values: ArrayLike, n_entries: int) -> NDArray[np.float64]:
    """The values as floats of 0 or more; raise :class:`InvalidData` otherwise."""
    refuse_masked(values, "values")
    raw: NDArray[Any] = np.asarray(values)
    if raw.ndim != 1 or raw.dtype.kind not in "biuf":
        raise refuse(
            "value-type",
            "Values must be a list of real numbers",
            "values",
            f"data of type {raw.dtype} and shape {raw.shape}",
            "Give one int, float or bool per entry.",
        )
    if len(raw) != n_entries:
        raise refuse(
            "value-count",
            "There must be one value per entry",
            "values",
            f"{len(raw)} values for {n_entries} coordinates",
            "Make the two equally long.",
        )
    numbers = raw.astype(np.float64)
    _stop_at(_unusable_values(numbers))
    return numbers


def _unusable_values(numbers: NDArray[np.float64]) -> list[Problem]:
    checks = (
        ("value-nan", np.isnan(numbers), "NaN", "Leave out entries that were not measured."),
        ("value-infinite", np.isinf(numbers), "infinity", "Replace it by a finite value."),
        ("value-negative", numbers < 0, "values below 0", "SWIFT needs values of 0 or more."),
    )
    return [
        Problem(
            code,
            "A value cannot be used",
            f"entries {where_list(np.flatnonzero(bad))}",
            found,
            cure,
        )
        for code, bad, found, cure in checks
        if bad.any()
    ]


def checked_shape(
    places: NDArray[np.int64], shape: Sequence[int] | None, modes: Sequence[Mode] | None
) -> tuple[int, ...]:
    """The size of every mode, from the shape, the labels or the largest index.

    Raises
    ------
    InvalidData
        With every disagreement between shape, labels and coordinates.
    """
    if shape is None:
        shape = _largest_indices(places) if modes is None else [len(mode) for mode in modes]
    sizes = tuple(int(size) for size in shape)
    problems = _unfit_shape(sizes, places.shape[1], modes) or _outside(places, sizes)
    _stop_at(problems + _repeated_labels(modes or ()))
    return sizes


def _largest_indices(places: NDArray[np.int64]) -> list[int]:
    """The smallest shape that holds every entry."""
    if not len(places):
        raise refuse(
            "no-entries",
            "The tensor is empty and has no shape",
            "coordinates",
            "0 entries",
            "Give entries, or the shape.",
        )
    shape = [int(top) + 1 for top in places.max(axis=0)]
    if max(shape) > MAX_UNNAMED:
        raise refuse(
            "index-stray",
            "An index is far beyond any size seen so far",
            f"mode {shape.index(max(shape)) + 1}",
            f"index {max(shape) - 1}",
            "Correct it, or give the shape or the modes if it is meant.",
        )
    return shape


def _unfit_shape(
    sizes: tuple[int, ...], n_modes: int, modes: Sequence[Mode] | None
) -> list[Problem]:
    """A shape of another length than the coordinates, or of other sizes than the labels."""
    if len(sizes) != n_modes:
        return [
            Problem(
                "mode-count",
                "The shape does not fit the coordinates",
                "shape",
                f"{len(sizes)} sizes for {n_modes} columns of indices",
                "Give one size (and one Mode) per column.",
            )
        ]
    if modes is not None and sizes != tuple(len(mode) for mode in modes):
        return [
            Problem(
                "label-count",
                "Every index needs exactly one label",
                "modes",
                f"shape {sizes} but {[len(mode) for mode in modes]} labels",
                "Make labels and shape agree.",
            )
        ]
    return []


def _outside(places: NDArray[np.int64], sizes: tuple[int, ...]) -> list[Problem]:
    """Modes without any index, and indices beyond the size of their mode."""
    problems = []
    for axis, size in enumerate(sizes):
        outside = np.flatnonzero(places[:, axis] >= size)
        if size < 1:
            problems.append(
                Problem(
                    "mode-empty",
                    "A mode has no index at all",
                    f"mode {axis + 1}",
                    f"size {size}",
                    "Give every mode at least one index.",
                )
            )
        elif len(outside):
            problems.append(
                Problem(
                    "index-outside",
                    "An index lies outside the shape",
                    f"mode {axis + 1}, entries {where_list(outside)}",
                    f"index {places[outside[0], axis]} in a mode of size {size}",
                    "Enlarge the shape or correct the index.",
                )
            )
    return problems


def _repeated_labels(modes: Sequence[Mode]) -> list[Problem]:
    """Two indices of one name cannot be told apart afterwards."""
    problems = []
    for axis, mode in enumerate(modes):
        if len(set(mode.labels)) < len(mode.labels):
            twice = [label for label, count in Counter(mode.labels).items() if count > 1]
            problems.append(
                Problem(
                    "label-twice",
                    "Two indices have the same label",
                    f"mode {axis + 1} ({mode.name})",
                    where_list(map(repr, twice)),
                    "Give every index a label of its own.",
                )
            )
    return problems


def _stop_at(problems: list[Problem]) -> None:
    if problems:
        raise InvalidData(problems)


def checked_selection(indices: ArrayLike, size: int, mode: int) -> NDArray[np.int64]:
    """Distinct indices of one mode, from a list of them or from one bool per index.

    Raises
    ------
    InvalidData
        When they are no indices, lie outside the mode, or name one twice.
    """
    chosen = _chosen_indices(indices, size, mode)
    if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= size:
        raise refuse(
            "select-range",
            "The selection does not fit the mode",
            f"mode {mode + 1}",
            "no index" if chosen.size == 0 else f"{chosen.min()} to {chosen.max()}",
            f"Choose at least one index from 0 to {size - 1}.",
        )
    if np.count_nonzero(np.bincount(chosen)) != len(chosen):
        raise refuse(
            "select-twice",
            "An index is selected twice",
            f"mode {mode + 1}",
            f"{len(chosen)} indices, fewer distinct",
            "Name each index once.",
        )
    return chosen


def _chosen_indices(indices: ArrayLike, size: int, mode: int) -> NDArray[np.int64]:
    refuse_masked(indices, f"indices of mode {mode + 1}")
    chosen: NDArray[Any] = np.asarray(indices)
    if chosen.dtype == bool and chosen.shape == (size,):
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise refuse(
            "select-type",
            "A selection is a list of indices or one bool per index",
            f"mode {mode + 1}",
            f"data of type {chosen.dtype} and shape {chosen.shape}",
            f"Give whole numbers, or {size} bools.",
        )
    return chosen.astype(np.int64)
