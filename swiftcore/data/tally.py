"""What a summary counts of a tensor, whole or in parts of whole rows: added up part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from swiftcore.tensor.sparse_tensor import SparseTensor

MAX_CLASSES = 50  # outcomes of more values are not looked at feature by feature


class Tally:
    """Counts over the parts seen so far; no part is held.

    Parameters
    ----------
    sizes : sequence of int
        How many features every feature mode has.

    Attributes
    ----------
    n_entries, largest_value
        Over all parts.
    support : list of ndarray
        For every feature mode, in how many rows each feature occurs.
    class_rows : dict of str to int
        How many rows have each value of the outcome.
    class_support : dict of str to list of ndarray
        The same as ``support`` among the rows with one value of the outcome.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.n_entries = 0
        self.largest_value = 0.0
        self.support = [np.zeros(size, dtype=np.int64) for size in sizes]
        self.class_rows: dict[str, int] = {}
        self.class_support: dict[str, list[NDArray[np.int64]]] = {}
        self._per_row: list[NDArray[np.int32]] = []

    def add(self, tensor: SparseTensor, outcome: NDArray[Any] | None) -> None:
        """Count some more rows, all features among them."""
        rows = tensor.coordinates[:, 0]
        self.n_entries += tensor.n_entries
        self.largest_value = max(self.largest_value, float(tensor.values.max(initial=0.0)))
        self._per_row.append(np.bincount(rows, minlength=tensor.shape[0]).astype(np.int32))
        presences = [_presence(tensor, mode) for mode in range(1, tensor.n_modes)]
        for support, presence in zip(self.support, presences, strict=True):
            support += presence.sum(axis=0)
        if outcome is not None:
            self._add_classes(presences, outcome)

    def _add_classes(self, presences: list[sparse.csr_array], outcome: NDArray[Any]) -> None:
        for value, count in zip(*np.unique(outcome, return_counts=True), strict=True):
            name = str(value)
            self.class_rows[name] = self.class_rows.get(name, 0) + int(count)
            if len(self.class_rows) > MAX_CLASSES:
                self.class_support.clear()
                continue
            having = (outcome == value).astype(np.int64)
            known = self.class_support.setdefault(name, [np.zeros_like(s) for s in self.support])
            for support, presence in zip(known, presences, strict=True):
                support += having @ presence

    @property
    def entries_per_row(self) -> NDArray[np.int32]:
        """How many entries each row has, in the order of the rows."""
        return np.concatenate(self._per_row)


def _presence(tensor: SparseTensor, mode: int) -> sparse.csr_array:
    """Rows x features, 1 where the row has the feature at all."""
    rows, features = tensor.coordinates[:, 0], tensor.coordinates[:, mode]
    ones = np.ones(len(rows), dtype=np.int64)
    table = sparse.csr_array((ones, (rows, features)), shape=(tensor.shape[0], tensor.shape[mode]))
    table.data[:] = 1
    return table
