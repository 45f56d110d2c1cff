"""Reviews are kept, all of them, and say how far people agree."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from dashboard.store.agreement import agreement_of
from dashboard.store.review_file import VERDICTS, opened_to_write
from dashboard.store.reviews import Review, Reviews
from swiftcore.errors import InvalidSettings, SwiftError

ONE = Review("r" * 32, "P01", "digest", "anna", name="Heart", verdict="yes", comment="clear")


@pytest.fixture
def reviews(tmp_path: Path) -> Reviews:
    return Reviews(tmp_path)


def test_a_review_comes_back_to_another_reader(reviews: Reviews) -> None:
    saved = reviews.save(ONE)
    assert saved.id == 1 and saved.saved_at > 0
    assert replace(saved, id=0, saved_at=0.0) == ONE
    assert Reviews(reviews.path.parent).latest(ONE.run) == [saved]


def test_the_newest_counts_and_the_older_stay(reviews: Reviews) -> None:
    first = reviews.save(ONE)
    other = reviews.save(replace(ONE, reviewer="bert", verdict="no"))
    second = reviews.save(replace(ONE, verdict="possibly"))
    assert reviews.latest(ONE.run) == [other, second]
    assert reviews.history(ONE.run, "P01") == [first, other, second]
    assert reviews.latest("another") == []


def test_nothing_is_ever_changed(reviews: Reviews) -> None:
    reviews.save(ONE)
    with sqlite3.connect(reviews.path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE reviews SET comment = 'other'")
    assert reviews.latest(ONE.run)[0].comment == "clear"


def test_the_disk_has_it_before_save_returns(reviews: Reviews) -> None:
    reviews.save(ONE)
    with opened_to_write(reviews.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "maybe"},
        {"problem": "ugly"},
        {"confidence": 0},
        {"confidence": 6},
        {"reviewer": " "},
        {"run": ""},
        {"comment": "x" * 10_001},
        {"problem": "duplicate"},
        {"problem": "duplicate", "duplicate_of": "P01"},
    ],
)
def test_what_makes_no_sense_is_refused(reviews: Reviews, change: dict[str, object]) -> None:
    with pytest.raises(InvalidSettings):
        reviews.save(replace(ONE, **change))
    assert reviews.latest(ONE.run) == []


def test_hostile_text_is_kept_as_typed(reviews: Reviews) -> None:
    text = "'; DROP TABLE reviews; -- <script>\u202e=1+1\0\n"
    saved = reviews.save(replace(ONE, name=text, comment=text, reviewer="o'b\"r"))
    assert reviews.latest(ONE.run) == [saved]


def test_a_file_that_is_no_database_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "reviews.sqlite").write_bytes(b"nonsense" * 1000)
    with pytest.raises(SwiftError, match="reviews cannot be read"):
        Reviews(tmp_path).latest("r")


def judged(verdicts: dict[str, list[str]]) -> list[Review]:
    return [
        Review("r", f"P{place:02d}", "d", reviewer, verdict=verdict)
        for reviewer, given in verdicts.items()
        for place, verdict in enumerate(given)
    ]


def test_two_reviewers_agree_as_cohen_says() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = (rng.choice(VERDICTS, size=12).tolist() for _ in range(2))
        found = agreement_of(judged({"anna": a, "bert": b}))
        assert found.share == pytest.approx(np.mean(np.array(a) == np.array(b)))
        assert found.kappa == pytest.approx(cohen_kappa_score(a, b))
        assert (found.reviewers, found.phenotypes) == (2, 12)


def test_three_reviewers_agree_as_fleiss_says() -> None:
    # subjects x (yes, possibly, no) counts 3 0 0 / 0 3 0 / 1 1 1 : P = (1 + 1 + 0) / 3,
    # shares 4/9, 4/9, 1/9 so chance is 33/81
    found = agreement_of(
        judged(
            {
                "anna": ["yes", "possibly", "yes"],
                "bert": ["yes", "possibly", "possibly"],
                "carl": ["yes", "possibly", "no"],
            }
        )
    )
    assert found.share == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx((2 / 3 - 33 / 81) / (1 - 33 / 81))


def test_without_pairs_or_differences_there_is_no_kappa() -> None:
    alone = agreement_of(judged({"anna": ["yes", "no"]}))
    assert (alone.share, alone.kappa, alone.phenotypes) == (None, None, 0)
    same = agreement_of(judged({"anna": ["yes", "yes"], "bert": ["yes", "yes"]}))
    assert (same.share, same.kappa) == (1.0, None)
