"""Every number of a card, held against pandas on the raw tables of the samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats.contingency import relative_risk
from support.shipped_sample import GIVEN_NAME, REVIEWER, Sample

from dashboard.fit_view.outcome_rates import outcome_rates
from dashboard.fit_view.phenotype_sheet import describing
from swiftcore.data.side_tables import Covariate

RAW = Path(__file__).parents[3] / "sample_data"


@pytest.fixture(scope="module")
def people(hospital: Sample) -> pd.DataFrame:
    """The raw table of patients, those of the fit, with the number of their visits."""
    tables = [pd.read_csv(RAW / "heart_failure" / f"{name}.csv") for name in TABLES]
    visits = pd.concat(tables).groupby("patient_id")["visit_id"].nunique()
    found = pd.read_csv(RAW / "heart_failure" / "patients.csv").set_index("patient_id")
    return found.assign(visits=visits).loc[list(hospital.summary.fit.modes[0].labels)]


TABLES = ("diagnoses", "medications")


@pytest.fixture(scope="module")
def features() -> dict[str, set[str]]:
    """Which patients have a diagnosis or medication in a visit that has both."""
    both = pd.merge(
        *(pd.read_csv(RAW / "heart_failure" / f"{name}.csv") for name in TABLES),
        on=["patient_id", "visit_id"],
    )
    return {
        name: set(rows)
        for column in ("diagnosis", "medication")
        for name, rows in both.groupby(column)["patient_id"]
    }


def test_features_are_counted_as_in_the_raw_tables(
    hospital: Sample, features: dict[str, set[str]]
) -> None:
    listed = 0
    for sheet in hospital.sheets():
        carriers = set(hospital.carriers(sheet))
        assert sheet.carriers == f"{len(carriers):,}"
        for one in (feature for mode in sheet.modes for feature in mode.features):
            assert one.rows == f"{len(features[one.name] & carriers):,}", one.name
            listed += 1
    assert listed > 100


def test_weights_usual_shares_and_spreads_are_those_of_the_factors(hospital: Sample) -> None:
    fit = hospital.summary.fit
    mass = np.prod([factor.sum(axis=0) for factor in fit.factors], axis=0)
    for sheet in hospital.sheets():
        part = fit.identifiers.index(sheet.identifier)
        assert sheet.share == pytest.approx(mass[part] / mass.sum())
        for axis, mode in enumerate(sheet.modes, start=1):
            profiles = pd.DataFrame(fit.factors[axis] / fit.factors[axis].sum(axis=0))
            profiles.index = pd.Index(fit.modes[axis].labels)
            usual = profiles @ (mass / mass.sum())
            for one in mode.features:
                assert one.weight == pytest.approx(profiles.loc[one.name, part])
                assert one.usual == pytest.approx(usual[one.name])
                assert one.spread is not None and one.spread >= 0
        assert sheet.found_in == (fit.agreement.found_in[part], fit.agreement.n_fits)


def test_who_carries_it_is_as_in_the_raw_table(hospital: Sample, people: pd.DataFrame) -> None:
    for sheet in hospital.sheets():
        carries = people.index.isin(hospital.carriers(sheet))
        text = hospital.text(sheet)
        names = [line.name for line in sheet.who.lines]
        assert sorted(names) == ["age", "clinic", "sex", "visits"]  # not the date of the outcome
        for name in ("age", "visits"):
            for side in (carries, ~carries):
                spread = people.loc[side, name].quantile([0.25, 0.5, 0.75])
                digits = 0 if (spread % 1 == 0).all() else 1 if spread.max() >= 10 else 2
                low, middle, high = (f"{value:.{digits}f}" for value in spread)
                assert f"{middle} ({low} to {high})" in text, (sheet.identifier, name)
        for name in ("sex", "clinic"):
            shares = pd.crosstab(people[name], carries, normalize="columns")
            for value, (others, inside) in shares.iterrows():
                assert f"{name}: {value} {inside:.0%} {others:.0%}" in text, sheet.identifier


def test_rates_intervals_and_ratios_are_those_of_scipy(
    hospital: Sample, people: pd.DataFrame
) -> None:
    for sheet in hospital.sheets():
        carries = people.index.isin(hospital.carriers(sheet))
        cases = [int(people.loc[side, "heart_failure"].sum()) for side in (carries, ~carries)]
        totals = [int(carries.sum()), int((~carries).sum())]
        text = hospital.text(sheet)
        for who, count, total in zip(("Carriers", "Others"), cases, totals, strict=True):
            ends = binomtest(count, total).proportion_ci(method="wilson")
            said = f"{who} {count / total:.0%} ({ends.low:.0%} to {ends.high:.0%} )"
            assert said.replace(" )", ")") in text, sheet.identifier
        found = relative_risk(cases[0], totals[0], cases[1], totals[1])
        ends = found.confidence_interval()
        assert f"{found.relative_risk:.2f} times as often" in text
        assert f"(risk ratio, {ends.low:.2f} to {ends.high:.2f})" in text


def test_links_and_neighbours_are_those_of_the_fit(hospital: Sample) -> None:
    fit = hospital.summary.fit
    assert fit.links is not None
    table = fit.links.tables["links"].set_index("phenotype")
    unit = [factor / np.linalg.norm(factor, axis=0) for factor in fit.factors[1:]]
    near = pd.DataFrame(
        np.prod([one.T @ one for one in unit], axis=0), fit.identifiers, fit.identifiers
    )
    words = set()
    for sheet in hospital.sheets():
        line = table.loc[sheet.identifier]
        clear = line["low"] > 0 or line["high"] < 0
        said = hospital.text(sheet, scientist=True)
        assert f"{line['weight']:+.3f}" in said
        assert f"({line['low']:+.3f} to {line['high']:+.3f})" in said
        assert ("unclear" in hospital.text(sheet)) == (not clear)
        words.add(sheet.link.partition(",")[0])
        nearest = near[sheet.identifier].drop(sheet.identifier).nlargest(3)
        assert [one.identifier for one in sheet.similar] == list(nearest.index)
        assert [one.similarity for one in sheet.similar] == pytest.approx(list(nearest))
        assert [one.name for one in sheet.similar] == [
            hospital.summary.names[name] for name in nearest.index
        ]
    assert {"strong", "moderate", "weak", "unclear"} == words


def test_articles_are_counted_as_in_the_raw_table(samples: dict[str, Sample]) -> None:
    news = samples["news"]
    articles = pd.read_csv(RAW / "news" / "articles.csv").set_index("id")
    classes = articles.loc[list(news.summary.fit.modes[0].labels), "category"]
    for sheet in news.sheets():
        carries = classes.index.isin(news.carriers(sheet))
        assert sheet.rates is not None and sheet.rates.carriers and sheet.rates.others
        is_case = classes == sheet.rates.outcome
        assert sheet.rates.carriers.value == pytest.approx(is_case[carries].mean())
        assert sheet.rates.others.value == pytest.approx(is_case[~carries].mean())
        assert [mode.repeats for mode in sheet.modes] == [False, True]
        assert "Other words" not in news.text(sheet)  # words by words are shown once


def test_a_blind_card_tells_neither_outcome_nor_reviewers(hospital: Sample) -> None:
    known = " ".join(hospital.text(sheet) for sheet in hospital.sheets())
    assert GIVEN_NAME in known and "heart failure" in known
    for sheet in hospital.sheets(blind=True):
        assert (sheet.rates, sheet.found_link, sheet.link, sheet.reviews) == (None, None, "", ())
        said = hospital.text(sheet).replace("Congestive heart failure", "")
        for secret in (GIVEN_NAME, REVIEWER, "Link", "risk ratio", "heart failure", "_date"):
            assert secret not in said, secret
        assert sheet.working_name in said and "age" in said


def test_a_covariate_that_tells_the_outcome_describes_nobody() -> None:
    outcome = np.array([True, True, False, False] * 5)
    day = np.where(outcome, np.datetime64("2024-01-01"), np.datetime64("NaT"))
    told = Covariate("dead", "text", np.where(outcome, "yes", "no"))
    date = Covariate("date", "date", day.astype("datetime64[D]"))
    age = Covariate("age", "number", np.arange(20.0))
    site = Covariate("site", "text", np.array(["a", "b"] * 10))
    assert describing((told, date, age, site), outcome) == (age, site)
    assert describing((told, age), None) == (told, age)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=4, max_size=4), st.sampled_from([5, 11]))
def test_a_rate_never_stands_on_a_small_count(cells: list[int], limit: int) -> None:
    """The totals are shown beside the rates, so each rate gives its count away."""
    carries = np.repeat([True, True, False, False], cells)
    outcome = np.repeat([True, False, True, False], cells)
    found = outcome_rates(carries, outcome, "x", "", limit)
    if found is None or found.carriers is None or found.others is None:
        assert found is None or (found.carriers, found.others, found.ratio) == (None, None, None)
        return
    assert all(cell == 0 or cell >= limit for cell in cells)
    assert found.carriers.value == cells[0] / (cells[0] + cells[1])
