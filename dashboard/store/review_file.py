"""The SQLite file of the reviews: opened, examined, copied; every failure in words.

It keeps SQLite's rollback journal and no write-ahead log: a log needs a second file even to read,
and on a full or read-only disk that file cannot be made.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from dashboard.store.verified_folder import sync_file
from swiftcore.errors import SwiftError, refuse

VERDICTS = ("yes", "possibly", "no")
PROBLEMS = ("", "mixed", "duplicate", "artefact")
PATIENCE = 30.0  # seconds to wait for another writer
_SCHEMA = """
BEGIN;
CREATE TABLE IF NOT EXISTS reviews (
    run TEXT NOT NULL, phenotype TEXT NOT NULL, phenotype_digest TEXT NOT NULL,
    reviewer TEXT NOT NULL, name TEXT NOT NULL, verdict TEXT NOT NULL, problem TEXT NOT NULL,
    duplicate_of TEXT NOT NULL, confidence INTEGER NOT NULL, comment TEXT NOT NULL,
    saved_at REAL NOT NULL, id INTEGER PRIMARY KEY AUTOINCREMENT
);
CREATE INDEX IF NOT EXISTS by_run ON reviews (run, phenotype, reviewer);
CREATE TRIGGER IF NOT EXISTS kept BEFORE UPDATE ON reviews
BEGIN SELECT RAISE(ABORT, 'reviews are never changed'); END;
COMMIT;
"""  # all or nothing: a disk can be full after the first line
_OBJECTS = {
    ("table", "reviews"),
    ("table", "sqlite_sequence"),
    ("index", "by_run"),
    ("trigger", "kept"),
}
COLUMNS = (
    *("run", "phenotype", "phenotype_digest", "reviewer", "name", "verdict", "problem"),
    *("duplicate_of", "confidence", "comment", "saved_at", "id"),
)
NUMBERS = ("confidence", "saved_at", "id")
INSERT = "INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class ReviewsUnavailable(SwiftError):
    """The file of the reviews cannot be used now; nothing was saved and nothing is lost."""


class ReviewsDamaged(ReviewsUnavailable):
    """The file of the reviews is not what was written; a copy may be."""


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a file that is there; it is never made, so that a look leaves no trace."""
    address = f"{path.absolute().as_uri()}?mode=rw"  # read-only where the system says so
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            yield connection
    except sqlite3.Error as error:
        raise _in_words(path, error) from error


@contextmanager
def opened_to_write(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose commits are on the disk when they return; the file is made private."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # before SQLite makes it public
    except OSError as error:
        raise _in_words(path, error) from error
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA synchronous=EXTRA")
        connection.execute("PRAGMA secure_delete=ON")
        connection.executescript(_SCHEMA)
        yield connection


def examine(path: Path) -> int:
    """How many judgements a sound file holds.

    Raises
    ------
    ReviewsDamaged
        If a page of the file, a text or a choice in it cannot be.
    ReviewsUnavailable
        If it cannot be read now.
    """
    with opened(path) as connection:
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise damaged(path, found.splitlines()[-1])
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        if path.stat().st_size % page:
            raise damaged(path, "a page that is not whole")
        there = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
        if not set(there) <= _OBJECTS:
            raise damaged(path, "tables that do not belong here")
        sound = [is_possible(row) for row in connection.execute("SELECT * FROM reviews")]
    if not all(sound):
        raise damaged(path, f"{sound.count(False)} judgements that nobody can have made")
    return len(sound)


def is_possible(row: Sequence[object]) -> bool:
    """Whether somebody can have made the judgement in a row of the table."""
    if len(row) != len(COLUMNS):
        return False
    named = dict(zip(COLUMNS, row, strict=True))
    return (
        named["verdict"] in VERDICTS
        and named["problem"] in PROBLEMS
        and named["confidence"] in (1, 2, 3, 4, 5)
        and isinstance(named["saved_at"], float)
        and all(isinstance(named[name], str) for name in COLUMNS if name not in NUMBERS)
    )


def snapshot(source: Path, target: Path) -> int:
    """Copy a database that others may be writing; the copy is sound and on the disk.

    Returns how many judgements it holds; raises like :func:`examine`.
    """
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with opened(source) as live, opened(target) as copy:
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
    count = examine(target)
    sync_file(target)
    return count


def damaged(path: Path, found: str) -> ReviewsDamaged:
    """The refusal for a file that is not what was written."""
    return refuse(
        "reviews-damaged",
        "The reviews cannot be read: their file is damaged",
        path.name,
        found[:120],
        "Restore a copy on the page Review; the damaged file is kept.",
        kind=ReviewsDamaged,
    )


def _in_words(path: Path, error: sqlite3.Error | OSError) -> ReviewsUnavailable:
    """What the system said, by its cause: damage, no room, no right to write, or a wait."""
    if isinstance(error, OSError):
        code, said = sqlite3.SQLITE_CANTOPEN, error.strerror or "an error"
    else:
        code, said = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF, str(error)
    full = code == sqlite3.SQLITE_FULL or _is_full(path.parent)
    if full and code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        what = "the disk is full"
        cure = "Delete runs that you do not need (page Runs, History), then try again."
    elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        what = "their folder may not be written"
        cure = "Make the data folder writable for yourself, then try again."
    elif code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        what, cure = "another program is writing them", "Try again in a moment."
    elif code == sqlite3.SQLITE_IOERR:
        what, cure = "the disk fails", "Check the disk, then try again."
    else:
        return damaged(path, said)
    return refuse(
        "reviews-file",
        f"The reviews cannot be read or written: {what}",
        path.name,
        said,
        cure,
        kind=ReviewsUnavailable,
    )


def _is_full(folder: Path) -> bool:
    return os.statvfs(folder).f_bavail == 0
