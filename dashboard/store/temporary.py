"""Room for what is not finished yet: spared while its owner lives, whatever else is there goes.

A process id says little about who owns a file: it is given away again, and in a container every
server is number 1. A lock that the kernel holds for a process goes with it, even after kill -9.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboard.privacy.held_folder import held, sweep_unheld
from swiftcore.runtime.atomic_file import sync_folder


@contextmanager
def temporary_place(temporary: Path) -> Iterator[Path]:
    """A path that nobody else uses, for a file or a folder; what is left of it goes in the end."""
    with held(temporary / secrets.token_hex(8)) as own:
        yield own / "place"


def remove(path: Path, temporary: Path) -> None:
    """Take a file or a folder away by one rename, then delete it."""
    with temporary_place(temporary) as gone, contextlib.suppress(FileNotFoundError):
        os.rename(path, gone)
        sync_folder(path.parent)


def delete(path: Path) -> None:
    """Delete a file or a folder as far as that can be done; never what a link leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def sweep(temporary: Path) -> None:
    """Delete what processes that are gone have left behind."""
    sweep_unheld(temporary)
    for path in temporary.iterdir():
        if path.is_symlink() or not path.is_dir():  # nobody holds a file
            delete(path)
