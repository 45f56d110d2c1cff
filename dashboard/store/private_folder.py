"""Folders that only their owner may open, also those that somebody made with open doors."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from swiftcore.errors import InvalidSettings, refuse

OTHERS = 0o077  # what everybody else may do
PARTS = ("datasets", "runs", "costs", "jobs", "parts", "locks", "temporary")  # of a store


def make_private(folder: Path) -> Path:
    """The folder, made if it is missing, for its owner only."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & OTHERS:
        _close(folder)
    return folder


def make_store_folder(root: Path) -> Path:
    """The folder of a store, for its owner only.

    A folder with other things in it, or of everybody, is left as it is: to close ``/tmp`` or
    somebody's home would do harm.

    Raises
    ------
    InvalidSettings
        If others may open it and it is not ours to close.
    """
    if root.is_dir() and stat.S_IMODE(root.stat().st_mode) & OTHERS:
        found = _why_not_ours(root)
        if found:
            raise refuse(
                "data-folder-open",
                "Others can open the data folder",
                str(root),
                found,
                "Choose a new or empty folder with --data-dir, or close this one: chmod 700.",
                kind=InvalidSettings,
            )
    return make_private(root)


def _why_not_ours(root: Path) -> str:
    """Why the folder must not be closed to others; empty if it may be."""
    about = root.stat()
    if about.st_mode & stat.S_ISVTX:
        return "a folder that everybody shares"
    if about.st_uid != os.geteuid():
        return "a folder of somebody else"
    names = {entry.name for entry in os.scandir(root)}
    return "other things in it" if names and not names & set(PARTS) else ""


def _close(folder: Path) -> None:
    try:
        folder.chmod(0o700)
    except OSError as error:
        if error.errno != errno.EROFS:  # nothing is written to a read-only disk, only read
            raise
