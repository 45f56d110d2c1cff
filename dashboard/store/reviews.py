"""What people think of the phenotypes: every judgement is kept, none is ever changed."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from dashboard.store.verified_folder import make_private
from swiftcore.errors import InvalidSettings, Problem, SwiftError, refuse

VERDICTS = ("yes", "possibly", "no")
PROBLEMS = ("", "mixed", "duplicate", "artefact")
MAX_LENGTH = {"reviewer": 200, "name": 500, "comment": 10_000}
PATIENCE = 30.0  # seconds to wait for another writer

_SCHEMA = """
CREATE TABLE IF NOT EXISTS reviews (
    run TEXT NOT NULL, phenotype TEXT NOT NULL, phenotype_digest TEXT NOT NULL,
    reviewer TEXT NOT NULL, name TEXT NOT NULL, verdict TEXT NOT NULL, problem TEXT NOT NULL,
    duplicate_of TEXT NOT NULL, confidence INTEGER NOT NULL, comment TEXT NOT NULL,
    saved_at REAL NOT NULL, id INTEGER PRIMARY KEY AUTOINCREMENT
);
CREATE INDEX IF NOT EXISTS by_run ON reviews (run, phenotype, reviewer);
CREATE TRIGGER IF NOT EXISTS kept BEFORE UPDATE ON reviews
BEGIN SELECT RAISE(ABORT, 'reviews are never changed'); END;
"""


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
    confidence : int
        1 (guessing) to 5 (certain).
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
    confidence: int = 3
    comment: str = ""
    saved_at: float = 0.0
    id: int = 0


@dataclass(frozen=True)
class Agreement:
    """How far reviewers agree on the verdicts of one run.

    Attributes
    ----------
    reviewers, phenotypes : int
        Reviewers in all; phenotypes that at least two of them judged.
    share : float or None
        Pairs of judgements of the same phenotype that agree; None without any pair.
    kappa : float or None
        The same beyond chance (Cohen's for two reviewers, Fleiss' for more); None if every
        judgement is the same, for then chance explains all.
    """

    reviewers: int
    phenotypes: int
    share: float | None
    kappa: float | None


class ReviewsUnavailable(SwiftError):
    """The file of the reviews cannot be used; nothing was saved."""


class Reviews:
    """Reviews in one SQLite file; what :meth:`save` returned survives any crash.

    Parameters
    ----------
    root : Path
        The root of the store.
    """

    def __init__(self, root: Path | str) -> None:
        self.path = make_private(Path(root)) / "reviews.sqlite"
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))  # before SQLite makes it public
        with self._open() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA)

    def save(self, review: Review) -> Review:
        """Keep a judgement; returns it with its time and number.

        Raises
        ------
        InvalidSettings
            With everything that is wrong in it.
        """
        _check(review)
        saved = replace(review, saved_at=time.time())
        with self._open() as connection:
            marks = ", ".join("?" * len(_COLUMNS))
            cursor = connection.execute(  # our own column names and question marks, no value
                f"INSERT INTO reviews ({', '.join(_COLUMNS)}) VALUES ({marks})",  # nosec
                astuple(saved)[: len(_COLUMNS)],
            )
            connection.commit()
            return replace(saved, id=int(cursor.lastrowid or 0))

    def latest(self, run: str) -> list[Review]:
        """The newest judgement of each reviewer on each phenotype, oldest first."""
        return self._select(
            "run = ? AND id IN (SELECT MAX(id) FROM reviews WHERE run = ? "
            "GROUP BY phenotype, reviewer)",
            run,
            run,
        )

    def history(self, run: str, phenotype: str) -> list[Review]:
        """Every judgement of one phenotype, oldest first."""
        return self._select("run = ? AND phenotype = ?", run, phenotype)

    def forget(self, run: str) -> None:
        """Delete everything said about a run whose data were deleted."""
        with self._open() as connection:
            connection.execute("DELETE FROM reviews WHERE run = ?", (run,))
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _select(self, condition: str, *values: str) -> list[Review]:
        names = ", ".join(field.name for field in fields(Review))
        with self._open() as connection:
            rows = connection.execute(  # names and conditions of this file, values apart
                f"SELECT {names} FROM reviews WHERE {condition} ORDER BY id",  # nosec
                values,
            ).fetchall()
        return [Review(*row) for row in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as connection:
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute("PRAGMA secure_delete=ON")
                yield connection
        except sqlite3.Error as error:
            raise refuse(
                "reviews-file",
                "The reviews cannot be read or written",
                self.path.name,
                str(error),
                "Check the disk: is it full, or read-only? Then try again.",
                kind=ReviewsUnavailable,
            ) from error


_COLUMNS = tuple(field.name for field in fields(Review) if field.name != "id")


def agreement_of(reviews: Sequence[Review]) -> Agreement:
    """How far verdicts agree, at most one per reviewer and phenotype."""
    people = {review.reviewer for review in reviews}
    by_phenotype: dict[str, list[Review]] = {}
    for review in reviews:
        by_phenotype.setdefault(review.phenotype, []).append(review)
    shared = [group for group in by_phenotype.values() if len(group) > 1]
    if not shared:
        return Agreement(len(people), 0, None, None)
    counts = [Counter(review.verdict for review in group) for group in shared]
    shares = [
        sum(n * (n - 1) for n in count.values()) / (count.total() * (count.total() - 1))
        for count in counts
    ]
    observed = sum(shares) / len(shares)
    by_chance = _chance(shared)
    kappa = None if by_chance >= 1 else (observed - by_chance) / (1 - by_chance)
    return Agreement(len(people), len(shared), observed, kappa)


def _chance(shared: Sequence[Sequence[Review]]) -> float:
    """Agreement to expect of reviewers who judge at random, each with the habits seen."""
    people = sorted({review.reviewer for group in shared for review in group})
    if len(people) == 2:  # Cohen: two habits
        first, second = (
            Counter(
                review.verdict for group in shared for review in group if review.reviewer == person
            )
            for person in people
        )
        return sum(first[verdict] * second[verdict] for verdict in VERDICTS) / len(shared) ** 2
    every = Counter(review.verdict for group in shared for review in group)
    return sum((n / every.total()) ** 2 for n in every.values())


def _check(review: Review) -> None:
    choices = (("verdict", VERDICTS), ("problem", PROBLEMS), ("confidence", (1, 2, 3, 4, 5)))
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
