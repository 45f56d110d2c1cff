"""How large a tensor is, in the few numbers that its memory hangs on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from swiftcore.tensor.sparse_tensor import SparseTensor

SHARED = 0.5  # of the columns that blocks would hold if entries fell on columns at random


@dataclass(frozen=True)
class TensorSize:
    """A tensor without its numbers.

    Attributes
    ----------
    shape : tuple of int
    entries : int
        Nonzeros.
    columns : tuple of int
        For each mode, how many columns of its unfolding hold anything.
    longest : tuple of int
        For each mode, the nonzeros of the fullest column of its unfolding.
    names : tuple of str
        Of the modes, where they are known.
    """

    shape: tuple[int, ...]
    entries: int
    columns: tuple[int, ...]
    longest: tuple[int, ...]
    names: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, tensor: SparseTensor) -> TensorSize:
        """The size of a tensor; takes as long as sorting its entries once per mode."""
        fillings = [_column_fillings(tensor, mode) for mode in range(tensor.n_modes)]
        return cls(
            tensor.shape,
            tensor.n_entries,
            tuple(len(filling) for filling in fillings),
            tuple(int(filling.max(initial=0)) for filling in fillings),
            tuple(mode.name for mode in tensor.modes),
        )

    def __str__(self) -> str:
        return " x ".join(f"{length:,}" for length in self.shape)

    def with_rows(self, rows: int) -> TensorSize:
        """The size that a part of the rows would have, if they are all alike."""
        share = rows / self.shape[0]
        entries = round(share * self.entries)
        return TensorSize(
            (rows, *self.shape[1:]),
            entries,
            (min(entries, self.columns[0]), *(round(share * one) for one in self.columns[1:])),
            (round(share * self.longest[0]), *self.longest[1:]),
            self.names,
        )

    def in_blocks(self, blocks: int) -> TensorSize:
        """With the rows cut into blocks: each block has columns of its own among the rows.

        How many, is told from the mean filling: as if entries fell on columns at random, but
        some columns are fuller than others, and similar rows share them.
        """
        if blocks == 1 or not self.columns[0]:
            return self
        per_block = self.entries / blocks
        held = self.columns[0] * -math.expm1(-per_block / self.columns[0])
        columns = min(self.entries, round(SHARED * blocks * held))
        return replace(self, columns=(columns, *self.columns[1:]))


def _column_fillings(tensor: SparseTensor, mode: int) -> NDArray[np.int64]:
    """The nonzeros of each column of an unfolding that has any."""
    others = [tensor.coordinates[:, axis] for axis in range(tensor.n_modes) if axis != mode]
    order = np.lexsort(others)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for places in others:
        new[1:] |= np.diff(places[order]) != 0
    return np.asarray(np.diff(np.flatnonzero(new), append=len(order)))
