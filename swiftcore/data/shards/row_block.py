"""One shard as a tensor: whatever its arrays hold, they are checked before they are used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.shards.manifest import Manifest
from swiftcore.tensor import Mode, SparseTensor


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of one shard that follow each other: usually all.

    Attributes
    ----------
    first_row : int
        Which row of the data set is row 0 of ``tensor``.
    tensor : SparseTensor
        Its first mode are these rows; its feature modes are those of the whole data set.
    outcome : ndarray or None
        One bool or text per row.
    """

    first_row: int
    tensor: SparseTensor
    outcome: NDArray[Any] | None


def read_block(
    arrays: dict[str, NDArray[Any]],
    manifest: Manifest,
    number: int,
    first_row: int,
    run: tuple[int, int],
) -> RowBlock:
    """Some rows of a shard as a tensor; raises ValueError for arrays that do not fit each other.

    Parameters
    ----------
    first_row : int
        Which row of the data set the first one of the shard is.
    run : tuple of int
        The first row that is wanted, and the first one that is not.
    """
    shard = manifest.shards[number]
    axes = range(1, len(manifest.features) + 1)
    entries = [arrays["values"], *(arrays[f"feature_{axis}"] for axis in axes)]
    starts = np.asarray(arrays["starts"])
    check_starts(starts, shard.rows, shard.entries)
    if any(len(one) != shard.entries for one in entries):
        raise ValueError("arrays of different lengths")
    begin, end = run
    here = slice(int(starts[begin]), int(starts[end]))
    values = np.array(entries[0][here], dtype=np.float64)
    if not ((values > 0) & np.isfinite(values)).all():
        raise ValueError("a value that is not above 0")
    rows = np.repeat(np.arange(end - begin), np.diff(starts[begin : end + 1]))
    places = np.column_stack([rows, *(np.asarray(one[here], np.int64) for one in entries[1:])])
    _check_places(places, (end - begin, *map(len, manifest.features)))
    places.setflags(write=False)
    values.setflags(write=False)
    labels = _texts(arrays["row_ids"], arrays["row_ids_ends"], shard.rows, run)
    tensor = SparseTensor((Mode(manifest.row_name, labels), *manifest.features), places, values)
    return RowBlock(first_row + begin, tensor, _outcome(arrays, manifest, shard.rows, run))


def check_starts(starts: NDArray[np.int64], rows: int, entries: int) -> None:
    """They begin and end where the entries do, and never fall."""
    sound = len(starts) == rows + 1 and starts[0] == 0 and starts[-1] == entries
    if not sound or (np.diff(starts) < 0).any():
        raise ValueError("starts of rows that do not fit")


def _check_places(places: NDArray[np.int64], shape: tuple[int, ...]) -> None:
    """Inside the shape, sorted, and no two alike."""
    if (places >= np.array(shape)).any():
        raise ValueError("a feature that does not exist")
    if math.prod(shape) < 2**62:
        rising = np.diff(np.ravel_multi_index(tuple(places.T), shape)) > 0
    else:
        steps = np.diff(places, axis=0)
        first = np.argmax(steps != 0, axis=1)  # the first mode in which two neighbours differ
        rising = steps[np.arange(len(steps)), first] > 0
    if not rising.all():
        raise ValueError("entries out of order")


def _texts(
    stored: NDArray[Any], ends: NDArray[Any], count: int, run: tuple[int, int]
) -> tuple[str, ...]:
    """Some texts of one string of bytes, of which it is known where each ends."""
    edges = np.concatenate([[0], ends])
    if len(ends) != count or edges[-1] != len(stored) or (np.diff(edges) < 0).any():
        raise ValueError("ends of texts that do not fit")
    content, places = stored.tobytes(), edges[run[0] : run[1] + 1].tolist()
    return tuple(content[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(places))


def _outcome(
    arrays: dict[str, NDArray[Any]], manifest: Manifest, rows: int, run: tuple[int, int]
) -> NDArray[Any] | None:
    if not manifest.outcome_kind:
        return None
    stored = np.array(arrays["outcome"])
    if len(stored) != rows:
        raise ValueError("an outcome of other rows")
    stored = stored[slice(*run)]
    if manifest.outcome_kind == "bool":
        if (stored.view(np.uint8) > 1).any():
            raise ValueError("an outcome that is not yes or no")
        return stored
    if (stored >= len(manifest.outcome_classes)).any():
        raise ValueError("an outcome of no class")
    return np.asarray(np.array(manifest.outcome_classes)[stored])
