"""Carriers against others, held against pandas; and no small count can be worked out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.hidden_lines import check_line

from dashboard.fit_view.outcome_rates import outcome_rates, risk_ratio, wilson
from dashboard.fit_view.table_one import (
    MAX_LISTED,
    OTHER,
    UNKNOWN,
    NumberLine,
    Spread,
    TextLine,
    table_one,
)
from swiftcore.data.side_tables import Covariate

ROWS = 600
NEAR = ("2020-05-20", "2020-01-31", "2021-03-01")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.normal(60, 15, ROWS).round(1)
    age[rng.random(ROWS) < 0.1] = np.nan
    born = np.datetime64("1940-01-01") + rng.integers(0, 20_000, ROWS).astype("timedelta64[D]")
    born[::17] = np.datetime64("NaT")
    sex = rng.choice(["female", "male", ""], ROWS, p=[0.5, 0.4, 0.1])
    carries = rng.random(ROWS) < 0.3
    died = rng.random(ROWS) < np.where(carries, 0.4, 0.2)
    return pd.DataFrame({"age": age, "born": born, "sex": sex, "carries": carries, "died": died})


def covariates(people: pd.DataFrame) -> tuple[Covariate, ...]:
    return (
        Covariate("age", "number", people["age"].to_numpy()),
        Covariate("born", "date", people["born"].to_numpy().astype("datetime64[D]")),
        Covariate("sex", "text", people["sex"].to_numpy().astype(str)),
    )


def test_numbers_and_dates_are_those_of_pandas(people: pd.DataFrame) -> None:
    table = table_one(people["carries"].to_numpy(), covariates(people), 11)
    assert table.carriers == f"{people['carries'].sum():,}"
    assert table.others == f"{(~people['carries']).sum():,}"
    days = (people["born"] - pd.Timestamp(0)).dt.total_seconds() / 86400
    for line, column in zip(table.lines[:2], (people["age"], days), strict=True):
        assert isinstance(line, NumberLine)
        expected = column.groupby(people["carries"]).quantile([0.25, 0.5, 0.75])
        for spread, side in ((line.carriers, True), (line.others, False)):
            assert spread is not None
            found = [spread.low, spread.median, spread.high]
            np.testing.assert_allclose(found, expected[side].to_numpy(), rtol=1e-12)
    assert isinstance(table.lines[1], NumberLine) and table.lines[1].carriers is not None
    low, middle, high = people.loc[people["carries"], "born"].quantile([0.25, 0.5, 0.75]).dt.year
    assert table.lines[1].carriers.words("date") == f"{middle} ({low} to {high})"


def test_dates_near_each_other_are_told_by_the_month() -> None:
    days = [(np.datetime64(day) - np.datetime64(0, "D")).astype(int) for day in NEAR]
    assert Spread(*days).words("date") == "2020-05 (2020-01 to 2021-03)"


def test_shares_are_those_of_pandas(people: pd.DataFrame) -> None:
    line = table_one(people["carries"].to_numpy(), covariates(people), 11).lines[2]
    assert isinstance(line, TextLine)
    named = people["sex"].replace("", UNKNOWN)
    expected = named.groupby(people["carries"]).value_counts(normalize=True)
    assert [one.value for one in line.values] == ["female", "male", UNKNOWN]
    for one in line.values:
        assert one.carriers == pytest.approx(expected[True, one.value], rel=1e-12)
        assert one.others == pytest.approx(expected[False, one.value], rel=1e-12)


def test_median_and_quartiles_have_the_same_digits() -> None:
    assert Spread(62.0, 51.0, 70.0).words("number") == "62 (51 to 70)"
    assert Spread(60.7, 51.25, 69.0).words("number") == "60.7 (51.2 to 69.0)"
    assert Spread(0.5, 0.25, 2.0).words("number") == "0.50 (0.25 to 2.00)"
    assert Spread(1872934.7, 967796.1, 2890027.0).words("number") == (
        "1,872,935 (967,796 to 2,890,027)"
    )


def test_of_yes_and_no_one_line_is_enough(people: pd.DataFrame) -> None:
    carries = people["carries"].to_numpy()
    for yes, no in (("1", "0"), ("Yes", "No")):
        words = np.where(people["died"], yes, no)
        (line,) = table_one(carries, (Covariate("died", "text", words),), 11).lines
        assert isinstance(line, TextLine)
        ((said, one),) = line.told
        assert (said, one.value, line.height) == ("died", yes, 1)
        assert one.carriers == pytest.approx(people["died"][carries].mean())
    (line,) = table_one(carries, (covariates(people)[2],), 11).lines
    assert isinstance(line, TextLine)
    assert [said for said, _ in line.told] == ["sex: female", "sex: male", f"sex: {UNKNOWN}"]


def test_too_few_carriers_or_others_show_nothing(people: pd.DataFrame) -> None:
    for few in (np.arange(ROWS) < 10, np.arange(ROWS) >= 10):
        table = table_one(few, covariates(people), 11)
        assert table.lines == ()
        assert {table.carriers, table.others} == {"<11", ">589"}


def test_a_number_known_of_few_carriers_is_not_shown(people: pd.DataFrame) -> None:
    carries = people["carries"].to_numpy()
    age = people["age"].to_numpy().copy()
    age[np.flatnonzero(carries)[10:]] = np.nan
    age[np.flatnonzero(carries)[:10]] = 50.0
    (line,) = table_one(carries, (Covariate("age", "number", age),), 11).lines
    assert isinstance(line, NumberLine)
    assert line.carriers is None
    assert line.others is not None


def test_many_values_are_put_together(people: pd.DataFrame) -> None:
    rng = np.random.default_rng(5)
    sites = rng.choice([f"site {number}" for number in range(30)], ROWS)
    (line,) = table_one(people["carries"].to_numpy(), (Covariate("site", "text", sites),), 0).lines
    assert isinstance(line, TextLine)
    assert len(line.values) == MAX_LISTED
    assert line.values[-1].value == OTHER
    assert sum(one.carriers or 0.0 for one in line.values) == pytest.approx(1.0)


@pytest.mark.parametrize("tables", [500, pytest.param(5000, marks=pytest.mark.nightly)])
def test_no_small_count_follows_from_what_is_shown(tables: int) -> None:
    """Random tables: the reader knows all totals, and which cells are small.

    With one line per side and known totals, the hidden counts of carriers add up to a known
    sum within known bounds; each small count must still have two values it could be.
    """
    rng = np.random.default_rng(8)
    hidden_seen = shown_seen = 0
    for _ in range(tables):
        limit, values = int(rng.integers(5, 12)), int(rng.integers(2, 7))
        cells = rng.integers(0, rng.choice([8, 20, 60]), (2, values))
        carries = np.repeat([True, False], cells.sum(axis=1))
        words = np.concatenate([np.repeat([f"v{n}" for n in range(values)], row) for row in cells])
        for line in table_one(carries, (Covariate("x", "text", words),), limit).lines:
            assert isinstance(line, TextLine)
            if line.values:
                shown_seen += 1
                hidden_seen += check_line(line, carries, words, limit)
    assert shown_seen > tables / 4
    assert hidden_seen > tables / 10


def test_rates_are_those_of_a_direct_count(people: pd.DataFrame) -> None:
    carries, died = people["carries"].to_numpy(), people["died"].to_numpy()
    found = outcome_rates(carries, died, "died", "", 11)
    assert found is not None and found.carriers and found.others and found.ratio
    counts = pd.crosstab(people["carries"], people["died"])
    share = counts[True] / counts.sum(axis=1)
    assert found.carriers.value == pytest.approx(share[True], rel=1e-12)
    assert found.others.value == pytest.approx(share[False], rel=1e-12)
    assert found.ratio.value == pytest.approx(share[True] / share[False], rel=1e-12)
    spread = np.sqrt((1 / counts[True] - 1 / counts.sum(axis=1)).sum())
    ends = np.exp(np.log(found.ratio.value) + spread * 1.959964 * np.array([-1, 1]))
    np.testing.assert_allclose([found.ratio.low, found.ratio.high], ends, rtol=1e-9)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_wilson_is_the_published_one(
    count: int, total: int, low: float, high: float
) -> None:
    found = wilson(count, total)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_a_ratio_needs_cases_on_both_sides() -> None:
    assert risk_ratio(0, 20, 5, 20) is None
    assert risk_ratio(5, 20, 0, 20) is None


def test_rates_are_shown_only_when_none_of_four_counts_is_small(people: pd.DataFrame) -> None:
    carries = people["carries"].to_numpy()
    half = np.arange(ROWS) % 2 > 0
    ten_inside, ten_outside = (side & (np.cumsum(side) <= 10) for side in (carries, ~carries))
    cases = {
        "few carriers with it": ten_inside | (~carries & half),
        "few carriers without it": (carries & ~ten_inside) | (~carries & half),
        "few others with it": (carries & half) | ten_outside,
        "few others without it": (carries & half) | (~carries & ~ten_outside),
    }
    for name, outcome in cases.items():
        found = outcome_rates(carries, outcome, "x", "", 11)
        assert found is not None
        assert (found.carriers, found.others, found.ratio) == (None, None, None), name
        shown = outcome_rates(carries, outcome, "x", "", 10)
        assert shown is not None and shown.carriers is not None, name
    assert outcome_rates(np.zeros(ROWS, dtype=bool), carries, "x", "", 11) is None
