"""A sparse nonnegative tensor: sorted coordinates, values, and a name for every index."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.errors import InvalidData, Problem, refuse, where_list

MAX_UNNAMED = 10_000_000  # beyond it an index is a slip rather than a size
MAX_MODE = 2**31 - 1  # indices are stored as 32-bit integers in the unfoldings


@dataclass(frozen=True)
class Mode:
    """One axis of a tensor: what it holds and what each index is called."""

    name: str
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Labels are text, whatever list or array they came in."""
        object.__setattr__(self, "labels", tuple(str(label) for label in self.labels))

    @classmethod
    def numbered(cls, name: str, size: int) -> Mode:
        """A mode whose indices have no names of their own."""
        return cls(name, tuple(str(index) for index in range(size)))

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class SparseTensor:
    """A sparse nonnegative tensor with labelled modes.

    Make one with :meth:`from_coordinates`, which checks, sums duplicates, drops
    explicit zeros and sorts; the constructor itself trusts its arguments.

    Attributes
    ----------
    modes : tuple of Mode
        Names and labels, one per axis; the shape follows from them.
    coordinates : ndarray of int64, (entries, modes)
        Sorted by the first mode, then the second, and so on; no two alike.
    values : ndarray of float64, (entries,)
        Positive and finite.
    """

    modes: tuple[Mode, ...]
    coordinates: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def from_coordinates(
        cls,
        coordinates: ArrayLike,
        values: ArrayLike,
        shape: Sequence[int] | None = None,
        modes: Sequence[Mode] | None = None,
    ) -> SparseTensor:
        """Build a tensor from (entries x modes) indices and one value per entry.

        Values at the same place are summed; the order of entries does not matter.

        Raises
        ------
        InvalidData
            With every problem found: wrong types or lengths, indices outside the
            shape, values that are negative, NaN or infinite.
        """
        places = _checked_coordinates(coordinates)
        numbers = _checked_values(values, len(places))
        sizes = _checked_shape(places, shape, modes)
        if modes is None:
            modes = [Mode.numbered(f"mode {axis + 1}", size) for axis, size in enumerate(sizes)]
        places, numbers = _summed(places, numbers)
        return cls(tuple(modes), _locked(places), _locked(numbers))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(mode) for mode in self.modes)

    @property
    def n_modes(self) -> int:
        return len(self.modes)

    @property
    def n_entries(self) -> int:
        return len(self.values)

    @property
    def density(self) -> float:
        """Share of the cells that hold a value."""
        return float(self.n_entries / np.prod([float(size) for size in self.shape]))

    def select(self, mode: int, indices: ArrayLike) -> SparseTensor:
        """The part of the tensor at the given indices of one mode, in the given order."""
        self.check_mode(mode)
        size = self.shape[mode]
        chosen = _checked_selection(indices, size, mode)
        if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= size:
            found = "no index" if chosen.size == 0 else f"{chosen.min()} to {chosen.max()}"
            raise refuse(
                "select-range",
                "The selection does not fit the mode",
                f"mode {mode + 1}",
                found,
                f"Choose at least one index from 0 to {size - 1}.",
            )
        new_index = np.full(size, -1, dtype=np.int64)
        new_index[chosen] = np.arange(len(chosen))
        if np.count_nonzero(new_index >= 0) != len(chosen):
            raise refuse(
                "select-twice",
                "An index is selected twice",
                f"mode {mode + 1}",
                f"{len(chosen)} indices, fewer distinct",
                "Name each index once.",
            )
        kept = new_index[self.coordinates[:, mode]] >= 0
        places = self.coordinates[kept].copy()
        places[:, mode] = new_index[places[:, mode]]
        old = self.modes[mode]
        renamed = Mode(old.name, tuple(old.labels[index] for index in chosen))
        modes = (*self.modes[:mode], renamed, *self.modes[mode + 1 :])
        order = np.lexsort(places.T[::-1])
        return SparseTensor(modes, _locked(places[order]), _locked(self.values[kept][order]))

    def check_mode(self, mode: int) -> None:
        """Raise :class:`InvalidData` unless the tensor has such a mode; modes count from 0."""
        if not 0 <= mode < self.n_modes:
            raise refuse(
                "mode-outside",
                "The tensor has no such mode",
                "mode",
                str(mode),
                f"Choose one from 0 to {self.n_modes - 1}.",
            )

    def to_dense(self) -> NDArray[np.float64]:
        """The full array; for small tensors only."""
        dense = np.zeros(self.shape)
        dense[tuple(self.coordinates.T)] = self.values
        return dense

    def digest(self) -> str:
        """SHA-256 over shape, labels, coordinates and values; entry order never matters."""
        sha = hashlib.sha256(b"SparseTensor 1")
        for mode in self.modes:
            for text in (mode.name, *mode.labels):
                encoded = text.encode("utf-8", "surrogatepass")
                sha.update(len(encoded).to_bytes(8, "little") + encoded)
            sha.update(len(mode).to_bytes(8, "little"))
        sha.update(np.ascontiguousarray(self.coordinates, dtype="<i8").tobytes())
        sha.update(np.ascontiguousarray(self.values, dtype="<f8").tobytes())
        return sha.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensor) and self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        sizes = " x ".join(f"{len(mode)} {mode.name}" for mode in self.modes)
        return f"SparseTensor({sizes}; {self.n_entries} entries)"


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _checked_selection(indices: ArrayLike, size: int, mode: int) -> NDArray[np.int64]:
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


def _checked_coordinates(coordinates: ArrayLike) -> NDArray[np.int64]:
    places: NDArray[Any] = np.asarray(coordinates)
    if places.ndim != 2 or not places.shape[1] >= 2:
        raise refuse(
            "coordinate-shape",
            "Coordinates must be a table with one row per entry",
            "coordinates",
            f"an array of shape {places.shape}",
            "Give one column of indices per mode, at least two modes.",
        )
    if places.dtype.kind not in "iu":
        whole = (
            places.dtype.kind == "f"
            and bool(np.isfinite(places).all())
            and bool(np.all(np.mod(places, 1) == 0))
        )
        if not whole:
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


def _checked_values(values: ArrayLike, n_entries: int) -> NDArray[np.float64]:
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
    problems = []
    for code, bad, found, cure in (
        ("value-nan", np.isnan(numbers), "NaN", "Leave out entries that were not measured."),
        ("value-infinite", np.isinf(numbers), "infinity", "Replace it by a finite value."),
        ("value-negative", numbers < 0, "values below 0", "SWIFT needs values of 0 or more."),
    ):
        if bad.any():
            where = f"entries {where_list(np.flatnonzero(bad))}"
            problems.append(Problem(code, "A value cannot be used", where, found, cure))
    if problems:
        raise InvalidData(problems)
    return numbers


def _checked_shape(
    places: NDArray[np.int64], shape: Sequence[int] | None, modes: Sequence[Mode] | None
) -> tuple[int, ...]:
    if shape is None and modes is not None:
        shape = [len(mode) for mode in modes]
    if shape is None:
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
    sizes = tuple(int(size) for size in shape)
    problems = []
    if len(sizes) != places.shape[1]:
        problems.append(
            Problem(
                "mode-count",
                "The shape does not fit the coordinates",
                "shape",
                f"{len(sizes)} sizes for {places.shape[1]} columns of indices",
                "Give one size (and one Mode) per column.",
            )
        )
    elif modes is not None and sizes != tuple(len(mode) for mode in modes):
        problems.append(
            Problem(
                "label-count",
                "Every index needs exactly one label",
                "modes",
                f"shape {sizes} but {[len(mode) for mode in modes]} labels",
                "Make labels and shape agree.",
            )
        )
    else:
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
    problems += _repeated_labels(modes or ())
    if problems:
        raise InvalidData(problems)
    return sizes


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


def _summed(
    places: NDArray[np.int64], numbers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sort, add up what stands at the same place, drop zeros.

    Equal places are added in order of their value, so that even the rounding of the
    sum does not depend on the order in which entries came.
    """
    order = np.lexsort((numbers, *places.T[::-1]))
    places, numbers = places[order], numbers[order]
    if len(numbers):
        first = np.flatnonzero(np.r_[True, np.any(np.diff(places, axis=0) != 0, axis=1)])
        with np.errstate(over="ignore"):  # refused below, in words
            places, numbers = places[first], np.add.reduceat(numbers, first)
    if not np.isfinite(numbers).all():
        raise refuse(
            "value-sum",
            "Values at one place add up beyond what a number can hold",
            f"entry {tuple(places[~np.isfinite(numbers)][0])}",
            "an infinite sum",
            "Divide all values by a common unit.",
        )
    kept = numbers > 0
    return np.ascontiguousarray(places[kept]), numbers[kept]
