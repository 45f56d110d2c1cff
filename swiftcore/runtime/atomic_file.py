"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def _usual_mode(path: Path) -> int:
    """The mode of the file to be replaced, or what a new file gets (mkstemp's is private)."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask


def write_atomic(path: Path, content: bytes) -> None:
    """Write beside the file, flush to disk, then rename: readers see the old file or the new.

    A crash at any moment leaves one of the two, and at worst a temporary file beside it.
    """
    handle, temporary = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name[:40]}-", suffix=".tmp"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_usual_mode(path))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):  # the rename itself must reach the disk, where that is possible
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
