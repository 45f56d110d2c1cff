"""What is known of the rows of a tensor besides it: covariates, and what happened when."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.column_roles import ColumnRoles, plain_name
from swiftcore.data.building.events import Cells, Events, Records
from swiftcore.data.building.row_covariates import (
    AGE,
    BIRTH,
    SEX,
    SITE,
    covariates_from,
    dates_of,
    wanted_covariates,
    whole_days,
)
from swiftcore.data.building.similar_names import spelling_key
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.text_table import TextTable
from swiftcore.data.side_tables import Covariate, DatedEvents, SideTables
from swiftcore.tensor import SparseTensor

MAX_EVENTS = 50_000_000  # dated events of one data set; more are no timeline any more
AGE_NAME = "age at last record"
_CONCEPT = re.compile(r"^(?!.*source).*_concept_id$", re.IGNORECASE)
_KNOWN_CONCEPTS = {  # of OMOP's standard vocabulary
    "0": "",
    "8507": "male",
    "8532": "female",
    "8515": "Asian",
    "8516": "Black or African American",
    "8527": "White",
    "8557": "Native Hawaiian or Other Pacific Islander",
    "8657": "American Indian or Alaska Native",
    "38003563": "Hispanic or Latino",
    "38003564": "Not Hispanic or Latino",
}


@dataclass(frozen=True, eq=False)
class Happened:
    """What was recorded for whom and when: one kind of event.

    Attributes
    ----------
    mode : int
        The mode of the tensor it became.
    row, feature : Coded
    time : ndarray
        Days since 1970, NaN when undated.
    """

    mode: int
    row: Coded
    feature: Coded
    time: NDArray[np.float64]


def dated_events(
    happened: Sequence[Happened], tensor: SparseTensor, *, merged: bool = False
) -> DatedEvents | None:
    """The events of the tensor's rows and features that have a date, by row and date.

    Parameters
    ----------
    merged : bool
        Whether names that are spelled alike became one feature.
    """
    place = {label: number for number, label in enumerate(tensor.modes[0].labels)}
    parts = []
    for one in happened:
        key = spelling_key if merged else str
        known = {key(label): at for at, label in enumerate(tensor.modes[one.mode].labels)}
        rows = np.array([place.get(label, -1) for label in one.row.labels], dtype=np.int64)
        features = np.array([known.get(key(f), -1) for f in one.feature.labels], dtype=np.int64)
        row, feature, date = rows[one.row.codes], features[one.feature.codes], whole_days(one.time)
        kept = (row >= 0) & (feature >= 0) & ~np.isnat(date)
        day = date[kept].astype(np.int64)
        parts.append(np.stack([row[kept], day, np.full(len(day), one.mode), feature[kept]]))
    if not parts or not sum(part.shape[1] for part in parts):
        return None
    row, day, mode, feature = np.unique(np.concatenate(parts, axis=1), axis=1)
    if len(row) > MAX_EVENTS:
        return None
    return DatedEvents(row, mode, feature, day.astype("datetime64[D]"))


def side_of_records(
    records: Records,
    read: Sequence[Events],
    tensor: SparseTensor,
    options: BuildOptions,
    owners: Mapping[str, str],
    taken: Collection[str],
) -> SideTables:
    """What patient tables say of the rows of the tensor built from them.

    Parameters
    ----------
    records : Records
        As they entered the tensor, with its rows as subjects.
    read : sequence of Events
        The events as they were read, before any was left out.
    owners : mapping of str to str
        The patient of each row, where rows are visits.
    taken : collection of str
        Columns of the patients' table with another role, such as the outcome.
    """
    rows = tensor.modes[0].labels
    who = [owners.get(row, row) for row in rows]
    known = covariates_from(
        with_concept_names(records.traits, records.concepts),
        who,
        options.date_order,
        without=taken,
        wanted=wanted_covariates(options),
    )
    made: list[Covariate | None] = []
    if not any(AGE.fullmatch(plain_name(one.name)) for one in known):
        when = [] if records.times_within_visit else records.events if owners else read
        made.append(_age(records.traits, who, rows, _happened(when), options.date_order))
    if not owners:
        made.append(_visits(read, rows))
    happened = [] if records.times_within_visit else _happened(records.events)
    return SideTables(
        (*(one for one in made if one is not None), *known),
        dated_events(happened, tensor, merged=options.merge_similar_names),
    )


def _happened(events: Sequence[Events]) -> list[Happened]:
    return [
        Happened(mode, table.subject, table.feature, table.time)
        for mode, table in enumerate(events, start=1)
        if table.time is not None
    ]


def with_concept_names(
    people: Mapping[str, Mapping[str, str]], names: Mapping[str, str]
) -> dict[str, Mapping[str, str]]:
    """The columns with words for OMOP's concepts: gender_concept_id becomes gender."""
    found: dict[str, Mapping[str, str]] = {}
    for column, texts in people.items():
        if not _CONCEPT.match(column):
            found.setdefault(column, texts)
            continue
        words = {
            text: names.get(text, _KNOWN_CONCEPTS.get(text, f"concept {text}"))
            for text in texts.values()
        }
        found[column[: -len("_concept_id")]] = {one: words[text] for one, text in texts.items()}
    return found


def _visits(events: Sequence[Events], rows: Sequence[str]) -> Covariate | None:
    """How many visits each row has in all tables."""
    seen: dict[str, set[str]] = {row: set() for row in rows}
    for table in events:
        if table.visit is None:
            return None
        pairs = np.unique(np.stack([table.subject.codes, table.visit.codes]), axis=1)
        for who, visit in pairs.T.tolist():
            name = table.visit.labels[visit]
            if name.strip() and (found := seen.get(table.subject.labels[who])) is not None:
                found.add(name)
    counts = np.array([len(seen[row]) for row in rows], dtype=np.float64)
    return Covariate("visits", "number", counts) if len(np.unique(counts)) > 1 else None


def _age(
    people: Mapping[str, Mapping[str, str]],
    who: Sequence[str],
    rows: Sequence[str],
    happened: Sequence[Happened],
    date_order: str,
) -> Covariate | None:
    """Whole years from birth to the last dated event."""
    births = _births(people, who, date_order)
    if births is None or not happened:
        return None
    last = dict.fromkeys(rows, -np.inf)
    for one in happened:
        latest = np.full(len(one.row.labels), -np.inf)
        np.fmax.at(latest, one.row.codes, one.time)
        for label, day in zip(one.row.labels, latest.tolist(), strict=True):
            if label in last:
                last[label] = max(last[label], day)
    then = whole_days(np.array([last[row] for row in rows]))
    years = years_between(births, then)
    years[(years < 0) | (years > 130)] = np.nan
    return Covariate(AGE_NAME, "number", years) if np.isfinite(years).any() else None


def years_between(
    births: NDArray[np.datetime64], then: NDArray[np.datetime64]
) -> NDArray[np.float64]:
    """Completed years; NaN where a date is not known."""
    missing = np.isnat(births) | np.isnat(then)
    month = (then.astype("datetime64[M]") - births.astype("datetime64[M]")).astype(np.int64)
    day_of = [(one - one.astype("datetime64[M]")).astype(np.int64) for one in (births, then)]
    month = month - (day_of[1] < day_of[0])
    return np.where(missing, np.nan, np.floor(month / 12))


def _births(
    people: Mapping[str, Mapping[str, str]], who: Sequence[str], date_order: str
) -> NDArray[np.datetime64] | None:
    """When each was born; of a year alone, its first day."""
    for name, texts in people.items():
        plain = plain_name(name)
        if not BIRTH.search(plain) or "place" in plain:
            continue
        found = dates_of(name, [texts.get(one, "") for one in who], date_order)
        if found is not None:
            return found
    for name, texts in people.items():
        if plain_name(name) in ("yearofbirth", "birthyear"):
            years = [texts.get(one, "").strip().removesuffix(".0") for one in who]
            whole = [f"{one}-01-01" if re.fullmatch(r"\d{4}", one) else "NaT" for one in years]
            return np.array(whole, dtype="datetime64[D]")
    return None


def facts_of_rows(table: TextTable, ids: Coded, used: Collection[str]) -> dict[str, dict[str, str]]:
    """By column, what it says of each id: if it says one thing, or is of age, sex or site."""
    columns = {}
    for name in table.columns:
        if name in used:
            continue
        value, steady = _first_of_each(ids, table.coded(name))
        telling = any(one.fullmatch(plain_name(name)) for one in (AGE, SEX, SITE))
        if steady or telling:
            columns[name] = value
    return columns


def table_side(
    table: TextTable, roles: ColumnRoles, cells: Cells, tensor: SparseTensor, options: BuildOptions
) -> SideTables:
    """What a long table says of its rows: columns that say one thing of each, and its dates.

    Age, sex and site may change on the way; then the first is kept.
    """
    ids = table.coded(roles.row)
    single = {roles.row, roles.value, roles.outcome, roles.date, roles.visit}
    columns = facts_of_rows(table, ids, single | set(roles.features))
    rows = tensor.modes[0].labels
    wanted = wanted_covariates(options)
    happened = [
        Happened(mode, cells.row, feature, cells.time)
        for mode, feature in enumerate(cells.features, start=1)
        if cells.time is not None
    ]
    return SideTables(
        covariates_from(columns, rows, options.date_order, wanted=wanted),
        dated_events(happened, tensor, merged=options.merge_similar_names),
    )


def _first_of_each(ids: Coded, column: Coded) -> tuple[dict[str, str], bool]:
    """The first entry that each id has in a column, and whether it has no other."""
    filled = column.marked([bool(label.strip()) for label in column.labels])
    who, what = ids.codes[filled], column.codes[filled]
    each, first = np.unique(who, return_index=True)
    value = np.full(len(ids.labels), -1, dtype=np.int64)
    value[each] = what[first]
    found = {
        ids.labels[at]: column.labels[code] for at, code in enumerate(value.tolist()) if code >= 0
    }
    return found, bool((value[who] == what).all())


def covariates_of_documents(
    table: TextTable, used: Collection[str], options: BuildOptions
) -> tuple[Covariate, ...]:
    """The columns of a table of documents besides its text and label."""
    rows = [str(number) for number in range(table.n_rows)]
    columns = {
        name: dict(zip(rows, table.texts(name), strict=True))
        for name in table.columns
        if name not in used
    }
    wanted = wanted_covariates(options)
    return covariates_from(columns, rows, options.date_order, wanted=wanted)
