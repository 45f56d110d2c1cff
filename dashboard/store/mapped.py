"""Large arrays on the disk instead of in memory, so that a page reads only the rows it shows.

Many rows are kept by the server for as long as it runs, and a page looks at fifty of them. The
file behind an array has no name: it is nobody else's, and goes with the process.
"""

from __future__ import annotations

import mmap
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.store.results import FittedRun, Projection
from swiftcore.data.dataset import Dataset
from swiftcore.data.side_tables import DatedEvents

LARGE = 4_000_000  # bytes; smaller arrays stay in memory


def mapped_array(array: NDArray[Any], folder: Path) -> NDArray[Any]:
    """The same numbers, read from the disk when they are looked at; small arrays as they are.

    A disk that takes nothing leaves the array where it is.
    """
    if array.nbytes < LARGE or array.dtype.hasobject:
        return array
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            np.ascontiguousarray(array).tofile(file)
            file.flush()
            pages = mmap.mmap(file.fileno(), array.nbytes, access=mmap.ACCESS_READ)
    except OSError:
        return array
    return np.frombuffer(pages, dtype=array.dtype).reshape(array.shape)


def mapped_dataset(dataset: Dataset, folder: Path) -> Dataset:
    """A data set whose entries and dated events are read from the disk."""
    tensor, events = dataset.tensor, dataset.side.events
    places, values = (mapped_array(part, folder) for part in (tensor.coordinates, tensor.values))
    if events is not None:
        parts = (events.row, events.mode, events.feature, events.date)
        events = DatedEvents(*(mapped_array(part, folder) for part in parts))
    return replace(
        dataset,
        tensor=replace(tensor, coordinates=places, values=values),
        side=replace(dataset.side, events=events),
    )


def mapped_projection(rows: Projection, folder: Path) -> Projection:
    """New rows whose memberships and entries are read from the disk."""
    parts = (rows.memberships, rows.coordinates, rows.values)
    memberships, places, values = (mapped_array(part, folder) for part in parts)
    return replace(rows, memberships=memberships, coordinates=places, values=values)


def mapped_fit(fit: FittedRun, folder: Path) -> FittedRun:
    """A fit whose memberships are read from the disk."""
    return replace(fit, factors=[mapped_array(fit.factors[0], folder), *fit.factors[1:]])
