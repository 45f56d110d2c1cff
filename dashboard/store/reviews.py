"""What people think of the phenotypes: every judgement is kept, none is ever changed."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from dashboard.store.review_copies import ReviewCopies, delete_reviews
from dashboard.store.review_file import INSERT, PROBLEMS, VERDICTS, opened, opened_to_write
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
        self._examine()
        with opened_to_write(self.path) as connection:
            (newest,) = connection.execute("SELECT MAX(saved_at) FROM reviews").fetchone()
            saved = []
            for review in reviews:
                newest = max(time.time(), (newest or 0.0) + MIN_STEP)
                saved.append(_insert(connection, replace(review, saved_at=newest)))
            connection.commit()
        self.keep_copy()
        return saved

    def add_missing(self, reviews: Iterable[Review]) -> int:
        """Take over judgements from a copy of this or another store; those that are here stay.

        Returns how many were new. They keep their times, and their numbers where these are free.
        """
        self._examine()
        with opened_to_write(self.path) as connection:
            here = connection.execute("SELECT * FROM reviews").fetchall()
            known, taken = {row[:-1] for row in here}, {row[-1] for row in here}
            new = [one for one in reviews if astuple(one)[:-1] not in known]
            for review in sorted(new, key=lambda one: one.id in taken):  # free numbers first
                _insert(connection, review, None if review.id in taken else review.id)
            connection.commit()
        self.keep_copy()
        return len(new)

    def keep_copy(self) -> None:
        """Copy what is there; a copy that cannot be made undoes no saving."""
        try:
            self.copies.refresh()
        except (SwiftError, OSError) as error:
            logger.warning("The reviews were not copied: %s", error)

    def latest(self, run: str) -> list[Review]:
        """The newest judgement of each reviewer on each phenotype, oldest first."""
        found = self._select("SELECT * FROM reviews WHERE run = ? ORDER BY saved_at, id", run)
        newest = {(one.phenotype, one.reviewer): one for one in found}
        return sorted(newest.values(), key=lambda one: (one.saved_at, one.id))

    def history(self, run: str, phenotype: str) -> list[Review]:
        """Every judgement of one phenotype, oldest first."""
        return self._select(
            "SELECT * FROM reviews WHERE run = ? AND phenotype = ? ORDER BY saved_at, id",
            run,
            phenotype,
        )

    def all(self) -> list[Review]:
        """Every judgement there is, oldest first."""
        return self._select("SELECT * FROM reviews ORDER BY saved_at, id")

    def reviewed_runs(self) -> set[str]:
        """The runs about which anybody said anything."""
        return {one.run for one in self.all()}

    def forget(self, runs: Iterable[str]) -> None:
        """Delete everything said about runs whose data were deleted, in every copy too."""
        every = list(runs)
        if self._examine():
            delete_reviews(self.path, every)
        self.copies.forget(every)

    def _select(self, query: str, *values: str) -> list[Review]:
        if not self._examine():
            return []
        with opened(self.path) as connection:
            return [Review(*row) for row in connection.execute(query, values)]

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
    cursor = connection.execute(INSERT, (*astuple(review)[:-1], number))
    return replace(review, id=int(cursor.lastrowid or 0))


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
