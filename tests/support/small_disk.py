"""A real disk of a few megabytes that can be filled to the last page, or made read-only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PAGE = 4096


def _mounted(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True).returncode == 0


@contextmanager
def small_disk(folder: Path, megabytes: int = 4) -> Iterator[Path]:
    """A disk of its own below ``folder``; the test is skipped where mounting is not permitted."""
    folder.mkdir()
    if not _mounted("-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(folder)):
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder cannot be written, not even by root."""
    if not _mounted("--bind", str(folder), str(folder)):
        pytest.skip("mounting a folder read-only is not permitted here")
    try:
        assert _mounted("-o", "remount,bind,ro", str(folder))
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def filled(disk: Path, pages_left: int) -> Iterator[None]:
    """The disk has just so many pages left."""
    filler = disk / "filler"
    state = os.statvfs(disk)
    size = (state.f_bavail - pages_left) * PAGE
    assert state.f_frsize == PAGE and size > 0
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    assert os.statvfs(disk).f_bavail == pages_left
    try:
        yield
    finally:
        filler.unlink()
