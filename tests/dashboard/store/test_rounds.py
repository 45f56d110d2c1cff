"""Rounds end once, settlements and drafts are kept, and older files are read on."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.store.agreement import agreement_of, disagreements, votes_on
from dashboard.store.backup import write_backup
from dashboard.store.restore import restore_backup
from dashboard.store.review_file import VERDICTS, VERSION, ReviewsUnavailable
from dashboard.store.reviews import Review, Reviews
from dashboard.store.rounds import Rounds, Settlement
from dashboard.store.store import Store
from swiftcore.errors import InvalidSettings

RUN = "a" * 32
ONE = Review(RUN, "P01", "digest", "Ada", name="Heart", verdict="yes", confidence=4)
AGREED = Settlement(RUN, "P01", "digest", "possibly", "Heart failure", "Dr Chair")
# what the first version wrote, to the letter
FIRST = """
CREATE TABLE reviews (
    run TEXT NOT NULL, phenotype TEXT NOT NULL, phenotype_digest TEXT NOT NULL,
    reviewer TEXT NOT NULL, name TEXT NOT NULL, verdict TEXT NOT NULL, problem TEXT NOT NULL,
    duplicate_of TEXT NOT NULL, confidence INTEGER NOT NULL, comment TEXT NOT NULL,
    saved_at REAL NOT NULL, id INTEGER PRIMARY KEY AUTOINCREMENT
);
CREATE INDEX by_run ON reviews (run, phenotype, reviewer);
CREATE TRIGGER kept BEFORE UPDATE ON reviews
BEGIN SELECT RAISE(ABORT, 'reviews are never changed'); END;
"""


@pytest.fixture
def reviews(tmp_path: Path) -> Reviews:
    return Reviews(tmp_path)


@pytest.fixture
def older(tmp_path: Path) -> Reviews:
    """A file of the first version with one judgement."""
    with sqlite3.connect(tmp_path / "reviews.sqlite") as connection:
        connection.executescript(FIRST)
        connection.execute(
            "INSERT INTO reviews VALUES (?, 'P01', 'digest', 'Ada', 'Old', 'no', '', '', 3, '', "
            "17.0, 7)",
            (RUN,),
        )
    return Reviews(tmp_path)


def test_an_older_file_is_read_as_it_is_and_upgraded_by_the_next_saving(older: Reviews) -> None:
    rounds = Rounds(older)
    before = older.path.read_bytes()
    (said,) = older.latest(RUN)
    assert (said.confidence, said.name, said.id) == (3, "Old", 7)
    assert (
        rounds.closed(RUN) == {} and rounds.settled(RUN) == {} and rounds.drafts(RUN, "Ada") == {}
    )
    older.forget(["b" * 32])
    assert older.path.read_bytes() == before  # looking changes nothing
    saved = older.save(replace(ONE, reviewer="Bert", confidence=None))
    rounds.close(RUN, "Ada")
    again = Reviews(older.path.parent)
    assert again.latest(RUN) == [said, saved] and saved.id == 8
    assert list(Rounds(again).closed(RUN)) == ["Ada"]
    with sqlite3.connect(older.path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_file_of_a_newer_version_is_left_alone(reviews: Reviews) -> None:
    reviews.save(ONE)
    with sqlite3.connect(reviews.path) as connection:
        connection.execute(f"PRAGMA user_version={VERSION + 1}")
    newer = Reviews(reviews.path.parent)
    with pytest.raises(ReviewsUnavailable, match="newer version"):
        newer.latest(RUN)
    with pytest.raises(ReviewsUnavailable, match="newer version"):
        newer.save(ONE)


def test_a_round_is_open_from_the_name_on_and_ends_once(reviews: Reviews) -> None:
    rounds = Rounds(reviews)
    assert rounds.is_open(RUN, "Ada") and not rounds.is_open(RUN, "")
    reviews.save(ONE)
    rounds.keep_draft(RUN, "Ada", "P02", {"name": "half"})
    rounds.close(RUN, "Ada")
    (first,) = rounds.closed(RUN).values()
    rounds.close(RUN, "Ada")
    assert rounds.closed(RUN) == {"Ada": first}
    assert not rounds.is_open(RUN, "Ada")
    assert rounds.is_open(RUN, "Bert") and rounds.is_open("b" * 32, "Ada")
    assert rounds.drafts(RUN, "Ada") == {}
    with pytest.raises(InvalidSettings, match="round is closed"):
        reviews.save_all([replace(ONE, reviewer="Bert"), replace(ONE, verdict="no")])
    assert reviews.latest(RUN)[0].verdict == "yes" and len(reviews.all()) == 1


def test_while_nobody_can_know_a_round_counts_as_open(reviews: Reviews) -> None:
    reviews.save(ONE)
    Rounds(reviews).close(RUN, "Ada")
    reviews.path.write_bytes(b"nonsense" * 1000)
    assert Rounds(Reviews(reviews.path.parent)).is_open(RUN, "Ada")


def test_settlements_are_kept_all_and_never_changed(reviews: Reviews) -> None:
    rounds = Rounds(reviews)
    rounds.agree_on([AGREED])
    rounds.agree_on([replace(AGREED, verdict="yes", arbiter="")])
    assert [one.verdict for one in rounds.settlements(RUN, "P01")] == ["possibly", "yes"]
    assert rounds.settled(RUN)["P01"].arbiter == ""
    for table in ("settlements", "closings"):
        rounds.close(RUN, "Ada")
        with sqlite3.connect(reviews.path) as connection, pytest.raises(sqlite3.IntegrityError):
            connection.execute(f"UPDATE {table} SET run = 'other'")
    for wrong in ({"verdict": "maybe"}, {"name": "x" * 501}, {"arbiter": "x" * 501}):
        with pytest.raises(InvalidSettings):
            rounds.agree_on([replace(AGREED, **wrong)])


def test_a_draft_is_the_reviewers_own_and_goes_when_it_is_empty(reviews: Reviews) -> None:
    rounds = Rounds(reviews)
    rounds.keep_draft(RUN, "Ada", "P01", {"name": "half", "verdict": None})
    rounds.keep_draft(RUN, "Ada", "P01", {"name": "half a name", "verdict": "no"})
    assert rounds.drafts(RUN, "Ada") == {"P01": {"name": "half a name", "verdict": "no"}}
    assert rounds.drafts(RUN, "Bert") == {}
    rounds.keep_draft(RUN, "Ada", "P01", {})
    assert rounds.drafts(RUN, "Ada") == {}


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"verdict": "maybe"}', '{"name": 3}', '{"run": "x"}']
)
def test_what_no_form_can_hold_is_no_draft(reviews: Reviews, text: str) -> None:
    rounds = Rounds(reviews)
    rounds.keep_draft(RUN, "Ada", "P01", {"name": "half"})
    with sqlite3.connect(reviews.path) as connection:
        connection.execute("UPDATE drafts SET typed = ?", (text,))
    assert rounds.drafts(RUN, "Ada") == {"P01": {}}


def test_deleted_data_take_everything_said_along(reviews: Reviews) -> None:
    rounds = Rounds(reviews)
    reviews.save(replace(ONE, name="SECRET-1"))
    rounds.keep_draft(RUN, "Ada", "P02", {"comment": "SECRET-2"})
    rounds.agree_on([replace(AGREED, name="SECRET-3")])
    rounds.close(RUN, "SECRET-4")
    reviews.forget([RUN])
    files = [reviews.path, *reviews.copies.paths()]
    assert len(files) > 1 and not any(b"SECRET" in file.read_bytes() for file in files)


def test_a_backup_brings_rounds_and_settlements_back(tmp_path: Path) -> None:
    root = Store(tmp_path / "store").root
    reviews = Reviews(root)
    reviews.save(ONE)
    Rounds(reviews).close(RUN, "Ada")
    Rounds(reviews).agree_on([AGREED])
    write_backup(root, tmp_path / "backup")
    for _ in range(2):  # a second time adds nothing
        restore_backup(tmp_path / "other", tmp_path / "backup")
    there = Rounds(Reviews(tmp_path / "other"))
    assert there.closed(RUN) == Rounds(reviews).closed(RUN)
    assert [one.name for one in there.settlements(RUN, "P01")] == ["Heart failure"]


def test_a_damaged_file_without_copies_gives_back_what_can_be_read(reviews: Reviews) -> None:
    reviews.save(ONE)
    Rounds(reviews).close(RUN, "Ada")
    Rounds(reviews).agree_on([AGREED])
    for path in reviews.copies.paths():
        path.unlink()
    with sqlite3.connect(reviews.path) as connection:  # a judgement that nobody can have made
        connection.execute("DROP TRIGGER kept")
        connection.execute(
            "INSERT INTO reviews SELECT run, phenotype, phenotype_digest, 'Bert', "
            "name, 'maybe', problem, duplicate_of, confidence, comment, saved_at, 9 "
            "FROM reviews"
        )
    found = Reviews(reviews.path.parent)
    assert found.copies.restore() is not None
    assert [one.reviewer for one in found.latest(RUN)] == ["Ada"]
    assert list(Rounds(found).closed(RUN)) == ["Ada"]
    assert Rounds(found).settled(RUN)["P01"].name == "Heart failure"


def said(verdicts: list[list[str]], names: list[str] | None = None) -> list[Review]:
    """Judgements: a list per reviewer, in the order of the phenotypes."""
    return [
        Review(RUN, f"P{place:02d}", "d", f"r{who}", verdict=verdict, name=(names or [""] * 9)[who])
        for who, row in enumerate(verdicts)
        for place, verdict in enumerate(row)
    ]


def test_a_vote_needs_more_than_any_other() -> None:
    three = said([["yes"], ["no"], ["yes"]], ["Heart", "heart ", "Lung"])
    vote = votes_on(three)["P00"]
    assert (vote.verdict, vote.name, vote.verdicts) == ("yes", "Heart", ("yes", "no"))
    assert vote.is_decided and vote.differs
    tie = votes_on(three[:2])["P00"]
    assert tie.verdict == "" and not tie.is_decided and tie.name == "Heart"
    same = votes_on(said([["no"], ["no"]]))["P00"]
    assert same.verdict == "no" and same.is_decided and not same.differs


def test_those_that_differ_by_verdict_come_first() -> None:
    reviews = said([["yes", "yes", "no"], ["yes", "no", "no"]], ["A", "B"])
    assert [vote.phenotype for vote in disagreements(reviews)] == ["P01", "P00", "P02"]
    assert disagreements(said([["yes", "no"], ["yes", "no"]])) == []


def fleiss(counts: list[list[int]]) -> float | None:
    """As in Fleiss (1971), from counts of subjects x categories; None if chance explains all."""
    table = np.array(counts, dtype=float)
    raters = table.sum(axis=1)[0]
    each = (np.sum(table**2, axis=1) - raters) / (raters * (raters - 1))
    chance = float(np.sum((table.sum(axis=0) / table.sum()) ** 2))
    return None if chance == 1 else float((each.mean() - chance) / (1 - chance))


@given(st.integers(3, 5), st.lists(st.integers(0, 3**5 - 1), min_size=1, max_size=8))
def test_kappa_of_many_is_fleiss_and_of_no_order(people: int, drawn: list[int]) -> None:
    rows = [[VERDICTS[number // 3**place % 3] for place in range(people)] for number in drawn]
    reviews = said([list(column) for column in zip(*rows, strict=True)])
    found = agreement_of(reviews)
    expected = fleiss([[row.count(verdict) for verdict in VERDICTS] for row in rows])
    assert found.kappa == (None if expected is None else pytest.approx(expected))
    assert agreement_of(reviews[::-1]).kappa == (
        None if found.kappa is None else pytest.approx(found.kappa)
    )
    if found.kappa is not None:
        assert found.share is not None and found.kappa <= found.share <= 1


def test_drafts_are_plain_json(reviews: Reviews) -> None:
    Rounds(reviews).keep_draft(RUN, "Ada", "P01", {"comment": "<b>\u202e"})
    ((_, _, _, text),) = reviews.rows("drafts")
    assert json.loads(text) == {"comment": "<b>\u202e"}
