"""Room for what is not finished yet: spared while its owner lives, whatever else is there goes.

A process id says little about who owns a file: it is given away again, and in a container every
server is number 1. A lock that the kernel holds for a process goes with it, even after kill -9.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from swiftcore.runtime.atomic_file import sync_folder

LOCK = ".lock"


@contextmanager
def temporary_place(temporary: Path) -> Iterator[Path]:
    """A path that nobody else uses, for a file or a folder; what is left of it goes in the end."""
    path, handle = _claim(temporary)
    try:
        yield path
    finally:
        delete(path)
        _lock_of(path).unlink(missing_ok=True)
        os.close(handle)


def remove(path: Path, temporary: Path) -> None:
    """Take a file or a folder away by one rename, then delete it; whoever sweeps may help."""
    gone = temporary / f"gone-{secrets.token_hex(8)}"
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, gone)
        sync_folder(path.parent)
    delete(gone)


def delete(path: Path) -> None:
    """Delete a file or a folder as far as that can be done; never what a link leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def sweep(temporary: Path) -> None:
    """Delete what processes that are gone have left behind."""
    for name in {path.name.removesuffix(LOCK) for path in temporary.iterdir()}:
        path = temporary / name
        with _abandoned(_lock_of(path)) as nobody_lives:
            if nobody_lives:
                delete(path)
                delete(_lock_of(path))


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}{LOCK}")


def _claim(temporary: Path) -> tuple[Path, int]:
    """A new name and the lock on it; again if somebody swept the lock before we held it."""
    while True:
        path = temporary / secrets.token_hex(8)
        handle = os.open(_lock_of(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), os.stat(_lock_of(path))):
                return path, handle
        except FileNotFoundError:
            pass
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


@contextmanager
def _abandoned(lock: Path) -> Iterator[bool]:
    """Whether nobody holds the lock; within the block nobody else does."""
    try:
        handle = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        yield True
        return
    except OSError:  # read-only, or somebody else's
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        free = False
    else:
        free = True
    try:
        yield free
    finally:
        os.close(handle)
