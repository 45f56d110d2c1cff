"""Rows of a tensor as one sparse matrix: what each row has, or its unfolding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.errors import refuse
from swiftcore.tensor import SparseTensor
from swiftcore.tensor.row_checks import check_features


@dataclass(frozen=True, eq=False)
class RowUnfolding:
    """The tensor as a matrix, rows against combinations of features, as in the paper.

    Only combinations that some training row has become columns; any others that later rows
    bring are left out, since nothing can have been learnt about them.

    Attributes
    ----------
    columns : ndarray of int64
        Combinations as flat indices over the feature modes, the last moving fastest; sorted.
    training : SparseTensor
        What they were taken from.
    """

    columns: NDArray[np.int64]
    training: SparseTensor

    @classmethod
    def of(cls, training: SparseTensor) -> RowUnfolding:
        """Learn the columns from training rows."""
        return cls(np.unique(_flat_features(training)), training)

    def __call__(self, tensor: SparseTensor) -> sparse.csr_array:
        """Rows of any tensor with the same features, (rows x columns)."""
        check_features(self.training.modes, tensor)
        flat = _flat_features(tensor)
        place = np.minimum(np.searchsorted(self.columns, flat), len(self.columns) - 1)
        known = self.columns[place] == flat
        return _matrix(
            tensor.values[known],
            tensor.coordinates[known, 0],
            place[known],
            (tensor.shape[0], len(self.columns)),
        )


def indicators(tensor: SparseTensor) -> sparse.csr_array:
    """Which features each row has, all modes side by side: (rows x features), 0 or 1."""
    rows, columns, begin = [], [], 0
    for mode in range(1, tensor.n_modes):
        pairs = np.unique(tensor.coordinates[:, [0, mode]], axis=0)
        rows.append(pairs[:, 0])
        columns.append(pairs[:, 1] + begin)
        begin += tensor.shape[mode]
    row, column = np.concatenate(rows), np.concatenate(columns)
    return _matrix(np.ones(len(row)), row, column, (tensor.shape[0], begin))


def _flat_features(tensor: SparseTensor) -> NDArray[np.int64]:
    """One number per entry for its combination of features."""
    sizes = tensor.shape[1:]
    if float(np.prod([float(size) for size in sizes])) >= 2.0**63:
        raise refuse(
            "unfolding-size",
            "The row unfolding has more columns than can be numbered",
            "modes after the first",
            f"sizes {sizes}",
            "Use the indicators instead.",
        )
    places = tuple(tensor.coordinates[:, mode] for mode in range(1, tensor.n_modes))
    return np.asarray(np.ravel_multi_index(places, sizes), dtype=np.int64)


def _matrix(
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    shape: tuple[int, int],
) -> sparse.csr_array:
    """Compressed rows with 32-bit indices, the only ones that liblinear takes."""
    made = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=shape))
    made.sort_indices()
    made.indices, made.indptr = made.indices.astype(np.int32), made.indptr.astype(np.int32)
    return made
