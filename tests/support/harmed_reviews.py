"""Ways in which the file of the reviews can come to harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def _flip(path: Path, place: int, count: int = 1) -> None:
    content = bytearray(path.read_bytes())
    for offset in range(place, min(place + count, len(content))):
        content[offset] ^= 0xFF
    path.write_bytes(content)


HARM: dict[str, Callable[[Path], None]] = {
    "header": lambda path: _flip(path, 0, 16),
    "page size": lambda path: _flip(path, 16, 2),
    "schema": lambda path: _flip(path, 100, 64),
    "second page": lambda path: _flip(path, 4096, 64),
    "last page": lambda path: _flip(path, path.stat().st_size - 4096, 4096),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "cut by a byte": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "emptied": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "no database": lambda path: path.write_bytes(b"nonsense" * 1000),
    "gone": lambda path: path.unlink(),
}
