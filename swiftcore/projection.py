"""New rows in the terms of a finished fit: the same features, each row described by itself.

Light: who only matches features loads no estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidData, refuse
from swiftcore.tensor import Mode, SparseTensor

if TYPE_CHECKING:
    from swiftcore.fitting import FittedModel

ROWS_AT_ONCE = 500  # projected between two signs of life


@dataclass(frozen=True, eq=False)
class KnownRows:
    """New rows in the features of a fit.

    Attributes
    ----------
    tensor : SparseTensor
        Every new row, with the features of the fit in their order.
    unknown : dict of mode name to list of str
        Features that the fit does not know; they were left out.
    left_out : int
        Entries that named such a feature.
    """

    tensor: SparseTensor
    unknown: Mapping[str, list[str]]
    left_out: int

    @property
    def empty(self) -> list[int]:
        """Rows of which nothing is known to the fit; their memberships are zero."""
        rows = np.arange(self.tensor.shape[0])
        found: list[int] = np.setdiff1d(rows, self.tensor.coordinates[:, 0]).tolist()
        return found


def on_features(tensor: SparseTensor, known: Sequence[Mode]) -> KnownRows:
    """New rows in the features of a fit, by label: unknown ones left out, missing ones zero.

    Raises
    ------
    InvalidData
        If they have another number of modes, or share no feature with the fit.
    """
    found = matched(tensor, known)
    if not found.tensor.n_entries:
        raise no_known_feature(tensor.n_entries)
    return found


def matched(tensor: SparseTensor, known: Sequence[Mode]) -> KnownRows:
    """Some of the new rows in the features of a fit; there may be nothing that the fit knows.

    Raises
    ------
    InvalidData
        If they have another number of modes.
    """
    order = _mode_order(tensor.modes, known)
    kept = np.ones(tensor.n_entries, dtype=bool)
    places, unknown = [tensor.coordinates[:, 0]], {}
    for axis, mode in zip(order, known[1:], strict=True):
        index = {label: place for place, label in enumerate(mode.labels)}
        labels = tensor.modes[axis].labels
        place = np.array([index.get(label, -1) for label in labels])[tensor.coordinates[:, axis]]
        kept &= place >= 0
        places.append(place)
        missing = [label for label in labels if label not in index]
        if missing:
            unknown[mode.name] = missing
    modes = (tensor.modes[0], *known[1:])
    coordinates = np.column_stack(places)[kept]
    mapped = SparseTensor.from_coordinates(coordinates, tensor.values[kept], modes=modes)
    return KnownRows(mapped, unknown, int((~kept).sum()))


def no_known_feature(n_entries: int) -> InvalidData:
    """New rows of which the fit knows nothing at all."""
    return refuse(
        "projection-features",
        "The new rows share no feature with the fit",
        "the new data",
        f"{n_entries:,} entries, none with known features",
        "Use the same names for features as in the data of the fit.",
    )


def project_rows(
    model: FittedModel, rows: SparseTensor, begins: Callable[[int, int], None]
) -> NDArray[np.float64]:
    """Memberships of rows that have the features of a fit, block by block.

    Parameters
    ----------
    model : FittedModel
    rows : SparseTensor
        As :func:`on_features` gives them.
    begins : callable
        Gets the rows done so far and the rows in all before each block; it may raise to stop.
    """
    count, blocks = rows.shape[0], []
    for first in range(0, count, ROWS_AT_ONCE):
        begins(first, count)
        block = rows.select(0, range(first, min(count, first + ROWS_AT_ONCE)))
        empty = np.zeros((block.shape[0], model.spec.rank))
        blocks.append(model.transform(block) if block.n_entries else empty)
    return np.vstack(blocks)


def _mode_order(modes: Sequence[Mode], known: Sequence[Mode]) -> list[int]:
    """Which mode of the new rows is which of the fit: by name if all agree, else by position."""
    if len(modes) != len(known):
        raise refuse(
            "projection-modes",
            "The new rows have another number of modes than the fit",
            "the new data",
            f"{len(modes)} modes, the fit has {len(known)}",
            "Load data of the same kind as those of the fit.",
        )
    mine, theirs = [mode.name for mode in modes[1:]], [mode.name for mode in known[1:]]
    if sorted(mine) == sorted(theirs) and len(set(mine)) == len(mine):
        return [1 + mine.index(name) for name in theirs]
    return list(range(1, len(modes)))
