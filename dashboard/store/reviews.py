"""What people think of the phenotypes: every judgement is kept, none is ever changed."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from dashboard.store.review_copies import ReviewCopies, delete_reviews
from dashboard.store.review_file import (
    PROBLEMS,
    UNSAID,
    VERDICTS,
    insert_into,
    opened,
    opened_to_write,
    rows_of,
)
from swiftcore.errors import InvalidSettings, Problem, SwiftError

MAX_LENGTH = {"reviewer": 200, "name": 500, "comment": 10_000}
MIN_STEP = 1e-6  # seconds by which a judgement is younger than the one before it
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Review:
    """One judgement of one phenotype by one person.

    Attributes
    ----------
    run, phenotype : str
        Run id and P01, P02, ...
    phenotype_digest : str
        ``FittedRun.phenotype_digest`` of what was looked at.
    name : str
        The clinical name given to it; may be empty.
    verdict : {"yes", "possibly", "no"}
        Whether it is clinically meaningful.
    problem : {"", "mixed", "duplicate", "artefact"}
    duplicate_of : str
        The other phenotype, when it is a duplicate.
    confidence : int or None
        1 (guessing) to 5 (certain); None if the reviewer did not say.
    saved_at, id : float, int
        Given by :meth:`Reviews.save`: seconds since 1970; a number that only grows.
    """

    run: str
    phenotype: str
    phenotype_digest: str
    reviewer: str
    name: str = ""
    verdict: str = "possibly"
    problem: str = ""
    duplicate_of: str = ""
    confidence: int | None = None
    comment: str = ""
    saved_at: float = 0.0
    id: int = 0


class Reviews:
    """Reviews in one SQLite file; what :meth:`save` returned survives any crash.

    Parameters
    ----------
    root : Path
        The root of the store.
    """

    def __init__(self, root: Path | str) -> None:
        self.path = Path(root) / "reviews.sqlite"
        self.copies = ReviewCopies(self.path)
        self._sound: tuple[int, ...] = ()  # how the file looked when it was examined

    def save(self, review: Review) -> Review:
        """Keep a judgement; returns it with its time and number. Raises as :meth:`save_all`."""
        return self.save_all([review])[0]

    def save_all(self, reviews: Sequence[Review]) -> list[Review]:
        """Keep judgements, all or none; returns them with their times and numbers.

        Raises
        ------
        InvalidSettings
            With everything that is wrong in them.
        ReviewsUnavailable
            If they cannot be written; then nothing was saved.
        """
        for review in reviews:
            _check(review)
        with self.writing() as connection:
            _check_rounds(connection, reviews)
            (newest,) = connection.execute("SELECT MAX(saved_at) FROM reviews").fetchone()
            saved = []
            for review in reviews:
                newest = max(time.time(), (newest or 0.0) + MIN_STEP)
                saved.append(_insert(connection, replace(review, saved_at=newest)))
        return saved

    @contextmanager
    def writing(self, *, copied: bool = True) -> Iterator[sqlite3.Connection]:
        """A connection; what was written with it is on the disk, and copied, when it ends well."""
        self._examine()
        with opened_to_write(self.path) as connection:
            yield connection
            connection.commit()
        if copied:
            self.keep_copy()

    def add_missing(self, reviews: Iterable[Review]) -> int:
        """Take over judgements from a copy of this or another store; those that are here stay.

        Returns how many were new. They keep their times, and their numbers where these are free.
        """
        with self.writing() as connection:
            here = [_read(row) for row in rows_of(connection, "reviews")]
            known, taken = {astuple(one)[:-1] for one in here}, {one.id for one in here}
            new = [one for one in reviews if astuple(one)[:-1] not in known]
            for review in sorted(new, key=lambda one: one.id in taken):  # free numbers first
                _insert(connection, review, None if review.id in taken else review.id)
        return len(new)

    def keep_copy(self) -> None:
        """Copy what is there; a copy that cannot be made undoes no saving."""
        try:
            self.copies.refresh()
        except (SwiftError, OSError) as error:
            logger.warning("The reviews were not copied: %s", error)

    def latest(self, run: str) -> list[Review]:
        """The newest judgement of each reviewer on each phenotype, oldest first."""
        found = map(_read, self.rows("reviews", "WHERE run = ? ORDER BY saved_at, id", run))
        newest = {(one.phenotype, one.reviewer): one for one in found}
        return sorted(newest.values(), key=lambda one: (one.saved_at, one.id))

    def history(self, run: str, phenotype: str) -> list[Review]:
        """Every judgement of one phenotype, oldest first."""
        which = "WHERE run = ? AND phenotype = ? ORDER BY saved_at, id"
        return [_read(row) for row in self.rows("reviews", which, run, phenotype)]

    def all(self) -> list[Review]:
        """Every judgement there is, oldest first."""
        return [_read(row) for row in self.rows("reviews", "ORDER BY saved_at, id")]

    def reviewed_runs(self) -> set[str]:
        """The runs about which anybody said anything."""
        return {one.run for one in self.all()}

    def forget(self, runs: Iterable[str]) -> None:
        """Delete everything said about runs whose data were deleted, in every copy too."""
        every = list(runs)
        if self._examine():
            delete_reviews(self.path, every)
        self.copies.forget(every)

    def rows(self, table: str, which: str = "", *values: str) -> list[tuple[Any, ...]]:
        """Rows of a table of the file; none while there is no such table.

        Raises
        ------
        ReviewsUnavailable
            If they cannot be read now.
        """
        if not self._examine():
            return []
        with opened(self.path) as connection:
            return rows_of(connection, table, which, values)

    def _examine(self) -> bool:
        """Whether there is a file with reviews; one that looks as when examined is not read again.

        Raises
        ------
        ReviewsDamaged
            If the file is not what was written.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            looks: tuple[int, ...] = ()
        else:
            looks = (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else ()
        if not looks or looks != self._sound:
            if (fault := self.copies.fault()) is not None:
                raise fault
            self._sound = looks
        return bool(looks)


def _insert(connection: sqlite3.Connection, review: Review, number: int | None = None) -> Review:
    said = replace(review, confidence=review.confidence or UNSAID)
    cursor = connection.execute(insert_into("reviews"), (*astuple(said)[:-1], number))
    return replace(review, id=int(cursor.lastrowid or 0))


def _read(row: Sequence[Any]) -> Review:
    found = Review(*row)
    return replace(found, confidence=None if found.confidence == UNSAID else found.confidence)


def _check_rounds(connection: sqlite3.Connection, reviews: Iterable[Review]) -> None:
    """A judgement after the round would not be blind; it is refused, not mixed with the others."""
    closed = {(run, who) for run, who, *_ in rows_of(connection, "closings")}
    late = sorted({one.reviewer for one in reviews if (one.run, one.reviewer) in closed})
    if late:
        raise InvalidSettings(
            [
                Problem(
                    "round-closed",
                    "The review round is closed, so its judgements stay as they are",
                    "reviewer",
                    ", ".join(late)[:80],
                    "Settle what is still open on the page Review.",
                )
            ]
        )


def _check(review: Review) -> None:
    choices = (("verdict", VERDICTS), ("problem", PROBLEMS), ("confidence", (None, 1, 2, 3, 4, 5)))
    problems = [
        Problem(
            "review-choice",
            "This cannot be chosen",
            name,
            repr(getattr(review, name))[:80],
            f"Choose one of {', '.join(repr(known) for known in allowed)}.",
        )
        for name, allowed in choices
        if getattr(review, name) not in allowed
    ]
    problems += [
        Problem("review-missing", "A review needs it", name, "nothing", "Fill it in.")
        for name in ("run", "phenotype", "phenotype_digest", "reviewer")
        if not getattr(review, name).strip()
    ]
    problems += [
        Problem(
            "review-long",
            "This is too long",
            name,
            f"{len(getattr(review, name)):,} letters",
            f"Use at most {most:,}.",
        )
        for name, most in MAX_LENGTH.items()
        if len(getattr(review, name)) > most
    ]
    if review.problem == "duplicate" and review.duplicate_of in ("", review.phenotype):
        problems.append(
            Problem(
                "review-duplicate",
                "A duplicate needs the other phenotype",
                "duplicate_of",
                repr(review.duplicate_of)[:80],
                "Choose another phenotype of the same run.",
            )
        )
    if problems:
        raise InvalidSettings(problems)
