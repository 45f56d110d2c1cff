"""Every number of a card against pandas on raw exports, where such data lie beside the project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from scipy.stats.contingency import relative_risk
from support.made_runs import fitted
from support.shipped_sample import Sample, read_sample

from benchmarks.public_data import SHARED
from dashboard.fit_view.phenotype_sheet import PhenotypeSheet
from dashboard.fit_view.table_one import OTHER, UNKNOWN, NumberLine, Spread, TextLine
from dashboard.store.store import Store
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions

LIMIT = 11
QUICK = {"rank": 8, "max_iterations": 3, "n_restarts": 1}  # any factors have carriers


@dataclass(frozen=True, eq=False)
class Raw:
    """What the raw tables say: a table of people, and who has which feature of which mode."""

    options: BuildOptions
    people: pd.DataFrame  # by id: died (the outcome), numbers and texts by the names of the card
    has: tuple[dict[str, set[str]], ...]


def read(folder: Path, *names: str) -> list[pd.DataFrame]:
    return [pd.read_csv(folder / f"{name}.csv.gz", dtype=str) for name in names]


def completed_years(born: pd.Series, last: pd.Series) -> pd.Series:
    """Birthdays from the one day to the other."""
    start, end = pd.to_datetime(born), pd.to_datetime(last.reindex(born.index))
    before = (end.dt.month * 100 + end.dt.day) < (start.dt.month * 100 + start.dt.day)
    return end.dt.year - start.dt.year - before


def who_has(table: pd.DataFrame, person: str, feature: str) -> dict[str, set[str]]:
    return {str(name): set(rows) for name, rows in table.groupby(feature)[person]}


def synthea(folder: Path) -> Raw:
    conditions, medications, people = read(folder, "conditions", "medications", "patients")
    events, people = pd.concat([conditions, medications]), people.set_index("ID")
    by_person = events.groupby("PATIENT")
    known = people[["GENDER", "MARITAL", "RACE", "ETHNICITY"]].assign(
        outcome=people["DEATHDATE"].notna(), visits=by_person["ENCOUNTER"].nunique()
    )
    known["age at last record"] = completed_years(people["BIRTHDATE"], by_person["START"].max())
    has = [who_has(one, "PATIENT", "DESCRIPTION") for one in (conditions, medications)]
    return Raw(BuildOptions(outcome="death"), known, tuple(has))


def omop(folder: Path) -> Raw:
    names = ("CONDITION_ERA", "DRUG_ERA", "PERSON", "CONCEPT")
    conditions, drugs, people, concepts = read(folder, *names)
    called = concepts.set_index("CONCEPT_ID")["CONCEPT_NAME"]
    has, days, outcome = [], [], "Gastrointestinal hemorrhage"
    for table, kind in ((conditions, "CONDITION"), (drugs, "DRUG")):
        known = table[table[f"{kind}_CONCEPT_ID"] != "0"]
        feature = known[f"{kind}_CONCEPT_ID"].map(called)
        has.append(who_has(known.assign(feature=feature), "PERSON_ID", "feature"))
        days.append(known.set_index("PERSON_ID")[f"{kind}_ERA_START_DATE"])
    people = people.set_index("PERSON_ID")
    found = pd.DataFrame({"outcome": people.index.isin(has[0].pop(outcome))}, people.index)
    last, born = pd.concat(days).groupby(level=0).max(), people["BIRTH_DATETIME"].str[:10]
    found["age at last record"] = completed_years(born, last)
    gender = {"8507": "MALE", "8532": "FEMALE"}
    found["GENDER"] = people["GENDER_CONCEPT_ID"].map(gender)
    return Raw(BuildOptions(outcome_codes=(outcome,)), found, tuple(has))


@pytest.fixture(scope="module", params=["synthea_1k", "gibleed_omop"])
def export(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Raw, Sample]:
    folder = SHARED / request.param
    if not folder.exists():
        pytest.skip(f"real data '{request.param}' are not here (set SWIFT_SHARED_DATA)")
    readers: dict[str, Callable[[Path], Raw]] = {"synthea_1k": synthea, "gibleed_omop": omop}
    raw = readers[request.param](folder)
    store = Store(tmp_path_factory.mktemp("export") / "store")
    run = fitted(store, build_path(folder, raw.options), **QUICK)
    sample = read_sample(store, run, LIMIT)
    rows = list(sample.summary.fit.modes[0].labels)
    return Raw(raw.options, raw.people.loc[rows], raw.has), sample


def is_small(*counts: int) -> bool:
    return any(0 < count < LIMIT for count in counts)


def test_features_are_counted_as_in_the_raw_tables(export: tuple[Raw, Sample]) -> None:
    raw, sample = export
    everybody, exact = set(raw.people.index), 0
    for sheet in sample.sheets():
        carriers = set(sample.carriers(sheet))
        assert sheet.carriers == f"{len(carriers):,}" or is_small(
            len(carriers), len(everybody) - len(carriers)
        )
        for has, mode in zip(raw.has, sheet.modes, strict=True):
            for one in mode.features:
                rows = has[one.name] & everybody
                both, others = len(rows & carriers), len(rows - carriers)
                rest = len(everybody) - len(carriers) - others
                if is_small(both, len(carriers) - both, others, rest):
                    assert not one.rows.isdigit()
                else:
                    assert one.rows == f"{both:,}"
                    exact += 1
    assert exact > 20


def test_who_carries_it_is_as_in_the_raw_table(export: tuple[Raw, Sample]) -> None:
    raw, sample = export
    numbers = shares = 0
    for sheet in sample.sheets():
        carries = raw.people.index.isin(sample.carriers(sheet))
        for line in sheet.who.lines:
            if isinstance(line, NumberLine) and line.name in raw.people:
                for spread, side in ((line.carriers, carries), (line.others, ~carries)):
                    low, middle, high = raw.people.loc[side, line.name].quantile([0.25, 0.5, 0.75])
                    assert spread == Spread(middle, low, high), (sheet.identifier, line.name)
                    numbers += 1
            elif isinstance(line, TextLine) and line.name in raw.people:
                shares += check_shares(line, raw.people[line.name], carries)
    assert numbers > 10 and shares > 10


def check_shares(line: TextLine, values: pd.Series, carries: np.ndarray) -> int:
    """The shares of all values that the card lists by name; how many."""
    table = pd.crosstab(values.fillna(UNKNOWN), carries)
    named = [one for one in line.values if one.value != OTHER and one.carriers is not None]
    for one in named:
        counts = table.loc[one.value]
        assert not is_small(*counts)
        assert one.carriers == pytest.approx(counts[True] / carries.sum())
        assert one.others == pytest.approx(counts[False] / (~carries).sum())
    return len(named)


def test_rates_intervals_and_ratios_are_those_of_scipy(export: tuple[Raw, Sample]) -> None:
    raw, sample = export
    shown = 0
    for sheet in sample.sheets():
        carries = raw.people.index.isin(sample.carriers(sheet))
        cases = [int(raw.people.loc[side, "outcome"].sum()) for side in (carries, ~carries)]
        totals = [int(carries.sum()), int((~carries).sum())]
        if is_small(*cases, totals[0] - cases[0], totals[1] - cases[1]):
            assert sheet.rates is None or sheet.rates.carriers is None
            continue
        check_rates(sheet, cases, totals)
        shown += 1
    assert shown > 2


def check_rates(sheet: PhenotypeSheet, cases: list[int], totals: list[int]) -> None:
    found = sheet.rates
    assert found is not None and found.carriers and found.others and found.ratio
    for said, count, total in zip((found.carriers, found.others), cases, totals, strict=True):
        ends = binomtest(count, total).proportion_ci(method="wilson")
        assert (said.value, said.low, said.high) == pytest.approx(
            (count / total, ends.low, ends.high), rel=1e-6
        )
    ratio = relative_risk(cases[0], totals[0], cases[1], totals[1])
    ends = ratio.confidence_interval()
    assert (found.ratio.value, found.ratio.low, found.ratio.high) == pytest.approx(
        (ratio.relative_risk, ends.low, ends.high), rel=1e-6
    )
