"""Count (row, feature, feature, ...) in DuckDB, some rows at a time, into drafts on the disk.

Statements are put together of our own words, numbers, and names of columns and files that
`quoted` and `text_literal` have quoted; that is why the warnings about them (B608) are off here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
NOBODY, NOTHING, ODD, NO_VALUE, NO_VISIT = range(1, 6)
_FAULTS = {  # why a row is not used, in the words used for small tables
    NOBODY: "rows without a patient or row id",
    NOTHING: "rows without an entry in {}",
    ODD: "rows whose name holds a line break (a stray quote?)",
    NO_VALUE: "rows without a value",
    NO_VISIT: "events without a visit",
}
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
    return int(database.run(f"SELECT count(*) FROM {_source(database, number)}")[0][0])  # nosec B608


def has_distinct(database: Database, number: int, text: str) -> bool:
    """Whether no two rows of a table have the same text."""
    source = _source(database, number)
    counted = f"SELECT count(*) = count(DISTINCT {text}) FROM {source}"  # nosec B608
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
    limit = MAX_FEATURES * len(_FAULTS)
    judged = _judged(database, events, by_visit)
    found = database.run(
        f"SELECT feature, fault, count(*), count_if(wrong) FROM {judged} "  # nosec B608
        f"GROUP BY 1, 2 LIMIT {limit + 1}"
    )
    used = [feature for feature, fault, _, _ in found if fault == 0]
    if len(used) > MAX_FEATURES or len(found) > limit:
        raise refuse(
            "features-many",
            "A column has too many different features",
            f"{events.head.name}, column {events.feature}",
            f"more than {MAX_FEATURES:,}",
            "Set 'features' to a column of codes.",
        )
    faults = Counter[int]()
    for _, fault, count, _ in found:
        faults[fault] += count
    _report(events, faults, sum(wrong for *_, wrong in found), findings)
    return _named(database, events, used)


def _report(
    events: EventColumns, faults: Mapping[int, int], wrong: int, findings: Findings
) -> None:
    """What of a table was left out, in the words used for small tables."""
    where = events.head.name
    if wrong:
        raise refuse(
            "value-not-whole",
            "A value cannot be counted",
            f"{where}, column {events.value}",
            f"{wrong:,} values that are no whole numbers of 0 or more",
            "Give whole numbers, or build a .npz.",
        )
    for fault, reason in _FAULTS.items():
        place = events.mode if fault == NO_VISIT else where
        findings.leave_out(reason.format(events.feature), faults[fault], place)


def _named(database: Database, events: EventColumns, used: list[str]) -> Feature:
    """Features under their names where every code has exactly one, else under their codes."""
    shown = {code: code for code in used}
    if events.name:
        texts = f"{events.head.text_of(events.feature)}, {events.head.text_of(events.name)}"
        source = _source(database, events.number)
        limit = f"LIMIT {2 * MAX_FEATURES}"
        pairs = database.run(f"SELECT DISTINCT {texts} FROM {source} {limit}")  # nosec B608
        code = Coded.from_texts(events.feature, [one for one, _ in pairs])
        label, codes = with_names(code, Coded.from_texts(events.name, [two for _, two in pairs]))
        shown = dict(zip(codes, label.labels, strict=True))
    codes = tuple(sorted(used, key=lambda one: shown[one]))
    return Feature(Mode(events.mode, tuple(shown[one] for one in codes)), codes)


def number_people(database: Database, tables: Sequence[EventColumns], by_visit: bool) -> int:
    """Give everybody who has a usable event a number, in the order of their ids; how many."""
    everybody = " UNION ".join(
        f"SELECT who FROM {_judged(database, events, by_visit)} WHERE fault = 0"  # nosec B608
        for events in tables
    )
    database.run(
        "CREATE TABLE people AS SELECT (row_number() OVER (ORDER BY who) - 1)::INTEGER AS person, "  # nosec B608
        f"who FROM ({everybody})"
    )
    return int(database.run("SELECT count(*) FROM people")[0][0])


def store_events(
    database: Database, events: EventColumns, feature: Feature, axis: int, by_visit: bool
) -> int:
    """The usable events of a table as numbers, in the database's own file; how many people."""
    codes = f"codes_{axis}"
    database.run(
        f"CREATE TABLE {codes} AS "
        "SELECT unnest(?::VARCHAR[]) AS feature, unnest(?::INTEGER[]) AS f",
        [list(feature.codes), list(range(len(feature.codes)))],
    )
    database.run(
        f"CREATE TABLE events_{axis} AS SELECT person, f, visit, amount "  # nosec B608
        f"FROM {_judged(database, events, by_visit)} "
        f"JOIN people USING (who) JOIN {codes} USING (feature) WHERE fault = 0"
    )
    return int(database.run(f"SELECT count(DISTINCT person) FROM events_{axis}")[0][0])  # nosec B608


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
        f"(SELECT person, visit, f AS f{axis}, sum(amount) AS n{axis} FROM events_{axis} "  # nosec B608
        f"WHERE person >= $first AND person < $until GROUP BY ALL) AS t{axis}"
        for axis in range(1, n_modes)
    ]
    joined = parts[0] + "".join(f" JOIN {part} USING (person, visit)" for part in parts[1:])
    features = ", ".join(f"f{axis}" for axis in range(1, n_modes))
    product = " * ".join(f"n{axis}" for axis in range(1, n_modes))
    statement = (
        f"SELECT person, {features}, sum({product})::DOUBLE AS amount FROM {joined} GROUP BY ALL"  # nosec B608
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


def _judged(database: Database, events: EventColumns, by_visit: bool) -> str:
    """The SQL of a table with what is counted of each row, and its first fault (0: none)."""
    columns = (events.who, events.feature, events.visit if by_visit else "", events.value)
    texts = [events.head.text_of(one) if one else "''" for one in columns]
    named = ", ".join(
        f"{text} AS {name}"
        for text, name in zip(texts, ("who", "feature", "visit", "value"), strict=True)
    )
    faults = [
        (NOBODY, _blank("who")),
        (NOTHING, _blank("feature")),
        (ODD, f"{_odd('who')} OR {_odd('feature')}"),
    ]
    wrong, amount = "false", "1"
    if events.value:
        faults.append((NO_VALUE, _blank("value")))
        whole = f"regexp_full_match(trim(value, {_BLANKS}), {_WHOLE})"
        wrong = f"NOT {_blank('value')} AND NOT {whole}"
        amount = f"TRY_CAST(trim(value, {_BLANKS}) AS DOUBLE)::BIGINT"
    if by_visit:
        faults.append((NO_VISIT, _blank("visit")))
    cases = " ".join(f"WHEN {test} THEN {fault}" for fault, test in faults)
    source = f"SELECT {named} FROM {_source(database, events.number)}"  # nosec B608
    return (
        f"(SELECT who, feature, visit, {amount} AS amount, {wrong} AS wrong, "  # nosec B608
        f"CASE {cases} ELSE 0 END AS fault FROM ({source}))"
    )


def _blank(text: str) -> str:
    """Nothing but blanks; most texts show by their first letter that they are not."""
    visible = f"{text} >= '!' AND {text} < chr(127)"
    return f"(CASE WHEN {visible} THEN false ELSE trim({text}, {_BLANKS}) = '' END)"


def _odd(text: str) -> str:
    """A line break, or longer than any name; the bytes of most texts are few enough."""
    long = f"CASE WHEN strlen({text}) <= {MAX_NAME} THEN false ELSE length({text}) > {MAX_NAME} END"
    breaks = " OR ".join(f"contains({text}, chr({code}))" for code in (10, 13))
    return f"({long} OR {breaks})"


def outcome_texts(database: Database, number: int, text: str, most: int) -> dict[str, int]:
    """How many patients have each text of a column; at most so many texts and one more."""
    source = _source(database, number)
    return dict(database.run(f"SELECT {text}, count(*) FROM {source} GROUP BY 1 LIMIT {most + 1}"))  # nosec B608


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
        f"SELECT person, c FROM (SELECT {who} AS who, {text} AS word FROM "  # nosec B608
        f"{_source(database, number)}) JOIN people USING (who) JOIN classes USING (word)"
    )
    for batch in database.batches(statement):
        found[batch.column(0).to_numpy()] = batch.column(1).to_numpy()
    return found


def people_ids(database: Database, first: int, until: int) -> list[str]:
    """The ids of some people, in order."""
    statement = "SELECT who FROM people WHERE person >= ? AND person < ? ORDER BY person"
    return [row[0] for row in database.run(statement, [first, until])]
