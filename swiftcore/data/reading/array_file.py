"""Arrays from .npz files without trust: headers are checked before anything is allocated."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.reading.source import Budget
from swiftcore.data.reading.unpacking import check_entries
from swiftcore.errors import InvalidData, refuse

MAX_ARRAYS = 1_000
MAX_HEADER = 10_000
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
DAMAGE = (  # what zipfile and numpy raise at bytes they cannot read
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    OSError,
    EOFError,
    KeyError,
    SyntaxError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    OverflowError,
)


def read_arrays(data: bytes, name: str, budget: Budget) -> dict[str, NDArray[Any]]:
    """All arrays of an .npz; pickled ones are refused unopened.

    Raises
    ------
    InvalidData
        When the archive is damaged, holds Python objects, or announces more than the budget
        or other than its entries can hold.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_all(archive, name, budget)
    except InvalidData:
        raise
    except DAMAGE as error:
        raise refuse(
            "npz-damaged",
            "The .npz file cannot be read",
            name,
            (str(error).splitlines() or ["an error"])[0][:200],
            "Save the arrays again with numpy.savez.",
        ) from error


def _read_all(archive: zipfile.ZipFile, name: str, budget: Budget) -> dict[str, NDArray[Any]]:
    entries = archive.infolist()
    if len(entries) > MAX_ARRAYS:
        raise refuse(
            "too-many-files",
            "There are too many arrays",
            name,
            f"{len(entries):,} arrays",
            "Save coordinates, values and labels only.",
        )
    check_entries(entries, name)
    return {
        entry.filename.removesuffix(".npy"): _read_one(archive, entry, name, budget)
        for entry in entries
    }


def _read_one(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, budget: Budget
) -> NDArray[Any]:
    where = f"{name}, array {entry.filename.removesuffix('.npy')[:60]}"
    budget.check_announced(entry.file_size, where)
    with archive.open(entry) as handle:
        shape, order, kind = _read_header(handle, where)
        needed = math.prod(int(size) for size in shape) * kind.itemsize
        if needed > entry.file_size:
            raise refuse(
                "npz-lies",
                "An array announces more than the file holds",
                where,
                f"{needed:,} bytes announced, {entry.file_size:,} there",
                "Save the arrays again with numpy.savez.",
            )
        content = handle.read(needed + 1)
    budget.spend(len(content), where)
    if len(content) != needed:
        raise refuse(
            "npz-cut-off",
            "An array is not as long as announced",
            where,
            f"{len(content):,} of {needed:,} bytes",
            "Save the arrays again with numpy.savez.",
        )
    return np.frombuffer(content, dtype=kind).reshape(shape, order=order)


def _read_header(
    handle: IO[bytes], where: str
) -> tuple[tuple[int, ...], Literal["C", "F"], np.dtype[Any]]:
    """Shape, order and type of the array that follows; only plain numbers and texts pass."""
    version = np.lib.format.read_magic(handle)
    if version not in _HEADERS:
        raise refuse(
            "npz-damaged",
            "An array has an unknown format",
            where,
            f"version {version}",
            "Save it again with numpy.savez.",
        )
    shape, by_column, kind = _HEADERS[version](handle, max_header_size=MAX_HEADER)
    if kind.hasobject or kind.kind not in "biufUS":
        raise refuse(
            "npz-objects",
            "The file holds Python objects, which are never opened",
            where,
            f"data of type {kind}",
            "Save plain numbers and fixed-width text only.",
        )
    if any(size < 0 for size in shape):
        raise ValueError("a negative size")
    return shape, "F" if by_column else "C", kind
