"""Arrays and a few facts in one npz file: written whole or not at all, sealed, never pickled.

For a program's own notes to itself: what was damaged is told apart from what is sound, and
writing needs no second copy of the arrays.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.runtime.atomic_file import atomic_file

Arrays = Mapping[str, NDArray[Any]]
ABOUT = "about"
_DAMAGE = (  # what zipfile, json and NumPy raise at bytes they cannot read
    zipfile.BadZipFile,
    zlib.error,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)


class DamagedArrays(ValueError):
    """The file is not what was written."""


def write_sealed(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Write arrays and plain facts about them, for their owner only."""
    sealed = {"seal": array_digest(json.dumps(about, sort_keys=True), arrays), ABOUT: about}
    text = np.frombuffer(json.dumps(sealed).encode(), np.uint8)
    with atomic_file(path, private=True) as file:
        np.savez(file, allow_pickle=False, **{ABOUT: text}, **arrays)


def read_sealed(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What :func:`write_sealed` wrote: the facts and the arrays, memory order and all.

    Raises
    ------
    FileNotFoundError
    DamagedArrays
        If a byte was changed, is missing or was added.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            sealed = json.loads(bytes(file[ABOUT]))
            arrays = {name: file[name] for name in file.files if name != ABOUT}
        about: dict[str, Any] = sealed[ABOUT]
        if sealed["seal"] != array_digest(json.dumps(about, sort_keys=True), arrays):
            raise ValueError("another digest")
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise DamagedArrays(f"{type(error).__name__}: {error}"[:200]) from error
    return about, arrays


def read_about(path: Path) -> dict[str, Any]:
    """The facts alone, without a look at the arrays or the seal; empty if there are none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(bytes(file[ABOUT]))[ABOUT]
    except _DAMAGE:
        return {}
    return about if isinstance(about, dict) else {}


def array_digest(text: str, arrays: Arrays) -> str:
    """SHA-256 of a text and of arrays by name: their types, shapes and numbers."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        by_column = array.flags.f_contiguous and not array.flags.c_contiguous  # as NumPy saves it
        digest.update(f"{name} {array.dtype.str} {array.shape} {by_column}".encode())
        digest.update(array.ravel(order="F" if by_column else "C").data)  # seldom a copy
    return digest.hexdigest()
