"""Results as plain JSON values: digests of their bits, and numbers that may be compared closely.

A result has three parts. ``always`` must be equal on every machine: keys, names, counts. ``bits``
holds digests, equal only where processor and packages are the same. ``close`` holds numbers; on
another machine they may differ by ``rtol``, lists of numbers relative to their largest one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Result = dict[str, Any]
FLOAT32, FLOAT64, TABLES = 1e-4, 1e-6, 0.05  # rtol on other machines
TIMINGS = ("seconds",)
MAX_ROWS = 40  # longer tables are recorded as a digest and some rows


def result(rtol: float, *, always: Any = None, bits: Any = None, close: Any = None) -> Result:
    """A result to record."""
    return {"rtol": rtol, "always": plain(always), "bits": plain(bits), "close": plain(close)}


def plain(value: Any) -> Any:
    """The value as JSON has it; floats to 12 significant digits, what is no number as text."""
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray | pd.Series):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    return value


def digest(value: Any) -> str:
    """16 hex digits of bytes, of a text, or of anything plain."""
    if not isinstance(value, bytes | str):
        value = json.dumps(plain(value), sort_keys=True)
    content = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return hashlib.sha256(content).hexdigest()[:16]


def bits_of(arrays: Iterable[NDArray[np.float64]]) -> str:
    """SHA-256 of arrays: their shapes, and their values as little-endian float64."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(str(array.shape).encode())
        sha.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return sha.hexdigest()


def outline(array: NDArray[np.float64]) -> dict[str, Any]:
    """Column sums and a few entries of a matrix."""
    step = max(1, array.size // 5)
    return {"sums": array.sum(axis=0), "entries": array.ravel()[::step]}


def table_of(frame: pd.DataFrame) -> dict[str, Any]:
    """A table without its timings: all of its numbers, or every so many rows of a long one."""
    kept = frame.drop(columns=[name for name in TIMINGS if name in frame])
    step = -(-len(kept) // MAX_ROWS)
    some = kept.iloc[:: max(1, step)]
    numbers = [name for name in some if pd.api.types.is_numeric_dtype(some[name])]
    return {
        "always": {"columns": list(kept), "rows": len(kept)},
        "bits": {
            "all": digest({name: kept[name] for name in kept}),
            "texts": {name: some[name] for name in some if name not in numbers},
        },
        "close": {name: some[name].astype(float) for name in numbers},
    }


def tables_result(tables: dict[str, pd.DataFrame], rtol: float = TABLES) -> Result:
    """Several tables as one result."""
    found = {name: table_of(frame) for name, frame in tables.items()}
    parts = ("always", "bits", "close")
    return result(
        rtol, **{part: {name: one[part] for name, one in found.items()} for part in parts}
    )


def numbers_in(text: str) -> list[str]:
    """All numbers of a text, in order; words around them may change."""
    digits = "".join(letter if letter.isdigit() or letter in ".," else " " for letter in text)
    return [word.strip(".,") for word in digits.split() if word.strip(".,")]


def column_less(lines: Sequence[Sequence[str]], names: Sequence[str]) -> list[list[str]]:
    """The lines of a CSV file without the columns of these names."""
    kept = [place for place, name in enumerate(lines[0]) if name not in names]
    return [[line[place] for place in kept] for line in lines]
