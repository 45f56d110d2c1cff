"""A sparse nonnegative tensor: sorted coordinates, values, and a name for every index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.errors import refuse
from swiftcore.tensor import convert
from swiftcore.tensor.entry_checks import (
    checked_coordinates,
    checked_selection,
    checked_shape,
    checked_values,
)
from swiftcore.tensor.mode import Mode

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse


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
        places = checked_coordinates(coordinates)
        numbers = checked_values(values, len(places))
        sizes = checked_shape(places, shape, modes)
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
        chosen = checked_selection(indices, size, mode)
        if mode == 0 and len(chosen) and (np.diff(chosen) == 1).all():
            return self._rows(int(chosen[0]), int(chosen[-1]) + 1)
        new_index = np.full(size, -1, dtype=np.int64)
        new_index[chosen] = np.arange(len(chosen))
        kept = new_index[self.coordinates[:, mode]] >= 0
        places = self.coordinates[kept].copy()
        places[:, mode] = new_index[places[:, mode]]
        old = self.modes[mode]
        renamed = Mode(old.name, tuple(old.labels[index] for index in chosen))
        modes = (*self.modes[:mode], renamed, *self.modes[mode + 1 :])
        order = np.lexsort(places.T[::-1])
        return SparseTensor(modes, _locked(places[order]), _locked(self.values[kept][order]))

    def _rows(self, first: int, last: int) -> SparseTensor:
        """Rows that follow each other; so do their entries."""
        entries = slice(*np.searchsorted(self.coordinates[:, 0], [first, last]).tolist())
        places = self.coordinates[entries].copy()
        places[:, 0] -= first
        rows = Mode(self.modes[0].name, self.modes[0].labels[first:last])
        values = self.values[entries].copy()
        return SparseTensor((rows, *self.modes[1:]), _locked(places), _locked(values))

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

    def to_frame(self) -> pd.DataFrame:
        """A long table: one row per entry, a column of labels per mode, then the value."""
        return convert.to_frame(self)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> SparseTensor:
        """Build a tensor from a long table: a column of labels per mode, then the value."""
        places, values, modes = convert.entries_of_frame(frame)
        return cls.from_coordinates(places, values, modes=[Mode(*mode) for mode in modes])

    def to_scipy(self) -> scipy.sparse.coo_array:
        """A tensor of two modes as a scipy array; its labels stay behind."""
        return convert.to_scipy(self)

    @classmethod
    def from_scipy(cls, array: Any, modes: Sequence[Mode] | None = None) -> SparseTensor:
        """Build a tensor from a sparse array of scipy or pydata; `modes` brings the labels."""
        places, values, shape = convert.entries_of_array(array)
        return cls.from_coordinates(places, values, shape, modes)

    def to_sparse(self) -> Any:
        """The tensor as a ``sparse.COO`` array of pydata; its labels stay behind."""
        return convert.to_sparse(self)

    from_sparse = from_scipy

    def digest(self) -> str:
        """SHA-256 over shape, labels, coordinates and values; entry order never matters."""
        return digest_of_blocks(self.modes, lambda: [self])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensor) and self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        sizes = " x ".join(f"{len(mode)} {mode.name}" for mode in self.modes)
        return f"SparseTensor({sizes}; {self.n_entries} entries)"


def digest_of_blocks(modes: Sequence[Mode], blocks: Callable[[], Iterable[SparseTensor]]) -> str:
    """The digest of a tensor of which only some rows are at hand at a time.

    Parameters
    ----------
    modes : sequence of Mode
        Of the whole tensor.
    blocks : callable
        Gives all rows in their order, anew whenever it is called; each block counts its own.
    """
    sha = hashlib.sha256(b"SparseTensor 1")
    for mode in modes:
        for text in (mode.name, *mode.labels):
            encoded = text.encode("utf-8", "surrogatepass")
            sha.update(len(encoded).to_bytes(8, "little") + encoded)
        sha.update(len(mode).to_bytes(8, "little"))
    first = 0
    for block in blocks():
        places = np.ascontiguousarray(block.coordinates, dtype="<i8")
        if first:
            places = places + np.eye(1, block.n_modes, dtype="<i8") * first
        sha.update(places.tobytes())
        first += block.shape[0]
    for block in blocks():
        sha.update(np.ascontiguousarray(block.values, dtype="<f8").tobytes())
    return sha.hexdigest()


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


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
