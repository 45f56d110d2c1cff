"""Folders that belong to a running process and go with it, however it ends.

A kernel lock on the folder says that its owner lives; it cannot be left behind. What nobody
holds is litter, and the next start takes it away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def held(folder: Path, *, wait: bool = True) -> Iterator[Path]:
    """A new private folder, held until the end and then removed, unless it was renamed.

    Parameters
    ----------
    wait : bool
        Wait for whoever holds a folder of this name: of a name that nobody else uses only
        somebody who sweeps, for a moment. Without it, raise BlockingIOError.
    """
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = _make_and_lock(folder, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield folder
    finally:
        if _is(handle, folder):
            shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def is_held(folder: Path) -> bool:
    """Whether the process that a folder belongs to still runs."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def sweep_unheld(parent: Path, pattern: str = "*") -> None:
    """Remove the folders that processes have left behind which are gone."""
    for folder in parent.glob(pattern):
        with contextlib.suppress(OSError):  # held, or another start was quicker
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(handle)


def _make_and_lock(folder: Path, kind: int) -> int:
    """The folder, locked; made again if somebody swept it before it was locked."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, kind)
                if _is(handle, folder):
                    return handle
            except OSError:
                os.close(handle)
                raise
            os.close(handle)


def _is(handle: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), folder.stat())
    except FileNotFoundError:
        return False
