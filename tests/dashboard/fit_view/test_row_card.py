"""The card of a row: every number is what pandas counts in the tables the sample was made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.fit_view.row_card import (
    NONE,
    RowEntries,
    covariate_lines,
    dated,
    feature_modes,
    grouped_entries,
    marked_text,
    timeline,
)
from dashboard.fit_view.row_tables import row_entries
from dashboard.store.results import entry_shares
from swiftcore.data.dataset import Dataset
from swiftcore.data.samples import load_sample, sample_folder

ROWS = (0, 6, 123, 999)
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def patients() -> Dataset:
    return load_sample("heart_failure")


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    folder: Path = sample_folder("heart_failure")
    return {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}


def entries_of(data: Dataset, row: int, rank: int = 4) -> RowEntries:
    """Explained by made-up factors: which ones does not matter here."""
    places, values = row_entries(data.tensor, row)
    rng = np.random.default_rng(row)
    profiles = [rng.random((size, rank)) for size in data.tensor.shape[1:]]
    parts = entry_shares(rng.random(rank), profiles, places[:, 1:])
    names = [f"P0{part + 1}" for part in range(rank)]
    return RowEntries(data.tensor.modes, names, places, values, parts)


@pytest.mark.parametrize("row", ROWS)
def test_covariates_are_those_of_the_table(
    patients: Dataset, tables: dict[str, pd.DataFrame], row: int
) -> None:
    said = dict(covariate_lines(patients.side.covariates, row))
    known = tables["patients"].set_index("patient_id").loc[patients.tensor.modes[0].labels[row]]
    assert (said["age"], said["sex"], said["clinic"]) == (str(known.age), known.sex, known.clinic)
    day = known.heart_failure_date
    assert said["heart_failure_date"] == ("not known" if pd.isna(day) else day)
    seen = pd.concat([tables["diagnoses"], tables["medications"]])
    mine = seen[seen["patient_id"] == known.name]
    assert said["visits"] == str(mine["visit_id"].nunique())


@pytest.mark.parametrize("row", ROWS)
def test_entries_are_counted_once_per_feature(
    patients: Dataset, tables: dict[str, pd.DataFrame], row: int
) -> None:
    who = patients.tensor.modes[0].labels[row]
    mine = {name: table[table["patient_id"] == who] for name, table in tables.items()}
    pairs = mine["diagnoses"].merge(mine["medications"], on="visit_id")
    assert patients.side.events is not None
    grouped = grouped_entries(entries_of(patients, row), dated(patients.side.events, row))
    for mode, other, name in (
        ("diagnosis", "medication", "diagnoses"),
        ("medication", "diagnosis", "medications"),
    ):
        table = grouped[mode].set_index("feature")
        others = pairs.groupby(mode)[other].nunique()
        assert table["others"].to_dict() == others.to_dict()
        days = mine[name].groupby(mode)["date"].agg(["nunique", "min", "max"]).loc[table.index]
        assert table["days"].tolist() == days["nunique"].tolist()
        assert [str(day) for day in table["first"]] == days["min"].tolist()
        assert [str(day) for day in table["last"]] == days["max"].tolist()


@pytest.mark.parametrize("row", ROWS)
def test_what_explains_a_feature_is_the_share_of_all_its_entries(
    patients: Dataset, row: int
) -> None:
    entries = entries_of(patients, row)
    long = pd.DataFrame(entries.parts, columns=entries.identifiers).mul(entries.values, axis=0)
    long["feature"] = [patients.tensor.modes[1].labels[place] for place in entries.places[:, 1]]
    long["value"] = entries.values
    sums = long.groupby("feature").sum()
    shares = sums[list(entries.identifiers)].div(sums["value"], axis=0)
    table = grouped_entries(entries)["diagnosis"].set_index("feature")
    assert table["phenotype"].to_dict() == shares.idxmax(axis=1).to_dict()
    assert table["part"].to_dict() == pytest.approx(shares.max(axis=1).to_dict())


@pytest.mark.parametrize("row", ROWS)
def test_the_timeline_has_each_record_of_each_day_once(
    patients: Dataset, tables: dict[str, pd.DataFrame], row: int
) -> None:
    assert patients.side.events is not None
    dates = dated(patients.side.events, row)
    grouped = grouped_entries(entries_of(patients, row), dates)
    found = timeline(patients.tensor.modes, dates, grouped)
    who = patients.tensor.modes[0].labels[row]
    wanted = {
        (day, mode, feature)
        for mode, name in (("diagnosis", "diagnoses"), ("medication", "medications"))
        for day, feature in tables[name]
        .loc[tables[name]["patient_id"] == who, ["date", mode]]
        .drop_duplicates()
        .itertuples(index=False)
    }
    told = [(str(one.date), one.kind, one.feature) for one in found.itertuples()]
    assert len(told) == len(set(told)) and set(told) == wanted
    assert found["date"].is_monotonic_increasing
    explained = {
        (mode, one.feature): one.phenotype
        for mode, table in grouped.items()
        for one in table.itertuples()
    }
    for one in found.itertuples():
        assert one.phenotype == explained.get((one.kind, one.feature), NONE)


def test_a_row_with_nothing_in_it_has_an_empty_card(patients: Dataset) -> None:
    entries = entries_of(patients, 0)
    empty = RowEntries(
        entries.modes,
        entries.identifiers,
        entries.places[:0],
        entries.values[:0],
        entries.parts[:0],
    )
    assert all(table.empty for table in grouped_entries(empty).values())


def test_words_of_both_modes_are_one_list_and_partners_count_once() -> None:
    news = load_sample("news")
    assert [mode.axes for mode in feature_modes(news.tensor.modes)] == [(1, 2)]
    entries = entries_of(news, 0)
    table = grouped_entries(entries)["word"].set_index("feature")
    labels = news.tensor.modes[1].labels
    met: dict[str, set[str]] = {}
    for _, one, other in entries.places.tolist():
        met.setdefault(labels[one], set()).add(labels[other])
        met.setdefault(labels[other], set()).add(labels[one])
    assert table["others"].to_dict() == {word: len(others) for word, others in met.items()}


def test_a_text_keeps_every_character_and_marks_whole_words() -> None:
    news = load_sample("news")
    frame = pd.read_csv(sample_folder("news") / "articles.csv")
    text = news.side.texts[0]
    assert text == f"{frame.title[0]}\n\n{frame.text[0]}"
    pieces = marked_text(text, {"steel": "P06", "firm": "P02"})
    assert "".join(piece for piece, _ in pieces) == text
    words = pd.Series(text.lower().replace(".", " ").replace(",", " ").split())
    for word, owner in (("steel", "P06"), ("firm", "P02")):
        marked = [piece for piece, name in pieces if name == owner]
        assert len(marked) == int((words == word).sum()) > 0
        assert {piece.lower() for piece in marked} == {word}
    assert marked_text("Steely <b>STEEL</b>", {"steel": "P06"}) == [
        ("Steely <b>", ""),
        ("STEEL", "P06"),
        ("</b>", ""),
    ]
