"""FROSTT .tns files: one entry per line, indices then value; labels from .map files."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, Problem, refuse, where_list
from swiftcore.tensor import Mode, SparseTensor
from swiftcore.tensor.entry_checks import MAX_MODE

MAX_MODES = 16
_FORMAT: dict[str, Any] = {
    "sep": r"\s+",
    "comment": "#",
    "header": None,
    "dtype": np.float64,
    "keep_default_na": False,
    "na_values": [],
    "engine": "c",
}
if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
    _FORMAT["float_precision"] = "round_trip"  # to the last bit; later versions do so unasked
MAX_LABELS = 50_000_000
_MAP = re.compile(r"mode[-_ ]?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Entries:
    """Indices as written, values, and the sizes if the file has a header."""

    indices: NDArray[np.int64]
    values: NDArray[np.float64]
    sizes: tuple[int, ...] | None


def read_tns(
    text: bytes,
    name: str,
    index_base: str,
    maps: Mapping[int, tuple[str, ...]],
    findings: Findings,
) -> SparseTensor:
    """A tensor from .tns text in UTF-8.

    Parameters
    ----------
    index_base : {"", "0", "1", "detect"}
        The first index of every mode; "detect" looks at each mode by itself; when empty the
        base is detected, and asked for when the modes do not agree.
    maps : mapping of int to tuple of str
        Labels of a mode (0, 1, ...) from its .map file, in the order of the indices.

    Raises
    ------
    InvalidData
        With the lines that have a wrong number of columns or an index that cannot be.
    """
    entries = _parse(text, name)
    findings.tables[name] = len(entries.values)
    base = _base(entries, name, index_base, findings)
    indices = entries.indices - base
    sizes = _sizes(entries, indices, name, maps, findings)
    _report_lines(indices, entries.values, name, findings)
    return SparseTensor.from_coordinates(indices, entries.values, modes=_modes(sizes, base, maps))


def _report_lines(
    indices: NDArray[np.int64], values: NDArray[np.float64], name: str, findings: Findings
) -> None:
    """Count the lines that are 0 and those that share a cell with another."""
    repeated = len(indices) - len(np.unique(indices, axis=0)) if len(indices) < 10**7 else 0
    if repeated:
        findings.note(
            f"{repeated:,} lines name a cell that another line names too; their values were added."
        )
    findings.leave_out("lines whose value is 0", int((values == 0).sum()), name)


def _modes(
    sizes: tuple[int, ...], base: NDArray[np.int64], maps: Mapping[int, tuple[str, ...]]
) -> list[Mode]:
    """Labels from the .map file of a mode, or its indices as written in the file."""
    modes = []
    for axis, size in enumerate(sizes):
        first = int(base[axis])
        written = (str(index) for index in range(first, first + size))
        labels = maps[axis][:size] if axis in maps else tuple(written)
        modes.append(Mode(f"mode {axis + 1}", labels))
    return modes


def _parse(text: bytes, name: str) -> Entries:
    sizes, start = _header(text)
    body = text[start:]
    if not body.strip():
        raise _no_entries(name)
    try:
        table = pd.read_csv(io.BytesIO(body), **_FORMAT).to_numpy()
    except (ValueError, OverflowError, pd.errors.ParserError) as error:
        raise _located(text, start, name) from error
    if table.shape[1] < 3 or not np.isfinite(table).all() or table.shape[1] > MAX_MODES + 1:
        raise _located(text, start, name)
    indices, values = table[:, :-1], table[:, -1]
    whole = (indices == np.floor(indices)).all() and indices.max() <= MAX_MODE
    if not whole or indices.min() < 0 or (values < 0).any():
        raise _located(text, start, name)
    if sizes is not None and len(sizes) != indices.shape[1]:
        raise refuse(
            "tns-header",
            "The header does not fit the entries",
            f"{name}, lines 1 and 2",
            f"{len(sizes)} sizes, {indices.shape[1]} indices per line",
            "Correct the header or leave it out.",
        )
    return Entries(indices.astype(np.int64), values, sizes)


def _no_entries(name: str) -> InvalidData:
    return refuse(
        "tns-empty",
        "The file holds no entries",
        name,
        "0 lines",
        "Write one entry per line: indices, then the value.",
    )


def _header(text: bytes) -> tuple[tuple[int, ...] | None, int]:
    """Sizes from the two-line header "3" / "100 80 60", and where the entries start."""
    lines: list[tuple[list[bytes], int]] = []
    place = 0
    while len(lines) < 2 and place < min(len(text), 1 << 16):
        end = text.find(b"\n", place)
        end = len(text) if end < 0 else end
        parts = text[place:end].split()
        place = end + 1
        if parts and not parts[0].startswith(b"#"):
            lines.append((parts, place))
    if len(lines) == 2 and len(lines[0][0]) == 1 and lines[0][0][0].isdigit():
        sizes = lines[1][0]
        if len(sizes) == int(lines[0][0][0][:4]) and all(part.isdigit() for part in sizes):
            return tuple(int(part[:20]) for part in sizes), lines[1][1]
    return None, 0


def _located(text: bytes, start: int, name: str) -> InvalidData:
    """Find the first lines that are wrong, one sort of fault at a time."""
    width = 0
    faults: dict[str, list[int]] = {}
    sample: dict[str, str] = {}
    offset = text[:start].count(b"\n")
    for number, line in enumerate(text[start:].split(b"\n"), offset + 1):
        parts = line.split(b"#", 1)[0].split()
        if not parts:
            continue
        width = width or len(parts)
        fault = _fault(parts, width)
        if fault:
            faults.setdefault(fault, []).append(number)
            sample.setdefault(fault, line[:60].decode("utf-8", "replace").strip())
    if not width:
        return _no_entries(name)
    if not faults:
        return refuse(
            "tns-damaged",
            "The file cannot be read as .tns",
            name,
            "no fault by line",
            "Write one entry per line: indices, then the value.",
        )
    return InvalidData(
        _fault_problem(fault, f"{name}, lines {where_list(lines)}", sample[fault], width)
        for fault, lines in faults.items()
    )


def _fault_problem(fault: str, where: str, sample: str, width: int) -> Problem:
    what, cure = {
        "tns-arity": (
            "A line has a wrong number of columns",
            f"Every line needs {max(width - 1, 2)} indices (at least 2) and a value.",
        ),
        "tns-number": ("A line holds something that is no number", "Write plain numbers only."),
        "tns-index": (
            "An index cannot be",
            f"Indices are whole numbers from 0 or 1 up to {MAX_MODE:,}.",
        ),
        "tns-value": ("A value cannot be used", "Values are finite numbers of 0 or more."),
    }[fault]
    return Problem(fault, what, where, f"'{sample}'", cure)


def _fault(parts: list[bytes], width: int) -> str:
    if len(parts) != width or not 3 <= width <= MAX_MODES + 1:
        return "tns-arity"
    try:
        indices, value = [float(part) for part in parts[:-1]], float(parts[-1])
    except ValueError:
        return "tns-number"
    if not all(0 <= index <= MAX_MODE and index == int(index) for index in indices):
        return "tns-index"
    return "" if 0 <= value < float("inf") else "tns-value"


def _base(entries: Entries, name: str, index_base: str, findings: Findings) -> NDArray[np.int64]:
    """What the first index of each mode is called."""
    least = entries.indices.min(axis=0)
    found = np.minimum(least, 1)
    if index_base == "1" and (least == 0).any():
        raise refuse(
            "tns-base",
            "The file counts from 0, not from 1",
            name,
            f"index 0 in mode {int(np.argmin(least)) + 1}",
            "Set the index base to 0 or to detect.",
        )
    if index_base in ("0", "1"):
        return np.full(len(least), int(index_base))
    if not index_base and 0 < (found == 0).sum() < len(found):
        zero = where_list(np.flatnonzero(found == 0) + 1)
        raise refuse(
            "tns-base-unclear",
            "Some modes hold an index 0 and others do not",
            name,
            f"index 0 only in mode {zero}",
            "Set the index base: 0 (unused first indices stay), or detect (each mode by itself).",
        )
    first = "0" if not found.any() else "1" if found.all() else "0 or 1, mode by mode"
    findings.note(f"Indices in {name} count from {first}.")
    findings.mapping["index base"] = first
    return np.asarray(found, dtype=np.int64)


def _sizes(
    entries: Entries,
    indices: NDArray[np.int64],
    name: str,
    maps: Mapping[int, tuple[str, ...]],
    findings: Findings,
) -> tuple[int, ...]:
    largest = [int(top) + 1 for top in indices.max(axis=0)]
    sizes = list(entries.sizes or largest)
    for axis, needed in enumerate(largest):
        where = f"{name}, mode {axis + 1}"
        if axis in maps:
            sizes[axis] = max(len(maps[axis]), 1)
        if needed > sizes[axis]:
            source = "the .map file" if axis in maps else "the header"
            what, found = f"An index lies beyond {source}", f"{needed} of {sizes[axis]}"
            cure = f"Correct {source} or the index."
            findings.problem("tns-outside", what, where, found, cure)
        if sizes[axis] > MAX_LABELS:
            what, found = "A mode is too wide to be named", f"{sizes[axis]:,} indices"
            cure = "Close the gaps: number the indices in use."
            findings.problem("tns-wide", what, where, found, cure)
    findings.stop_if_problems()
    return tuple(sizes)


def map_axis(file: str, tensor_file: str) -> int | None:
    """Which mode (0, 1, ...) a .map file labels, judged by its name; None for other files."""
    path = PurePosixPath(file)
    if not re.search(r"\.map(\.gz)?$", path.name, re.IGNORECASE):
        return None
    number = _MAP.search(path.name)
    same_folder = path.parent == PurePosixPath(tensor_file).parent
    return int(number.group(1)) - 1 if number and same_folder and int(number.group(1)) else None


def read_map(text: bytes, name: str) -> tuple[str, ...]:
    """Labels, one per line, in the order of the indices; repeated labels get a number."""
    lines = text.decode("utf-8").splitlines()
    seen: dict[str, int] = {}
    labels = []
    for line in lines:
        seen[line] = seen.get(line, 0) + 1
        labels.append(line if seen[line] == 1 else f"{line} #{seen[line]}")
    if not labels:
        raise refuse(
            "map-empty", "The .map file is empty", name, "0 lines", "Write one label per line."
        )
    return tuple(labels)
