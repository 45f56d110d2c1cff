"""The whole store as one file: data sets, results, judgements and marks, each by its digest.

Written piece by piece beside the target and shown by one rename, also while a server runs: sealed
folders never change, and SQLite copies the judgements of a database in use. Jobs, locks, uploads
and whatever is temporary stay out. The same store gives the same bytes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from dashboard.store.cards import is_id
from dashboard.store.keeping import KEPT
from dashboard.store.review_copies import BESIDE
from dashboard.store.review_file import ReviewsDamaged, ReviewsUnavailable, snapshot
from dashboard.store.reviews import Reviews
from dashboard.store.store import SEEDED
from dashboard.store.verified_folder import (
    SEAL,
    ChecksumMismatch,
    check_open_files,
    open_files,
    seal_text,
)
from swiftcore import __version__
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.runtime.atomic_file import sync_folder
from swiftcore.runtime.repeatable_zip import DATE

BACKUP_FORMAT = "swift-backup 1"
ABOUT, REVIEWS = "backup.json", "reviews.sqlite"
SEALED = ("datasets", "runs", "costs")
CHUNK = 1 << 20


@dataclass
class BackedUp:
    """What went into a backup, and what did not."""

    datasets: int = 0
    runs: int = 0
    judgements: int = 0
    left_out: list[str] = field(default_factory=list)


class _Archive:
    """A zip under construction that notes the digest of every member.

    Nothing is packed: what is large in a store is packed already.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.digests: dict[str, str] = {}

    def add(self, name: str, source: IO[bytes]) -> None:
        sha = hashlib.sha256()
        with self._archive.open(zipfile.ZipInfo(name, DATE), "w", force_zip64=True) as member:
            while piece := source.read(CHUNK):
                sha.update(piece)
                member.write(piece)
        self.digests[name] = sha.hexdigest()

    def add_bytes(self, name: str, content: bytes) -> None:
        self._archive.writestr(zipfile.ZipInfo(name, DATE), content)
        self.digests[name] = hashlib.sha256(content).hexdigest()

    def finish(self) -> None:
        """The list of digests, last."""
        self._archive.writestr(zipfile.ZipInfo(SEAL, DATE), seal_text(self.digests))


def write_backup(root: Path, target: Path) -> BackedUp:
    """Write the store below ``root`` into one private file; an older backup there is replaced.

    Raises
    ------
    InvalidSettings
        If there is no store, the target is no backup of ours, or another one is being written.
    OSError
        If the disk is full or refuses; then the target is as it was.
    """
    _check_places(root, target)
    done = BackedUp()
    with _draft(target) as file, zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        members = _Archive(archive)
        about = {"format": BACKUP_FORMAT, "version": __version__}
        members.add_bytes(ABOUT, json.dumps(about).encode())
        for place in SEALED:
            for folder in sorted((root / place).glob("*")):
                if is_id(folder.name) and folder.is_dir():
                    _add_folder(members, f"{place}/{folder.name}", folder, done)
        _add_reviews(members, root, target, done)
        for mark in [root / SEEDED, *sorted((root / KEPT).glob("*"))]:
            if mark.is_file():
                members.add_bytes(mark.relative_to(root).as_posix(), b"")
        members.finish()
    return done


def _check_places(root: Path, target: Path) -> None:
    if not all((root / place).is_dir() for place in SEALED):
        raise refuse(
            "backup-nothing",
            "There is no store to back up",
            str(root),
            "no data folder",
            "Name the data folder with --data-dir.",
            kind=InvalidSettings,
        )
    if target.exists() and not is_backup(target):
        raise refuse(
            "backup-target",
            "The file is there already and is no backup",
            str(target),
            "something else",
            "Choose another name; only an older backup is replaced.",
            kind=InvalidSettings,
        )


def is_backup(path: Path) -> bool:
    """Whether a file was written by :func:`write_backup`, as far as its first lines say."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(ABOUT) as about:
            return b'"swift-backup ' in about.read(1000)
    except (zipfile.BadZipFile, OSError, KeyError, ValueError, RuntimeError, NotImplementedError):
        return False


@contextmanager
def _draft(target: Path) -> Iterator[IO[bytes]]:
    """A private file that becomes the target when the block ends well, and else nothing.

    After kill -9 it stays, and the next backup to the same target writes over it.
    """
    path = target.with_name(f".{target.name}.part")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "r+b") as file:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise refuse(
                "backup-busy",
                "Another backup is being written to this file",
                str(target),
                "a backup under way",
                "Wait for it, or choose another name.",
                kind=InvalidSettings,
            ) from error
        try:
            file.truncate()
            os.fchmod(handle, 0o600)
            yield file
            file.flush()
            os.fsync(handle)
            os.replace(path, target)
        finally:
            path.unlink(missing_ok=True)  # not there any more if all went well
    sync_folder(target.parent)


def _add_folder(members: _Archive, name: str, folder: Path, done: BackedUp) -> None:
    """A sealed folder: all of its files, opened before anybody can delete one, or none."""
    with ExitStack() as stack:
        try:
            files = open_files(folder, stack)
            check_open_files(files)
        except FileNotFoundError:  # deleted meanwhile
            return
        except ChecksumMismatch as error:
            done.left_out.append(f"{name[:-24]}: damaged ({error})")
            return
        for each, file in files.items():
            members.add(f"{name}/{each}", file)
    if name.startswith("datasets"):
        done.datasets += 1
    elif name.startswith("runs"):
        done.runs += 1


def _add_reviews(members: _Archive, root: Path, target: Path, done: BackedUp) -> None:
    """The judgements; of a damaged file the newest sound copy."""
    reviews = Reviews(root)
    source: Path | None = reviews.path if reviews.path.exists() else None
    if (fault := reviews.copies.fault()) is not None:
        newest = reviews.copies.newest()
        source = newest.path if newest else None
        instead = "the newest sound copy was taken" if newest else "and no sound copy"
        done.left_out.append(f"{REVIEWS}: damaged ({fault.problems[0].found}); {instead}")
    if source is None or not source.stat().st_size:
        return
    draft = target.with_name(f".{target.name}.reviews")
    _drop_draft(draft)
    try:
        done.judgements = snapshot(source, draft)
        with draft.open("rb") as file:
            members.add(REVIEWS, file)
    except ReviewsDamaged as error:  # since we looked
        done.left_out.append(f"{REVIEWS}: {error.problems[0].found}")
    except ReviewsUnavailable as error:
        raise refuse(
            "backup-room",
            "The backup cannot be written",
            str(target),
            error.problems[0].found,
            "Make room there, or choose another place.",
            kind=InvalidSettings,
        ) from error
    finally:
        _drop_draft(draft)


def _drop_draft(draft: Path) -> None:
    for end in ("", *BESIDE):
        draft.with_name(f"{draft.name}{end}").unlink(missing_ok=True)
