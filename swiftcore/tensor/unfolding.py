"""The mode-n matricization of a sparse tensor, nonzero columns only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.tensor.sparse_tensor import SparseTensor


@dataclass(frozen=True, eq=False)
class Unfolding:
    """One mode against all others, stored column by column; zero columns are left out.

    Attributes
    ----------
    mode : int
        The mode that became the rows.
    n_rows : int
        Its size.
    other_modes : tuple of int
        The modes whose indices together name a column, ascending.
    column_places : ndarray of int32, (columns, modes - 1)
        The index of each column in each of the other modes; sorted.
    starts : ndarray of int64, (columns + 1,)
        Entries ``starts[j]:starts[j + 1]`` belong to column j.
    rows : ndarray of int32, (entries,)
    values : ndarray of float64, (entries,)
    """

    mode: int
    n_rows: int
    other_modes: tuple[int, ...]
    column_places: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        return len(self.column_places)

    @property
    def n_entries(self) -> int:
        return len(self.values)


def unfold(tensor: SparseTensor, mode: int) -> Unfolding:
    """The mode-``mode`` matricization of ``tensor`` without its zero columns."""
    tensor.check_mode(mode)
    others = tuple(axis for axis in range(tensor.n_modes) if axis != mode)
    places = tensor.coordinates
    order = np.lexsort((places[:, mode], *(places[:, axis] for axis in reversed(others))))
    columns = places[order][:, others]
    new = np.r_[True, np.any(np.diff(columns, axis=0) != 0, axis=1)][: len(columns)]
    first = np.flatnonzero(new)
    return Unfolding(
        mode=mode,
        n_rows=tensor.shape[mode],
        other_modes=others,
        column_places=columns[first].astype(np.int32),
        starts=np.r_[first, len(columns)].astype(np.int64),
        rows=places[order, mode].astype(np.int32),
        values=tensor.values[order],
    )
