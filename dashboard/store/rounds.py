"""Review rounds: one result's phenotypes judged by one reviewer, blind until it is closed.

A round is open for everybody who gave a name and has not closed it; so only closings are kept.
Until then the reviewer is shown neither the outcome (:mod:`dashboard.fit_view.blind`) nor what
others said (:meth:`Rounds.judged`); pages and exports draw from these and nothing else.
What follows a round is kept here too: settlements, and drafts on the way.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from dashboard.store.review_file import (
    PROBLEMS,
    VERDICTS,
    ReviewsUnavailable,
    insert_into,
    rows_of,
)
from dashboard.store.reviews import MAX_LENGTH, Review, Reviews
from swiftcore.errors import InvalidSettings, refuse

Draft = dict[str, Any]
FIELDS: dict[str, tuple[object, ...]] = {  # of a draft, with what may be chosen; else any text
    "name": (),
    "verdict": (None, *VERDICTS),
    "problem": PROBLEMS,
    "duplicate_of": (),
    "confidence": (None, 1, 2, 3, 4, 5),
    "comment": (),
}


@dataclass(frozen=True)
class Closing:
    """The end of a reviewer's round on a run."""

    run: str
    reviewer: str
    closed_at: float
    id: int = 0


@dataclass(frozen=True)
class Settlement:
    """What was agreed on a phenotype.

    Attributes
    ----------
    verdict, name : str
        The agreed ones; the name may be empty.
    arbiter : str
        Who decided; empty if the votes did.
    saved_at, id : float, int
        Given by :meth:`Rounds.agree_on`.
    """

    run: str
    phenotype: str
    phenotype_digest: str
    verdict: str
    name: str = ""
    arbiter: str = ""
    saved_at: float = 0.0
    id: int = 0


@dataclass(frozen=True)
class Judged:
    """What was said of a run, as far as its reader may see it.

    Attributes
    ----------
    reviews : tuple of Review
        The newest of each reviewer and phenotype.
    settled : dict of str to Settlement
        The newest of each phenotype.
    blind_for : str
        The reader, while the reader's round is open: then ``reviews`` are the reader's own,
        nothing is settled, and the outcome must stay hidden. Else empty.
    """

    reviews: tuple[Review, ...] = ()
    settled: Mapping[str, Settlement] = field(default_factory=dict)
    blind_for: str = ""


class Rounds:
    """Rounds, settlements and drafts, in the file of the reviews; every method raises
    ReviewsUnavailable if that cannot be used now.

    Parameters
    ----------
    reviews : Reviews
    """

    def __init__(self, reviews: Reviews) -> None:
        self.reviews = reviews

    def close(self, run: str, reviewer: str) -> None:
        """End a round; what was typed and not saved goes. A closed round stays as it is."""
        if reviewer in self.closed(run):
            return
        with self.reviews.writing() as connection:
            connection.execute(insert_into("closings"), (run, reviewer, time.time(), None))
            connection.execute("DELETE FROM drafts WHERE run = ? AND reviewer = ?", (run, reviewer))

    def closed(self, run: str) -> dict[str, float]:
        """Who closed the round on a run, and when."""
        found = self.reviews.rows("closings", "WHERE run = ? ORDER BY id DESC", run)
        return {one.reviewer: one.closed_at for one in (Closing(*row) for row in found)}

    def is_open(self, run: str, reviewer: str) -> bool:
        """Whether somebody may not yet see what others said; true too while nobody can know."""
        if not reviewer:
            return False
        try:
            return reviewer not in self.closed(run)
        except ReviewsUnavailable:
            return True

    def judged(self, run: str, blind_for: str = "") -> Judged:
        """What was said of a run, or by a reader who is in the middle of a round."""
        reviews = self.reviews.latest(run)
        if blind_for:
            return Judged(tuple(one for one in reviews if one.reviewer == blind_for), {}, blind_for)
        return Judged(tuple(reviews), self.settled(run))

    def agree_on(self, settlements: Sequence[Settlement]) -> None:
        """Keep what was agreed; earlier settlements stay as history.

        Raises
        ------
        InvalidSettings
            If a verdict is none, or a text is too long.
        """
        for one in settlements:
            _check(one)
        with self.reviews.writing() as connection:
            rows = [(*astuple(one)[:-2], time.time(), None) for one in settlements]
            connection.executemany(insert_into("settlements"), rows)

    def settled(self, run: str) -> dict[str, Settlement]:
        """The newest settlement of each phenotype of a run."""
        found = self.reviews.rows("settlements", "WHERE run = ? ORDER BY saved_at, id", run)
        return {one.phenotype: one for one in (Settlement(*row) for row in found)}

    def settlements(self, run: str, phenotype: str) -> list[Settlement]:
        """Everything ever agreed on a phenotype, oldest first."""
        which = "WHERE run = ? AND phenotype = ? ORDER BY saved_at, id"
        return [Settlement(*row) for row in self.reviews.rows("settlements", which, run, phenotype)]

    def add_missing(self, other: Rounds) -> None:
        """Take over closings and settlements of another file; drafts stay where they are."""
        new = {table: other.reviews.rows(table) for table in ("closings", "settlements")}
        if not any(new.values()):
            return
        with self.reviews.writing() as connection:
            for table, rows in new.items():
                known = {row[:-1] for row in rows_of(connection, table)}
                missing = [(*row[:-1], None) for row in rows if row[:-1] not in known]
                connection.executemany(insert_into(table), missing)

    def keep_draft(self, run: str, reviewer: str, phenotype: str, typed: Draft) -> None:
        """Keep what was typed and not saved; an empty draft is none."""
        with self.reviews.writing(copied=False) as connection:
            place = (run, reviewer, phenotype)
            connection.execute(
                "DELETE FROM drafts WHERE run = ? AND reviewer = ? AND phenotype = ?", place
            )
            if typed:
                text = json.dumps(typed)
                connection.execute("INSERT INTO drafts VALUES (?, ?, ?, ?)", (*place, text))

    def drafts(self, run: str, reviewer: str) -> dict[str, Draft]:
        """What a reviewer typed and did not save, by phenotype."""
        rows = self.reviews.rows("drafts", "WHERE run = ? AND reviewer = ?", run, reviewer)
        return {phenotype: _typed(text) for _, _, phenotype, text in rows}


def _typed(text: str) -> Draft:
    """The fields of a draft that a form can hold; what is no draft is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    fields = found.items() if isinstance(found, dict) else ()
    return {name: value for name, value in fields if name in FIELDS and _fits(name, value)}


def _fits(name: str, value: object) -> bool:
    return value in FIELDS[name] if FIELDS[name] else isinstance(value, str)


def _check(one: Settlement) -> None:
    long = [name for name in ("name", "arbiter") if len(getattr(one, name)) > MAX_LENGTH["name"]]
    if one.verdict not in VERDICTS or long:
        raise refuse(
            "settlement",
            "This cannot be agreed on",
            one.phenotype,
            repr(one.verdict)[:40] if not long else f"a {long[0]} that is too long",
            f"Choose one of {', '.join(VERDICTS)}, and a name of at most {MAX_LENGTH['name']} "
            "letters.",
            kind=InvalidSettings,
        )
