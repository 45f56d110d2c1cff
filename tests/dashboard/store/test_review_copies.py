"""Copies of the reviews follow every change, and come back when the file is damaged."""

from __future__ import annotations

import sqlite3
import stat
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.harmed_reviews import HARM

from dashboard.store import review_copies
from dashboard.store.review_copies import KEPT
from dashboard.store.review_file import ReviewsDamaged, ReviewsUnavailable, examine
from dashboard.store.reviews import Review, Reviews
from swiftcore.errors import InvalidSettings

ONE = Review("r" * 32, "P01", "digest", "anna", name="Heart", verdict="yes", comment="clear")


@pytest.fixture
def reviews(tmp_path: Path) -> Reviews:
    """Twenty judgements, of several pages."""
    made = Reviews(tmp_path)
    made.save_all([replace(ONE, phenotype=f"P{n:02d}", comment="x" * 900) for n in range(20)])
    return made


def test_the_newest_copy_holds_every_judgement(reviews: Reviews) -> None:
    for turn in range(3):
        reviews.save(replace(ONE, comment=f"turn {turn}"))
        newest = reviews.copies.newest()
        assert newest is not None and newest.judgements == 21 + turn
    with sqlite3.connect(newest.path) as copy, sqlite3.connect(reviews.path) as live:
        rows = "SELECT * FROM reviews ORDER BY id"
        assert copy.execute(rows).fetchall() == live.execute(rows).fetchall()
    assert stat.S_IMODE(newest.path.stat().st_mode) == 0o600
    assert not list((reviews.path.parent / "temporary").iterdir())


def test_the_last_ten_are_kept_and_reach_back_further_than_ten_clicks(
    reviews: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 1_800_000_000.0
    for turn in range(60):
        clock += 60.0
        monkeypatch.setattr(review_copies.time, "time_ns", lambda now=clock: int(now * 1e9))
        reviews.save(replace(ONE, comment=f"turn {turn}"))
    paths = reviews.copies.paths()
    made = [review_copies._made(path) for path in paths]
    assert len(paths) == KEPT == 10 and made == sorted(made, reverse=True)
    assert made[0] == clock and clock - made[-1] >= 8 * review_copies.SPACING
    assert examine(paths[0]) == 80 and examine(paths[-1]) < 40


def test_a_copy_that_cannot_be_made_loses_no_judgement_and_no_copy(
    reviews: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reviews.copies.paths()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(review_copies.os, "rename", full)
    saved = reviews.save(ONE)
    assert reviews.latest(ONE.run)[-1] == saved and reviews.copies.paths() == before


def test_writers_at_once_lose_nothing(reviews: Reviews) -> None:
    def write(who: int) -> None:
        mine = Reviews(reviews.path.parent)
        for turn in range(5):
            mine.save(replace(ONE, reviewer=f"reviewer {who}", comment=f"{turn}"))

    writers = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    newest = reviews.copies.newest()
    assert len(reviews.all()) == 40 and newest is not None and newest.judgements == 40


@pytest.mark.parametrize("harm", HARM)
def test_harm_is_noticed_and_the_copy_brings_all_back(reviews: Reviews, harm: str) -> None:
    before = reviews.all()
    HARM[harm](reviews.path)
    broken = reviews.path.read_bytes() if reviews.path.exists() else None
    with pytest.raises(ReviewsDamaged, match="damaged"):
        reviews.latest(ONE.run)
    with pytest.raises(ReviewsDamaged):
        reviews.save(ONE)  # into a damaged file it would be lost
    restored = reviews.copies.restore()
    assert restored is not None and restored.judgements == 20
    assert reviews.all() == before
    kept = [path.read_bytes() for path in reviews.path.parent.glob("reviews-damaged-*.sqlite")]
    assert kept == ([] if broken is None else [broken])
    assert reviews.copies.restore() is None  # it is sound
    assert reviews.save(ONE).id > before[-1].id


def test_damaged_copies_are_passed_over(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_copies, "SPACING", 0.0)
    reviews.save(ONE)
    newest, older = reviews.copies.paths()[:2]
    HARM["second page"](newest)
    HARM["cut in half"](reviews.path)
    found = reviews.copies.newest()
    assert found is not None and found.path == older and found.judgements == 20
    reviews.copies.restore()
    assert len(reviews.all()) == 20


@pytest.mark.parametrize(
    "harm", ["second page", "last page", "cut in half", "no database", "zeros"]
)
def test_without_a_copy_what_can_be_read_is_taken_over(reviews: Reviews, harm: str) -> None:
    before = reviews.all()
    for path in reviews.copies.paths():
        path.unlink()
    HARM[harm](reviews.path)
    assert reviews.copies.newest() is None
    done = reviews.copies.restore()
    assert done is not None
    found = reviews.all()
    assert done.judgements == len(found) and set(found) <= set(before)
    if harm == "last page":
        assert len(found) > 3
    assert reviews.save(ONE) in reviews.all()


def test_flipped_bytes_are_noticed_or_harm_no_form(reviews: Reviews) -> None:
    """A byte within a comment can change unnoticed; nothing else may, and nothing may crash."""
    before, whole = reviews.all(), reviews.path.read_bytes()
    rng, noticed = np.random.default_rng(5), 0
    for place in rng.integers(0, len(whole), 150).tolist():
        content = bytearray(whole)
        content[place] ^= int(1 << rng.integers(0, 8))
        reviews.path.write_bytes(content)
        try:
            found = Reviews(reviews.path.parent).all()
        except ReviewsUnavailable:
            noticed += 1
            continue
        assert len(found) <= len(before)
        for review in found:
            assert review.verdict in ("yes", "possibly", "no") and review.confidence in (
                None,
                1,
                2,
                3,
                4,
                5,
            )
    assert noticed > 10


def test_deleting_reaches_every_copy(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_copies, "SPACING", 0.0)
    told = "Mrs. Canary 4711"
    reviews.save(replace(ONE, run="s" * 32, comment=told))
    reviews.save(ONE)
    HARM["second page"](reviews.copies.paths()[-1])  # a damaged copy cannot be cleaned
    reviews.forget(["s" * 32])
    assert len(reviews.all()) == 21 and reviews.copies.newest().judgements == 21
    for path in reviews.path.parent.rglob("*"):
        assert not path.is_file() or told.encode() not in path.read_bytes()


def test_several_judgements_are_saved_all_or_none(reviews: Reviews) -> None:
    with pytest.raises(InvalidSettings):
        reviews.save_all([ONE, replace(ONE, verdict="maybe")])
    assert len(reviews.all()) == 20


def test_a_clock_that_is_set_back_hides_no_judgement(
    reviews: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.store.reviews.time.time", lambda: 1.0)
    later = reviews.save(replace(ONE, comment="later"))
    assert later in reviews.latest(ONE.run)


def test_a_file_with_a_write_ahead_log_is_read_and_copied(tmp_path: Path) -> None:
    """As earlier versions wrote it."""
    reviews = Reviews(tmp_path)
    reviews.save(ONE)
    for path in reviews.copies.paths():
        path.unlink()
    with sqlite3.connect(reviews.path) as old:
        assert old.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
        again = Reviews(tmp_path)
        again.keep_copy()
        assert len(again.latest(ONE.run)) == 1 and again.copies.newest().judgements == 1
    old.close()
    again.save(ONE)
    with sqlite3.connect(reviews.path) as new:
        assert new.execute("PRAGMA journal_mode").fetchone() == ("delete",)
