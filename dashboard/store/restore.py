"""A backup brought back: read and checked as a whole before anything of it is shown.

What is in the store stays; judgements are added where they are missing. The file is taken for
one's own: its digests show damage, not who wrote it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dashboard.store.backup import ABOUT, BACKUP_FORMAT, REVIEWS, SEALED
from dashboard.store.keeping import KEPT, set_kept
from dashboard.store.review_file import ReviewsDamaged
from dashboard.store.reviews import Review, Reviews
from dashboard.store.rounds import Rounds
from dashboard.store.store import SEEDED, Store
from dashboard.store.temporary import remove, temporary_place
from dashboard.store.verified_folder import SEAL, ChecksumMismatch, check_digests, is_whole
from swiftcore.data.reading.unpacking import check_entries, zip_pieces
from swiftcore.errors import InvalidData, refuse
from swiftcore.runtime.atomic_file import sync_folder

MAX_NOTES = 1 << 24  # bytes of the list of digests
_MEMBER = re.compile(
    rf"({'|'.join(SEALED)})/[0-9a-f]{{32}}/[A-Za-z0-9][A-Za-z0-9._-]{{0,63}}"
    rf"|{KEPT}/[0-9a-f]{{32}}|{SEEDED}|{re.escape(REVIEWS)}|{re.escape(ABOUT)}|{SEAL}"
)


@dataclass(frozen=True)
class Restored:
    """What a backup brought, and what was there already."""

    datasets: int
    runs: int
    judgements: int
    there: int
    notes: tuple[str, ...]


def restore_backup(root: Path, source: Path) -> Restored:
    """Bring a backup into the store below ``root``, which is made if it is missing.

    Raises
    ------
    InvalidData
        If the file is no backup, was damaged or changed, or is too large for the disk; then
        nothing was restored.
    """
    with _opened(source) as archive:
        members = _members(archive, source)
        _check_about(archive, members, source)
        digests = _noted(archive, members, source)
        store = Store(root)
        _check_room(store, members, source)
        with temporary_place(store.temporary) as stage:
            stage.mkdir(mode=0o700)
            for name, digest in digests.items():
                _unpack(archive, members[name], stage / name, digest)
            _check_seals(stage, digests, source)
            judged = _judgements(stage, source)
            with store.lock():
                return _show(store, stage, judged)


@contextmanager
def _opened(source: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise _foreign(source, str(error)[:80]) from error


def _members(archive: zipfile.ZipFile, source: Path) -> dict[str, zipfile.ZipInfo]:
    entries = archive.infolist()
    members = {entry.filename: entry for entry in entries}
    strange = next((name for name in members if not _MEMBER.fullmatch(name)), None)
    if strange is not None:
        raise _foreign(source, f"a member {strange[:60]!r}")
    if len(members) < len(entries):
        raise _foreign(source, "a member twice")
    if not {ABOUT, SEAL} <= set(members):
        raise _foreign(source, "no list of its contents")
    check_entries(entries, source.name)
    return members


def _check_about(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], source: Path
) -> None:
    try:
        about = json.loads(_small(archive, members[ABOUT], source))
        found = str(about["format"])
    except (ValueError, LookupError, TypeError) as error:
        if isinstance(error, InvalidData):
            raise
        raise _foreign(source, "no format") from error
    if found != BACKUP_FORMAT:
        raise refuse(
            "backup-version",
            "The backup is of another version",
            str(source),
            found[:40],
            "Restore it with the version that wrote it.",
        )


def _noted(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], source: Path
) -> dict[str, str]:
    """The digest of every member, from the list at the end; the list itself holds."""
    sealed = _small(archive, members[SEAL], source)
    lines = sealed.decode("utf-8", "replace").splitlines()[:-1]
    noted = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    try:
        check_digests(sealed, {name: noted.get(name, "") for name in members if name != SEAL})
    except ChecksumMismatch as error:
        raise _changed(source, str(error)) from error
    return noted


def _small(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: Path) -> bytes:
    if entry.file_size > MAX_NOTES:
        raise _foreign(source, f"{entry.file_size:,} bytes of notes")
    return b"".join(zip_pieces(archive, entry))


def _check_room(store: Store, members: dict[str, zipfile.ZipInfo], source: Path) -> None:
    needed = sum(entry.file_size for entry in members.values())
    free = shutil.disk_usage(store.root).free
    if needed > free:
        raise refuse(
            "backup-room",
            "There is no room for the backup",
            str(source),
            f"{needed / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB free",
            "Make room on the disk, or choose another folder with --data-dir.",
        )


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, digest: str) -> None:
    """Write one member, on the disk and with the digest that the list says."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sha, handle = hashlib.sha256(), os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        for piece in zip_pieces(archive, entry):
            sha.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(handle)
    if sha.hexdigest() != digest:
        raise _changed(Path(str(archive.filename)), f"{entry.filename} was changed")


def _check_seals(stage: Path, digests: dict[str, str], source: Path) -> None:
    """Every folder is whole by its own seal too, so that the store will read it."""
    folders: dict[str, dict[str, str]] = {}
    for name, digest in digests.items():
        folder, _, file = name.rpartition("/")
        if folder.startswith(SEALED):
            folders.setdefault(folder, {})[file] = digest
    for folder, files in folders.items():
        if files.pop(SEAL, None) is None:
            raise _changed(source, f"{folder} has no seal")
        try:
            check_digests((stage / folder / SEAL).read_bytes(), files)
        except ChecksumMismatch as error:
            raise _changed(source, f"{folder}: {error}") from error


def _judgements(stage: Path, source: Path) -> list[Review]:
    try:
        return Reviews(stage).all()
    except ReviewsDamaged as error:
        raise _changed(source, error.problems[0].found) from error


def _show(store: Store, stage: Path, judged: list[Review]) -> Restored:
    """Everything was checked: add what was said, which needs room, then show folders by renames."""
    notes, reviews = [], Reviews(store.root)
    if reviews.copies.fault() is not None:
        reviews.copies.restore()
        notes.append("The judgements here were damaged; the damaged file was put aside.")
    added = reviews.add_missing(judged) if judged else 0
    Rounds(reviews).add_missing(Rounds(Reviews(stage)))
    new, there = dict.fromkeys(SEALED, 0), 0
    for place in SEALED:
        for folder in sorted((stage / place).glob("*")):
            if _show_folder(store, folder, store.root / place / folder.name):
                new[place] += 1
            else:
                there += 1
        sync_folder(store.root / place)
    for mark in (stage / KEPT).glob("*"):
        set_kept(store.root, mark.name, True)
    if (stage / SEEDED).exists():
        (store.root / SEEDED).touch(mode=0o600)
    return Restored(new["datasets"], new["runs"], added, there, tuple(notes))


def _show_folder(store: Store, folder: Path, target: Path) -> bool:
    """False if a sound one is there already; it stays."""
    if is_whole(target):
        return False
    remove(target, store.temporary)
    sync_folder(folder)
    os.rename(folder, target)
    return True


def _foreign(source: Path, found: str) -> InvalidData:
    return refuse(
        "backup-foreign",
        "This is no backup that can be read",
        str(source),
        found,
        "Choose a file written by swift backup; copy it again if it was cut off.",
    )


def _changed(source: Path, found: str) -> InvalidData:
    return refuse(
        "backup-changed",
        "The backup was damaged or changed after it was written",
        str(source),
        found,
        "Copy it again from where it was kept, or take another backup.",
    )
