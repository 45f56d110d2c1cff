"""Folders that are there whole or not at all, private, and sealed by the digest of every byte."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from swiftcore.runtime.atomic_file import sync_folder

SEAL = "SHA256SUMS"


class ChecksumMismatch(ValueError):
    """A byte, a file or the seal itself is not as it was written."""


def write_private(path: Path, content: bytes) -> None:
    """A new file for its owner only, on the disk when this returns."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def seal(folder: Path) -> None:
    """Note the SHA-256 of every file, and of the notes; flush everything to the disk."""
    lines = ""
    for path in sorted(folder.iterdir()):
        path.chmod(0o600)
        content = path.read_bytes()
        sync_file(path)
        lines += f"{hashlib.sha256(content).hexdigest()}  {path.name}\n"
    last = f"{hashlib.sha256(lines.encode()).hexdigest()}  {SEAL}\n"
    write_private(folder / SEAL, (lines + last).encode())
    sync_folder(folder)


def read_sealed(folder: Path) -> dict[str, bytes]:
    """Every file of a sealed folder; the bytes that were checked are the bytes handed out.

    Raises
    ------
    ChecksumMismatch
        If anything was changed, is missing or was added.
    """
    try:
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    except OSError as error:
        raise ChecksumMismatch(error.strerror or "a file cannot be read") from error
    check_files(files)
    del files[SEAL]
    return files


def check_files(files: Mapping[str, bytes]) -> None:
    """Raise :class:`ChecksumMismatch` unless the files are those their seal lists, unchanged."""
    if SEAL not in files:
        raise ChecksumMismatch("no seal")
    body, _, last = files[SEAL].decode("utf-8", "replace").rstrip("\n").rpartition("\n")
    lines = f"{body}\n" if body else ""
    if files[SEAL] != f"{lines}{last}\n".encode():
        raise ChecksumMismatch("a changed seal")
    if last != f"{hashlib.sha256(lines.encode()).hexdigest()}  {SEAL}":
        raise ChecksumMismatch("a changed seal")
    noted = {
        name: digest for digest, _, name in (line.partition("  ") for line in lines.splitlines())
    }
    if set(noted) != set(files) - {SEAL}:
        raise ChecksumMismatch("files missing or added")
    for name, digest in noted.items():
        if hashlib.sha256(files[name]).hexdigest() != digest:
            raise ChecksumMismatch(f"{name} was changed")


def publish(draft: Path, target: Path) -> bool:
    """Seal a folder and show it under its name by one rename.

    False if there is one of that name already: then the draft stays, for the caller to delete.
    """
    seal(draft)
    try:
        os.rename(draft, target)
    except OSError:
        if not target.is_dir():
            raise
        return False
    sync_folder(target.parent)
    return True


def sync_file(path: Path) -> None:
    """Flush a file that somebody else wrote."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
