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
    """The rows of one shard.

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
    arrays: dict[str, NDArray[Any]], manifest: Manifest, number: int, first_row: int
) -> RowBlock:
    """The tensor of one shard; raises ValueError for arrays that do not fit each other."""
    shard = manifest.shards[number]
    values = np.array(arrays["values"], dtype=np.float64)
    axes = range(1, len(manifest.features) + 1)
    features = [np.asarray(arrays[f"feature_{axis}"], dtype=np.int64) for axis in axes]
    per_row = _per_row(np.asarray(arrays["starts"]), shard.rows, shard.entries)
    if any(len(one) != shard.entries for one in (values, *features)):
        raise ValueError("arrays of different lengths")
    if not ((values > 0) & np.isfinite(values)).all():
        raise ValueError("a value that is not above 0")
    places = np.column_stack([np.repeat(np.arange(shard.rows), per_row), *features])
    _check_places(places, (shard.rows, *map(len, manifest.features)))
    places.setflags(write=False)
    values.setflags(write=False)
    labels = _texts(arrays["row_ids"], arrays["row_ids_ends"], shard.rows)
    tensor = SparseTensor((Mode(manifest.row_name, labels), *manifest.features), places, values)
    return RowBlock(first_row, tensor, _outcome(arrays, manifest, shard.rows))


def _per_row(starts: NDArray[np.int64], rows: int, entries: int) -> NDArray[np.int64]:
    """How many entries each row has."""
    per_row = np.diff(starts)
    sound = len(starts) == rows + 1 and starts[0] == 0 and starts[-1] == entries
    if not sound or (per_row < 0).any():
        raise ValueError("starts of rows that do not fit")
    return per_row


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


def _texts(run: NDArray[Any], ends: NDArray[Any], count: int) -> tuple[str, ...]:
    """Texts from one run of bytes and where each ends; raises ValueError if they do not fit."""
    edges = np.concatenate([[0], ends])
    if len(ends) != count or edges[-1] != len(run) or (np.diff(edges) < 0).any():
        raise ValueError("ends of texts that do not fit")
    content, places = run.tobytes(), edges.tolist()
    return tuple(content[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(places))


def _outcome(arrays: dict[str, NDArray[Any]], manifest: Manifest, rows: int) -> NDArray[Any] | None:
    if not manifest.outcome_kind:
        return None
    stored = np.array(arrays["outcome"])
    if len(stored) != rows:
        raise ValueError("an outcome of other rows")
    if manifest.outcome_kind == "bool":
        if (stored.view(np.uint8) > 1).any():
            raise ValueError("an outcome that is not yes or no")
        return stored
    if (stored >= len(manifest.outcome_classes)).any():
        raise ValueError("an outcome of no class")
    return np.asarray(np.array(manifest.outcome_classes)[stored])
