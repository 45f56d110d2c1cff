"""Copies of the reviews that are made by themselves, and the way back when the file is damaged."""

from __future__ import annotations

import calendar
import os
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from dashboard.store.private_folder import make_private
from dashboard.store.review_file import (
    TABLES,
    ReviewsDamaged,
    ReviewsUnavailable,
    damaged,
    examine,
    insert_into,
    is_possible,
    opened,
    opened_to_write,
    rows_of,
    snapshot,
)
from dashboard.store.temporary import temporary_place
from swiftcore.data.sql import quoted, sql
from swiftcore.runtime.atomic_file import sync_folder

KEPT = 10
SPACING = 300.0  # seconds between two copies that both stay
COARSE = 1.0  # seconds by which the clock of the files may be behind
BESIDE = ("-journal", "-wal", "-shm")  # files that SQLite keeps beside its own
_STAMP = "%Y%m%d-%H%M%S"
_NAMES = f"reviews-{'[0-9]' * 8}-{'[0-9]' * 6}-{'[0-9]' * 6}.sqlite"


@dataclass(frozen=True)
class ReviewCopy:
    """A sound copy: where it is, when it was made, how many judgements it holds."""

    path: Path
    made: float
    judgements: int


class ReviewCopies:
    """The copies of one file of reviews.

    The newest copy follows every change. The others are at least :data:`SPACING` apart, so that
    ten of them reach back further than the last ten clicks.

    Parameters
    ----------
    live : Path
        The file that is copied.
    """

    def __init__(self, live: Path) -> None:
        self.live = live
        self.folder = live.parent / "review-copies"

    def paths(self) -> list[Path]:
        """The copies there are, newest first, sound or not."""
        return sorted(self.folder.glob(_NAMES), reverse=True)

    def newest(self) -> ReviewCopy | None:
        """The newest sound copy."""
        for path in self.paths():
            try:
                return ReviewCopy(path, _made(path), examine(path))
            except ReviewsUnavailable:  # damaged too, or dropped by another process
                continue
        return None

    def refresh(self) -> None:
        """Copy the file as it is now; then drop the oldest.

        Raises
        ------
        ReviewsUnavailable, OSError
            If that cannot be done; then all earlier copies stay.
        """
        make_private(self.folder)
        with self._lock():
            with temporary_place(make_private(self.live.parent / "temporary")) as draft:
                draft.mkdir(mode=0o700)
                copy = draft / self.live.name
                snapshot(self.live, copy)
                os.rename(copy, self._next_path())
            sync_folder(self.folder)
            self._drop()

    def is_behind(self) -> bool:
        """Whether the file may hold what no copy has: it was written by an earlier version."""
        newest = next(iter(self.paths()), None)
        if not self.live.exists():
            return False
        return newest is None or _made(newest) < self.live.stat().st_mtime + COARSE

    def forget(self, runs: Iterable[str]) -> None:
        """Delete what was said about runs from every copy; a damaged copy goes as a whole."""
        for path in self.paths():
            try:
                delete_reviews(path, runs)
            except ReviewsDamaged:
                path.unlink(missing_ok=True)

    def restore(self) -> ReviewCopy | None:
        """Put the newest sound copy in the place of a damaged file, which is kept aside.

        Without a copy, what can still be read of the damaged file is taken over. Nothing is done
        if the file is sound again: somebody else was quicker.
        """
        with self._lock():
            if self.fault() is None:
                return None
            newest = self.newest()
            with temporary_place(make_private(self.live.parent / "temporary")) as draft:
                draft.mkdir(mode=0o700)
                fresh = draft / self.live.name
                if newest:
                    snapshot(newest.path, fresh)
                else:
                    _rescue(self.live, fresh)
                self._put_aside()
                os.rename(fresh, self.live)
            sync_folder(self.live.parent)
            return newest or ReviewCopy(self.live, time.time(), examine(self.live))

    def fault(self) -> ReviewsDamaged | None:
        """What is wrong with the file; a file that is gone or empty lost what its copies have."""
        if not self.live.exists() or not self.live.stat().st_size:
            lost = any(path.stat().st_size for path in self.paths())
            return damaged(self.live, "an empty file or none") if lost else None
        try:
            examine(self.live)
        except ReviewsDamaged as error:
            return error
        return None

    def _next_path(self) -> Path:
        """A name that sorts after all others, also when the clock was set back."""
        now = time.time_ns() // 1000
        if newest := next(iter(self.paths()), None):
            now = max(now, round(_made(newest) * 1e6) + 1)
        return self.folder / f"reviews-{_stamp(now)}.sqlite"

    def _put_aside(self) -> None:
        aside = f"reviews-damaged-{_stamp(time.time_ns() // 1000)}.sqlite"
        for end in ("", *BESIDE):
            path = self.live.with_name(f"{self.live.name}{end}")
            if path.exists():
                os.rename(path, self.live.with_name(f"{aside}{end}"))

    def _drop(self) -> None:
        """Of the earlier copies keep those that are apart, and of all the newest ten."""
        paths = self.paths()
        if len(paths) > 2 and _made(paths[1]) - _made(paths[2]) < SPACING:
            paths.pop(1).unlink()
        for path in paths[KEPT:]:
            path.unlink()

    def _lock(self) -> FileLock:
        locks = make_private(self.live.parent / "locks")
        return FileLock(locks / "review-copies.lock", mode=0o600)


def delete_reviews(path: Path, runs: Iterable[str]) -> None:
    """Delete what was said about runs; a file that says nothing about them is not written."""
    marks, tables = [(run,) for run in runs], [*TABLES, "drafts"]
    where = "WHERE run = ? LIMIT 1"
    with opened(path) as connection:
        if not any(rows_of(connection, table, where, mark) for table in tables for mark in marks):
            return
    with opened_to_write(path) as connection:
        for table in tables:
            statement = sql("DELETE FROM {table} WHERE run = ?", table=quoted(table))
            connection.executemany(statement, marks)
        connection.commit()


def _rescue(source: Path, target: Path) -> None:
    """Copy the rows of a damaged file that can be read, from its beginning and from its end."""
    with opened_to_write(target) as fresh:
        for table in TABLES:
            rows: dict[int, tuple[object, ...]] = {}
            for order in ("ASC", "DESC"):
                words = "SELECT * FROM {table} ORDER BY id {order}"
                every = sql(words, table=quoted(table), order=sql(order))
                _read_until_damage(source, every, rows)
            sound = [rows[key] for key in sorted(rows) if is_possible(table, rows[key])]
            fresh.executemany(insert_into(table), sound)
        fresh.commit()
    examine(target)


def _read_until_damage(path: Path, ask: str, rows: dict[int, tuple[object, ...]]) -> None:
    try:
        with opened(path) as connection:
            for row in connection.execute(ask):
                rows[int(row[-1])] = row
    except (ReviewsUnavailable, sqlite3.Error):  # here it ends
        return


def _made(path: Path) -> float:
    """When a copy was made, from its name."""
    day, clock, micro = path.stem.removeprefix("reviews-").split("-")
    return calendar.timegm(time.strptime(f"{day}-{clock}", _STAMP)) + int(micro) / 1e6


def _stamp(microseconds: int) -> str:
    """A moment as text that sorts."""
    whole, part = divmod(microseconds, 10**6)
    return f"{time.strftime(_STAMP, time.gmtime(whole))}-{part:06d}"
