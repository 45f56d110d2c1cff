"""Count (row, feature, feature, ...) in DuckDB, some rows at a time, into drafts on the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.multi_table import with_names
from swiftcore.data.out_of_core.database import Database, text_literal
from swiftcore.data.out_of_core.plan import EventColumns
from swiftcore.data.reading.coded import MAX_NAME, Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse
from swiftcore.tensor import Mode

MAX_FEATURES = 1_000_000
EXACT = 2**53  # whole numbers beyond it are not all floats
_BLANKS = text_literal("".join(chr(code) for code in range(0x3001) if chr(code).isspace()))
_WHOLE = text_literal(r"[+]?[0-9]{1,15}(\.0{0,15})?")


@dataclass(frozen=True)
class Feature:
    """The features of one table of events: their labels in order, and the code behind each."""

    mode: Mode
    codes: tuple[str, ...]


@dataclass(frozen=True)
class Draft:
    """The cells of some people, on the disk: places (person, features) and amounts."""

    first_person: int
    n_people: int
    places: Path
    amounts: Path

    def read(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return np.load(self.places, mmap_mode="r"), np.load(self.amounts, mmap_mode="r")


def n_rows(database: Database, number: int) -> int:
    """Rows of a table."""
    return int(database.run(f"SELECT count(*) FROM {_source(database, number)}")[0][0])


def has_distinct(database: Database, number: int, text: str) -> bool:
    """Whether no two rows of a table have the same text."""
    source = _source(database, number)
    counted = f"SELECT count(*) = count(DISTINCT {text}) FROM {source}"
    return bool(database.run(counted)[0][0])


def count_features(
    database: Database, events: EventColumns, by_visit: bool, findings: Findings
) -> Feature:
    """The features of a table; rows that cannot be used are counted in the same scan.

    Raises
    ------
    InvalidData
        When amounts are not whole numbers, or features are past counting.
    """
    who, feature, visit, value = _texts(events)
    nobody, nothing = _blank(who), _blank(feature)
    named = f"NOT {nobody} AND NOT {nothing}"
    odd = f"{named} AND ({_odd(who)} OR {_odd(feature)})"
    fine = f"{named} AND NOT ({odd})"
    empty = f"{fine} AND {_blank(value)}" if value else "false"
    wrong = f"NOT {_blank(value)} AND NOT {_is_whole(value)}" if value else "false"
    homeless = f"{fine} AND NOT ({empty}) AND {_blank(visit)}" if by_visit else "false"
    tests = (nobody, f"NOT {nobody} AND {nothing}", odd, empty, wrong, homeless, fine)
    counted = ", ".join(f"count_if({one})" for one in tests)
    found = database.run(
        f"SELECT {feature}, count(*), {counted} FROM {_source(database, events.number)} "
        f"GROUP BY 1 LIMIT {MAX_FEATURES + 1}"
    )
    if len(found) > MAX_FEATURES:
        raise refuse(
            "features-many",
            "A column has too many different features",
            f"{events.head.name}, column {events.feature}",
            f"more than {MAX_FEATURES:,}",
            "Set 'features' to a column of codes.",
        )
    totals = [sum(row[place] for row in found) for place in range(1, 9)]
    _report(events, totals, findings)
    used = [row[0] for row in found if row[8]]
    return _named(database, events, used)


def _report(events: EventColumns, totals: list[int], findings: Findings) -> None:
    """What of a table was left out, in the words used for small tables."""
    rows, nobody, nothing, odd, empty, wrong, homeless, _ = totals
    where = events.head.name
    findings.tables[where] = rows
    if wrong:
        raise refuse(
            "value-not-whole",
            "A value cannot be counted",
            f"{where}, column {events.value}",
            f"{wrong:,} values that are no whole numbers of 0 or more",
            "Give whole numbers, or build a .npz.",
        )
    for reason, count, place in (
        ("rows without a patient or row id", nobody, where),
        (f"rows without an entry in {events.feature}", nothing, where),
        ("rows whose name holds a line break (a stray quote?)", odd, where),
        ("rows without a value", empty, where),
        ("events without a visit", homeless, events.mode),
    ):
        findings.leave_out(reason, count, place)


def _named(database: Database, events: EventColumns, used: list[str]) -> Feature:
    """Features under their names where every code has exactly one, else under their codes."""
    shown = {code: code for code in used}
    if events.name:
        texts = f"{events.head.text_of(events.feature)}, {events.head.text_of(events.name)}"
        source = _source(database, events.number)
        limit = f"LIMIT {2 * MAX_FEATURES}"
        pairs = database.run(f"SELECT DISTINCT {texts} FROM {source} {limit}")
        code = Coded.from_texts(events.feature, [one for one, _ in pairs])
        label, codes = with_names(code, Coded.from_texts(events.name, [two for _, two in pairs]))
        shown = dict(zip(codes, label.labels, strict=True))
    codes = tuple(sorted(used, key=lambda one: shown[one]))
    return Feature(Mode(events.mode, tuple(shown[one] for one in codes)), codes)


def number_people(database: Database, tables: Sequence[EventColumns], by_visit: bool) -> int:
    """Give everybody who has a usable event a number, in the order of their ids; how many."""
    named = []
    for events in tables:
        who, *_ = _texts(events)
        usable = _usable(events, by_visit)
        named.append(f"SELECT {who} AS who FROM {_source(database, events.number)} WHERE {usable}")
    everybody = " UNION ".join(named)
    database.run(
        "CREATE TABLE people AS SELECT (row_number() OVER (ORDER BY who) - 1)::INTEGER AS person, "
        f"who FROM ({everybody})"
    )
    return int(database.run("SELECT count(*) FROM people")[0][0])


def store_events(
    database: Database, events: EventColumns, feature: Feature, axis: int, by_visit: bool
) -> int:
    """The usable events of a table as numbers, in the database's own file; how many people."""
    who, text, visit, value = _texts(events)
    amount = f"CAST(trim({value}, {_BLANKS}) AS DOUBLE)::BIGINT" if value else "1"
    codes = f"codes_{axis}"
    database.run(
        f"CREATE TABLE {codes} AS SELECT unnest(?::VARCHAR[]) AS code, unnest(?::INTEGER[]) AS f",
        [list(feature.codes), list(range(len(feature.codes)))],
    )
    database.run(
        f"CREATE TABLE events_{axis} AS SELECT person, f, visit, amount FROM "
        f"(SELECT {who} AS who, {text} AS code, {visit if by_visit else text_literal('')} AS visit,"
        f" {amount} AS amount FROM {_source(database, events.number)} "
        f"WHERE {_usable(events, by_visit)}) JOIN people USING (who) JOIN {codes} USING (code)"
    )
    return int(database.run(f"SELECT count(DISTINCT person) FROM events_{axis}")[0][0])


def count_cells(
    database: Database, n_modes: int, n_people: int, step: int, folder: Path
) -> Iterator[Draft]:
    """Join and count the events of some people at a time; every draft is sorted.

    Raises
    ------
    InvalidData
        When a count is beyond what a number can hold exactly.
    """
    parts = [
        f"(SELECT person, visit, f AS f{axis}, sum(amount) AS n{axis} FROM events_{axis} "
        f"WHERE person >= $first AND person < $until GROUP BY ALL) AS t{axis}"
        for axis in range(1, n_modes)
    ]
    joined = parts[0] + "".join(f" JOIN {part} USING (person, visit)" for part in parts[1:])
    features = ", ".join(f"f{axis}" for axis in range(1, n_modes))
    product = " * ".join(f"n{axis}" for axis in range(1, n_modes))
    statement = (
        f"SELECT person, {features}, sum({product})::DOUBLE AS amount FROM {joined} GROUP BY ALL"
    )
    for number, first in enumerate(range(0, n_people, step)):
        until = min(first + step, n_people)
        batches = list(database.batches(statement, {"first": first, "until": until}))
        columns = [
            np.concatenate([batch.column(place).to_numpy() for batch in batches])
            if batches
            else np.zeros(0)
            for place in range(n_modes + 1)
        ]
        places = np.column_stack(columns[:-1]).astype(np.int32)
        order = np.lexsort(places.T[::-1])
        places, amounts = places[order], columns[-1][order].astype(np.float64)
        _check_exact(amounts)
        draft = Draft(
            first, until - first, folder / f"places_{number}.npy", folder / f"amounts_{number}.npy"
        )
        np.save(draft.places, places)
        np.save(draft.amounts, amounts)
        yield draft


def _check_exact(amounts: NDArray[np.float64]) -> None:
    if amounts.max(initial=0) >= EXACT:
        raise refuse(
            "value-sum",
            "Values at one cell add up beyond what is counted exactly",
            "all modes",
            f"{amounts.max():.3g}",
            "Divide all values by a common unit, or build a .npz.",
        )


def _source(database: Database, number: int) -> str:
    return f"read_parquet({text_literal(str(database.links[number]))}, hive_partitioning = false)"


def _texts(events: EventColumns) -> tuple[str, str, str, str]:
    """The SQL of who, feature, visit and value as text; '' where there is no such column."""
    columns = (events.who, events.feature, events.visit, events.value)
    who, feature, visit, value = (one and events.head.text_of(one) for one in columns)
    return who, feature, visit, value


def _usable(events: EventColumns, by_visit: bool) -> str:
    who, feature, visit, value = _texts(events)
    tests = [f"NOT {_blank(who)} AND NOT {_blank(feature)}"]
    tests.append(f"NOT {_odd(who)} AND NOT {_odd(feature)}")
    tests += [f"NOT {_blank(value)}"] if value else []
    tests += [f"NOT {_blank(visit)}"] if by_visit else []
    return " AND ".join(tests)


def _blank(text: str) -> str:
    return f"(trim({text}, {_BLANKS}) = '')"


def _odd(text: str) -> str:
    breaks = " OR ".join(f"contains({text}, chr({code}))" for code in (10, 13))
    return f"(length({text}) > {MAX_NAME} OR {breaks})"


def _is_whole(text: str) -> str:
    return f"regexp_full_match(trim({text}, {_BLANKS}), {_WHOLE})"


def outcome_texts(database: Database, number: int, text: str, most: int) -> dict[str, int]:
    """How many patients have each text of a column; at most so many texts and one more."""
    source = _source(database, number)
    return dict(database.run(f"SELECT {text}, count(*) FROM {source} GROUP BY 1 LIMIT {most + 1}"))


def outcome_of_people(
    database: Database, number: int, who: str, text: str, classes: dict[str, int], n_people: int
) -> NDArray[np.int32]:
    """The number of everybody's class, -1 for those without one."""
    database.run(
        "CREATE TABLE classes AS SELECT unnest(?::VARCHAR[]) AS word, unnest(?::INTEGER[]) AS c",
        [list(classes), list(classes.values())],
    )
    found = np.full(n_people, -1, dtype=np.int32)
    statement = (
        f"SELECT person, c FROM (SELECT {who} AS who, {text} AS word FROM "
        f"{_source(database, number)}) JOIN people USING (who) JOIN classes USING (word)"
    )
    for batch in database.batches(statement):
        found[batch.column(0).to_numpy()] = batch.column(1).to_numpy()
    return found


def people_ids(database: Database, first: int, until: int) -> list[str]:
    """The ids of some people, in order."""
    statement = "SELECT who FROM people WHERE person >= ? AND person < ? ORDER BY person"
    return [row[0] for row in database.run(statement, [first, until])]
