"""One shard that comes in parts of whole rows: what grows with its entries waits on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.shards.array_files import GrowingArray, write_array
from swiftcore.data.shards.manifest import VALUE_TYPES, WHOLE_TYPES, Shard, index_type
from swiftcore.tensor import Mode

# Ids of rows; places (row, features) of their entries, where rows count from 0; and the values.
Part = tuple[Sequence[str], NDArray[np.int64], NDArray[np.float64]]


class OneShard:
    """Takes the parts of a shard, then writes its arrays.

    Parameters
    ----------
    waiting : Path
        A folder for files in between, which is gone afterwards.
    """

    def __init__(self, waiting: Path, features: Sequence[Mode]) -> None:
        self._features = [
            GrowingArray(waiting / f"feature_{axis}", index_type(len(mode)))
            for axis, mode in enumerate(features, start=1)
        ]
        self._values = GrowingArray(waiting / "values", VALUE_TYPES[-1])
        self._value_types: set[str] = set()
        self._ids: list[bytes] = []
        self._per_row: list[NDArray[np.int64]] = []

    @property
    def rows(self) -> int:
        return len(self._ids)

    def add(self, part: Part) -> None:
        """Some more rows, with all their entries."""
        row_ids, places, values = part
        self._ids += (one.encode("utf-8", "surrogatepass") for one in row_ids)
        self._per_row.append(np.bincount(places[:, 0], minlength=len(row_ids)))
        for axis, feature in enumerate(self._features, start=1):
            feature.add(places[:, axis])
        self._values.add(values)
        if len(values):
            self._value_types.add(_value_type(values))

    def write(self, folder: Path) -> Shard:
        """All arrays but the outcome, in a new folder."""
        folder.mkdir()
        ends = np.cumsum(np.concatenate(self._per_row))
        # the widest of the parts holds them all; without entries nothing is known to be whole
        widest = max(self._value_types, key=VALUE_TYPES.index, default=VALUE_TYPES[-1])
        texts = np.frombuffer(b"".join(self._ids), "u1")
        text_ends = np.cumsum([len(one) for one in self._ids])
        files = {
            "starts": write_array(folder / "starts.npy", "<i8", np.r_[0, ends]),
            "values": self._values.write(folder / "values.npy", widest),
            "row_ids": write_array(folder / "row_ids.npy", "|u1", texts),
            "row_ids_ends": write_array(folder / "row_ids_ends.npy", "<i8", text_ends),
        }
        for axis, feature in enumerate(self._features, start=1):
            path = folder / f"feature_{axis}.npy"
            files[path.stem] = feature.write(path)
        return Shard(self.rows, int(ends[-1]), files)


def _value_type(values: NDArray[np.float64]) -> str:
    """The smallest type that holds the values as they are."""
    if (values == np.floor(values)).all():
        fitting = (kind for kind in WHOLE_TYPES if values.max() <= np.iinfo(kind).max)
        return next(fitting, VALUE_TYPES[-1])
    return VALUE_TYPES[-1]
