"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def write_atomic(path: Path, content: bytes, *, private: bool = False) -> None:
    """A file of these bytes; see :func:`atomic_file`."""
    with atomic_file(path, private=private) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Write beside the file, flush to disk, then rename: readers see the old file or the new.

    A crash at any moment leaves one of the two, and at worst a draft beside it, which
    :func:`forget_drafts` removes.

    Parameters
    ----------
    private : bool
        For its owner only; otherwise the file may be read by whoever may read new files.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_draft_prefix(path), suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not private:  # mkstemp's files are
            Path(temporary).chmod(_usual_mode(path))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def forget_drafts(path: Path) -> None:
    """Remove what a writer of this file that was killed has left; nobody may be writing it."""
    for left in path.parent.glob(f"{glob.escape(_draft_prefix(path))}*.tmp"):
        left.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Let a rename reach the disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _draft_prefix(path: Path) -> str:
    return f".{path.name[:40]}-"


def _usual_mode(path: Path) -> int:
    """The mode of the file to be replaced, or what a new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
