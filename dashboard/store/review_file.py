"""The SQLite file of the reviews: opened, examined, copied; every failure in words.

Judgements, closings of rounds and settlements are only ever added. Drafts come and go. A file of
an earlier version has fewer tables; the next saving adds what is missing.

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
from swiftcore.data.sql import Sql, joined, quoted, sql
from swiftcore.errors import SwiftError, refuse

VERDICTS = ("yes", "possibly", "no")
PROBLEMS = ("", "mixed", "duplicate", "artefact")
PATIENCE = 30.0  # seconds to wait for another writer
VERSION = 2  # of the tables; the first had judgements and nothing else
_SCHEMA = f"""
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
CREATE TABLE IF NOT EXISTS closings (
    run TEXT NOT NULL, reviewer TEXT NOT NULL, closed_at REAL NOT NULL, id INTEGER PRIMARY KEY
);
CREATE TRIGGER IF NOT EXISTS kept_closings BEFORE UPDATE ON closings
BEGIN SELECT RAISE(ABORT, 'closings are never changed'); END;
CREATE TABLE IF NOT EXISTS settlements (
    run TEXT NOT NULL, phenotype TEXT NOT NULL, phenotype_digest TEXT NOT NULL,
    verdict TEXT NOT NULL, name TEXT NOT NULL, arbiter TEXT NOT NULL,
    saved_at REAL NOT NULL, id INTEGER PRIMARY KEY
);
CREATE TRIGGER IF NOT EXISTS kept_settlements BEFORE UPDATE ON settlements
BEGIN SELECT RAISE(ABORT, 'settlements are never changed'); END;
CREATE TABLE IF NOT EXISTS drafts (
    run TEXT NOT NULL, reviewer TEXT NOT NULL, phenotype TEXT NOT NULL, typed TEXT NOT NULL,
    PRIMARY KEY (run, reviewer, phenotype)
) WITHOUT ROWID;
PRAGMA user_version={VERSION};
COMMIT;
"""  # all or nothing: a disk can be full after the first line
_OBJECTS = {
    ("table", "reviews"),
    ("table", "sqlite_sequence"),
    ("index", "by_run"),
    ("trigger", "kept"),
    ("table", "closings"),
    ("trigger", "kept_closings"),
    ("table", "settlements"),
    ("trigger", "kept_settlements"),
    ("table", "drafts"),
}
COLUMNS = (
    *("run", "phenotype", "phenotype_digest", "reviewer", "name", "verdict", "problem"),
    *("duplicate_of", "confidence", "comment", "saved_at", "id"),
)
CLOSING = ("run", "reviewer", "closed_at", "id")
SETTLEMENT = (
    *("run", "phenotype", "phenotype_digest", "verdict", "name", "arbiter", "saved_at", "id"),
)
TABLES = {"reviews": COLUMNS, "closings": CLOSING, "settlements": SETTLEMENT}
_NUMBERS = ("confidence", "saved_at", "closed_at", "id")
UNSAID = 0  # stands in the file for a confidence that nobody gave


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
    except UnicodeDecodeError as error:  # also of SQLite's own words, about a name in the file
        raise damaged(path, "a text that is none") from error


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
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < VERSION:
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
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise _newer(path, version)
        there = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
        if not set(there) <= _OBJECTS:
            raise damaged(path, "tables that do not belong here")
        sound = {
            table: [is_possible(table, row) for row in rows_of(connection, table)]
            for table in TABLES
        }
    wrong = sum(found.count(False) for found in sound.values())
    if wrong or ("table", "reviews") not in there:
        raise damaged(path, f"{wrong} judgements that nobody can have made")
    return len(sound["reviews"])


def rows_of(
    connection: sqlite3.Connection, table: str, rest: str = "", values: Sequence[str] = ()
) -> list[tuple[object, ...]]:
    """Rows of a table, perhaps with conditions; none if an earlier version did not have it."""
    ask = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    if connection.execute(ask, (table,)).fetchone() is None:
        return []
    statement = sql("SELECT * FROM {table} {rest}", table=quoted(table), rest=sql(rest))
    return connection.execute(statement, values).fetchall()


def insert_into(table: str) -> Sql:
    """The statement that adds a row to one of the tables that only grow."""
    values = joined(", ", map(sql, "?" * len(TABLES[table])))
    return sql("INSERT INTO {table} VALUES ({values})", table=quoted(table), values=values)


def is_possible(table: str, row: Sequence[object]) -> bool:
    """Whether somebody can have said what stands in a row of a table that only grows."""
    if len(row) != len(TABLES[table]):
        return False
    named = dict(zip(TABLES[table], row, strict=True))
    choices = {"verdict": VERDICTS, "problem": PROBLEMS, "confidence": (UNSAID, 1, 2, 3, 4, 5)}
    return (
        all(named[name] in known for name, known in choices.items() if name in named)
        and all(isinstance(named[name], float) for name in named if name.endswith("_at"))
        and all(isinstance(named[name], str) for name in named if name not in _NUMBERS)
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


def _newer(path: Path, version: int) -> ReviewsUnavailable:
    return refuse(
        "reviews-newer",
        "The reviews cannot be read: a newer version of this program wrote them",
        path.name,
        f"version {version}",
        "Update the program, then try again.",
        kind=ReviewsUnavailable,
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
