"""Folders that are there whole or not at all, private, and sealed by the digest of every byte."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from io import BufferedReader
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
    digests = {}
    for path in sorted(folder.iterdir()):
        path.chmod(0o600)
        digests[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        sync_file(path)
    write_private(folder / SEAL, seal_text(digests))
    sync_folder(folder)


def seal_text(digests: Mapping[str, str]) -> bytes:
    """The notes of a seal: a line for every file, and one for the lines before it."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return f"{lines}{hashlib.sha256(lines.encode()).hexdigest()}  {SEAL}\n".encode()


def read_sealed(folder: Path, unread: Collection[str] = ()) -> dict[str, bytes]:
    """Every file of a sealed folder; the bytes that were checked are the bytes handed out.

    Parameters
    ----------
    unread : collection of str
        Files that may be large and are not needed: checked piece by piece, and handed out empty.

    Raises
    ------
    ChecksumMismatch
        If anything was changed, is missing or was added.
    """
    files, digests = {}, {}
    try:
        for path in sorted(folder.iterdir()):
            with path.open("rb") as file:
                if path.name in unread:
                    files[path.name] = b""
                    digests[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
                else:
                    files[path.name] = file.read()
                    digests[path.name] = hashlib.sha256(files[path.name]).hexdigest()
    except OSError as error:
        raise ChecksumMismatch(error.strerror or "a file cannot be read") from error
    if SEAL not in files:
        raise ChecksumMismatch("no seal")
    del digests[SEAL]
    check_digests(files.pop(SEAL), digests)
    return files


def check_files(files: Mapping[str, bytes]) -> None:
    """Raise :class:`ChecksumMismatch` unless the files are those their seal lists, unchanged."""
    if SEAL not in files:
        raise ChecksumMismatch("no seal")
    own = {name: content for name, content in files.items() if name != SEAL}
    check_digests(
        files[SEAL], {name: hashlib.sha256(content).hexdigest() for name, content in own.items()}
    )


def check_digests(sealed: bytes, digests: Mapping[str, str]) -> None:
    """Raise :class:`ChecksumMismatch` unless a seal lists just these files with these digests."""
    lines = sealed.decode("utf-8", "replace").splitlines()[:-1]
    noted = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if sealed != seal_text(noted):
        raise ChecksumMismatch("a changed seal")
    if set(noted) != set(digests):
        raise ChecksumMismatch("files missing or added")
    for name, digest in noted.items():
        if digests[name] != digest:
            raise ChecksumMismatch(f"{name} was changed")


def is_whole(folder: Path) -> bool:
    """Whether the seal of a folder holds; its files are read piece by piece."""
    try:
        with ExitStack() as stack:
            check_open_files(open_files(folder, stack))
    except (OSError, ChecksumMismatch):
        return False
    return True


class SoundFolders:
    """Knows whose seal holds; files that look as they did when checked are not read again."""

    def __init__(self) -> None:
        self._looks: dict[Path, tuple[tuple[str, int, int, int], ...]] = {}

    def holds(self, folder: Path) -> bool:
        """Whether the seal of a folder holds; False if there is no such folder."""
        try:
            stats = [(entry.name, entry.stat()) for entry in os.scandir(folder)]
        except OSError:
            return False
        looks = tuple(
            sorted((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in stats)
        )
        if self._looks.get(folder) != looks:
            if not is_whole(folder):
                self._looks.pop(folder, None)
                return False
            self._looks[folder] = looks
        return True


def open_files(folder: Path, stack: ExitStack) -> dict[str, BufferedReader]:
    """All files of a folder, opened: from then on nobody can take one away."""
    return {path.name: stack.enter_context(path.open("rb")) for path in sorted(folder.iterdir())}


def check_open_files(files: Mapping[str, BufferedReader]) -> None:
    """As :func:`check_files`, for files of any size; they stand at their beginning afterwards."""
    if SEAL not in files:
        raise ChecksumMismatch("no seal")
    own = {name: file for name, file in files.items() if name != SEAL}
    digests = {name: hashlib.file_digest(file, "sha256").hexdigest() for name, file in own.items()}
    check_digests(files[SEAL].read(), digests)
    for file in files.values():
        file.seek(0)


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
