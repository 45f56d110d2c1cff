"""The arrays of a shard as files: written piece by piece, each with its digest."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.shards.manifest import StoredFile

PIECE = 1 << 18  # numbers that are copied at once


def write_array(path: Path, kind: str, array: NDArray[Any]) -> StoredFile:
    """An array of one dimension as a file of numbers of a type."""
    return _write(path, kind, len(array), [array])


def _write(path: Path, kind: str, length: int, pieces: Iterable[NDArray[Any]]) -> StoredFile:
    """The bytes of :func:`numpy.save`, though the array is never whole in memory."""
    header = io.BytesIO()
    about = {"descr": kind, "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(header, about)
    numbers = (piece.astype(kind).tobytes() for piece in pieces)
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        for data in chain([header.getvalue()], numbers):
            file.write(data)
            digest.update(data)
            size += len(data)
        file.flush()
        os.fsync(file.fileno())
    return StoredFile(size, digest.hexdigest())


class GrowingArray:
    """Numbers that come in parts and wait in a file: how many they are is known at the end.

    Parameters
    ----------
    waiting : Path
        The file, in a folder that is gone afterwards.
    kind : str
        The type in which they wait.
    """

    def __init__(self, waiting: Path, kind: str) -> None:
        self._waiting, self._kind = waiting, np.dtype(kind)
        self._waiting.touch()

    def add(self, numbers: NDArray[Any]) -> None:
        with self._waiting.open("ab") as file:
            numbers.astype(self._kind).tofile(file)

    def write(self, path: Path, kind: str = "") -> StoredFile:
        """All of them as an array, of another type if asked."""
        length = self._waiting.stat().st_size // self._kind.itemsize
        return _write(path, kind or self._kind.str, length, self._pieces())

    def _pieces(self) -> Iterator[NDArray[Any]]:
        with self._waiting.open("rb") as file:
            while len(piece := np.fromfile(file, self._kind, PIECE)):
                yield piece
