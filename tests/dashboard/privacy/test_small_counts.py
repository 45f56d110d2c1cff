"""Hidden counts against a reader who knows every rule and solves for them exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from dashboard.privacy.small_counts import HIDDEN, hidden, hidden_share, hide_table, with_totals


def test_counts_below_the_limit_and_small_rests_are_hidden() -> None:
    assert [hidden(count, 11) for count in (0, 1, 10, 11, 1234)] == [
        "0",
        "<11",
        "<11",
        "11",
        "1,234",
    ]
    assert hidden(4, 5) == "<5" and hidden(5, 5) == "5" and hidden(3, 0) == "3"
    assert hidden(995, 11, 1000) == ">989" and hidden(990, 11, 1000) == ">989"
    assert hidden(989, 11, 1000) == "989" and hidden(1000, 11, 1000) == "1,000"
    assert [hidden(count, 11, 13) for count in (0, 1, 12, 13)] == ["0", HIDDEN, HIDDEN, "13"]
    assert hidden(0, 11, 5) == "0", "a rest that is the hidden total itself says nothing new"


@pytest.mark.parametrize("limit", [5, 11])
def test_no_total_and_rest_lead_back_to_a_small_count(limit: int) -> None:
    """For each text, several counts must be possible whenever count or rest is small."""
    for total in range(61):
        shown: dict[str, list[int]] = {}
        for count in range(total + 1):
            shown.setdefault(hidden(count, limit, total), []).append(count)
            shown.setdefault(f"share {hidden_share(count, total, limit, 3)}", []).append(count)
        if total < limit:
            continue  # such a total is hidden itself
        for counts in shown.values():
            if any(0 < count < limit or 0 < total - count < limit for count in counts):
                assert len(set(counts)) > 1


def test_shares_are_shown_only_where_counts_are() -> None:
    assert hidden_share(250, 1000, 11) == "25%"
    assert hidden_share(3, 1000, 11) == "<1.1%" and hidden_share(997, 1000, 11) == ">98.9%"
    assert hidden_share(2, 8, 11) == HIDDEN and hidden_share(0, 0, 11) == "0%"
    assert hidden_share(2, 8, 0) == "25%"


def test_a_single_small_cell_takes_others_with_it() -> None:
    table = hide_table(pd.DataFrame([[4, 50], [60, 70]], ["a", "b"], ["x", "y"]), 11)
    assert table.loc["a", "x"] == "<11"
    assert (table.to_numpy()[:2, :2] == HIDDEN).sum() == 3
    assert table.loc["a", "Total"] == "54" and table.loc["Total", "Total"] == "184"


def test_a_table_without_small_counts_stays_as_it_is() -> None:
    table = hide_table(pd.DataFrame([[0, 50], [60, 1700]]), 11)
    assert table.to_numpy().tolist() == [
        ["0", "50", "50"],
        ["60", "1,700", "1,760"],
        ["60", "1,750", "1,810"],
    ]
    assert hide_table(pd.DataFrame([[1, 2]]), 0).to_numpy()[0].tolist() == ["1", "2", "3"]


def test_bounds_alone_can_give_counts_away_and_then_all_is_hidden() -> None:
    """Ten cells of at least 1 under a total of at most 10: every one of them is 1."""
    table = hide_table(pd.DataFrame(np.ones((1, 10), dtype=int)), 11)
    assert (table == HIDDEN).all(axis=None)
    assert "12" not in hide_table(pd.DataFrame([[1, 11]]), 11).to_numpy()[0]


def attack(shown: pd.DataFrame, limit: int) -> dict[tuple[int, int], tuple[int, int]]:
    """The range of every cell shown as small, over all tables that fit what is shown.

    Row and column sums with their totals form a network, so the ends of the range that linear
    programming finds are whole numbers: the range is exact.
    """
    texts = shown.to_numpy()
    height, width = texts.shape
    everything = bool((texts == HIDDEN).all())
    bounds: list[tuple[int, int | None]] = []
    for text in texts.ravel():
        if text == HIDDEN:
            bounds.append((0 if everything else limit, None))
        elif text.startswith("<"):
            bounds.append((1, limit - 1))
        else:
            bounds.append((int(text.replace(",", "")),) * 2)
    index = np.arange(height * width).reshape(height, width)
    sums = np.zeros((height + width, height * width))
    for row in range(height):
        sums[row, index[row, :-1]], sums[row, index[row, -1]] = 1, -1
    for column in range(width):
        sums[height + column, index[:-1, column]] = 1
        sums[height + column, index[-1, column]] = -1
    found = {}
    for row, column in np.argwhere(np.char.startswith(texts.astype(str), "<")):
        ends = []
        for sign in (1, -1):
            aim = np.zeros(height * width)
            aim[index[row, column]] = sign
            solved = linprog(aim, A_eq=sums, b_eq=np.zeros(height + width), bounds=bounds)
            assert solved.status in (0, 3), solved.message
            ends.append(round(sign * solved.fun) if solved.status == 0 else limit)
        found[int(row), int(column)] = (ends[0], ends[1])
    return found


def check_tables(seed: int, count: int) -> int:
    """Attack random tables; the number of small cells that were hidden."""
    rng = np.random.default_rng(seed)
    attacked = 0
    for _ in range(count):
        limit = int(rng.choice([5, 11]))
        shape = rng.integers(1, 5, 2)
        mean = rng.choice([0.3, 2, 8, 15, 80], size=shape)
        counts = rng.poisson(mean)
        shown = hide_table(pd.DataFrame(counts), limit)
        truth, texts = with_totals(counts), shown.to_numpy()
        for value, text in zip(truth.ravel(), texts.ravel(), strict=True):
            assert text in (f"{value:,}", HIDDEN, f"<{limit}")
            assert text == f"{value:,}" or value > 0 or (texts == HIDDEN).all()
            if 0 < value < limit:
                assert text in (HIDDEN, f"<{limit}")
        for cell, (low, high) in attack(shown, limit).items():
            attacked += 1
            assert low <= truth[cell] <= high
            assert low < high, f"{counts.tolist()} shown as {texts.tolist()}: {cell} is {low}"
    return attacked


@pytest.mark.slow
def test_no_small_count_can_be_derived_from_a_random_table() -> None:
    assert check_tables(0, 300) > 300


@pytest.mark.nightly
def test_no_small_count_can_be_derived_from_ten_thousand_tables() -> None:
    assert check_tables(1, 10_000) > 10_000
