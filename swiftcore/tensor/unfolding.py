"""The mode-n matricization of a sparse tensor, nonzero columns only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


def unfold(
    tensor: SparseTensor, mode: int, neighbourhoods: NDArray[np.int64] | None = None
) -> Unfolding:
    """The mode-``mode`` matricization of ``tensor`` without its zero columns.

    Parameters
    ----------
    neighbourhoods : ndarray of int64, optional
        Where in the rows of the mode each neighbourhood begins, and the end. The columns of
        every neighbourhood are then columns of their own, neighbourhood after neighbourhood.
    """
    tensor.check_mode(mode)
    others = tuple(axis for axis in range(tensor.n_modes) if axis != mode)
    places = tensor.coordinates
    own, *keys = (_narrow(places[:, axis], tensor.shape[axis]) for axis in (mode, *others))
    if neighbourhoods is not None:
        found = np.searchsorted(neighbourhoods, places[:, mode], side="right")
        keys = [_narrow(found, len(neighbourhoods)), *keys]
    order = np.lexsort((own, *reversed(keys)))
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    first = np.flatnonzero(new)
    return Unfolding(
        mode=mode,
        n_rows=tensor.shape[mode],
        other_modes=others,
        column_places=places[order[first]][:, others].astype(np.int32),
        starts=np.r_[first, len(order)].astype(np.int64),
        rows=places[order, mode].astype(np.int32),
        values=tensor.values[order],
    )


def _narrow(numbers: NDArray[np.int64], most: int) -> NDArray[Any]:
    """The same in as few bytes as hold them: numbers of one or two bytes sort ten times as fast."""
    return numbers.astype(np.min_scalar_type(most))
