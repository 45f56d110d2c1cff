"""Number people and features in DuckDB, and their events with them.

Statements are put together of our own words, numbers, and names of columns and files that were
quoted: `sql` takes nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.multi_table import with_names
from swiftcore.data.out_of_core.database import Database
from swiftcore.data.out_of_core.judged_rows import (
    NO_VALUE,
    NO_VISIT,
    NOBODY,
    NOTHING,
    ODD,
    judged_rows,
    source_of,
)
from swiftcore.data.out_of_core.plan import EventColumns
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.data.sql import Sql, joined, sql
from swiftcore.errors import refuse
from swiftcore.tensor import Mode

MAX_FEATURES = 1_000_000
_FAULTS = {  # why a row is not used, in the words used for small tables
    NOBODY: "rows without a patient or row id",
    NOTHING: "rows without an entry in {}",
    ODD: "rows whose name holds a line break (a stray quote?)",
    NO_VALUE: "rows without a value",
    NO_VISIT: "events without a visit",
}


@dataclass(frozen=True)
class Feature:
    """The features of one table of events: their labels in order, and the code behind each."""

    mode: Mode
    codes: tuple[str, ...]


def n_rows(database: Database, number: int) -> int:
    """Rows of a table."""
    statement = sql("SELECT count(*) FROM {source}", source=source_of(database, number))
    return int(database.run(statement)[0][0])


def has_distinct(database: Database, number: int, text: Sql) -> bool:
    """Whether no two rows of a table have the same text."""
    counted = sql(
        "SELECT count(*) = count(DISTINCT {text}) FROM {source}",
        text=text,
        source=source_of(database, number),
    )
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
    judged = judged_rows(database, events, by_visit)
    found = database.run(
        sql(
            "SELECT feature, fault, count(*), count_if(wrong) FROM {judged} "
            "GROUP BY 1, 2 LIMIT {limit}",
            judged=judged,
            limit=limit + 1,
        )
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
        statement = sql(
            "SELECT DISTINCT {code}, {name} FROM {source} LIMIT {limit}",
            code=events.head.text_of(events.feature),
            name=events.head.text_of(events.name),
            source=source_of(database, events.number),
            limit=2 * MAX_FEATURES,
        )
        pairs = database.run(statement)
        code = Coded.from_texts(events.feature, [one for one, _ in pairs])
        label, codes = with_names(code, Coded.from_texts(events.name, [two for _, two in pairs]))
        shown = dict(zip(codes, label.labels, strict=True))
    codes = tuple(sorted(used, key=lambda one: shown[one]))
    return Feature(Mode(events.mode, tuple(shown[one] for one in codes)), codes)


def number_people(database: Database, tables: Sequence[EventColumns], by_visit: bool) -> int:
    """Give everybody who has a usable event a number, in the order of their ids; how many."""
    everybody = joined(
        " UNION ",
        (
            sql(
                "SELECT who FROM {judged} WHERE fault = 0",
                judged=judged_rows(database, events, by_visit),
            )
            for events in tables
        ),
    )
    database.run(
        sql(
            "CREATE TABLE people AS SELECT "
            "(row_number() OVER (ORDER BY who) - 1)::INTEGER AS person, who FROM ({everybody})",
            everybody=everybody,
        )
    )
    return int(database.run(sql("SELECT count(*) FROM people"))[0][0])


def store_events(
    database: Database, events: EventColumns, feature: Feature, axis: int, by_visit: bool
) -> int:
    """The usable events of a table as numbers, in the database's own file; how many people."""
    database.run(
        sql(
            "CREATE TABLE codes_{axis} AS "
            "SELECT unnest(?::VARCHAR[]) AS feature, unnest(?::INTEGER[]) AS f",
            axis=axis,
        ),
        [list(feature.codes), list(range(len(feature.codes)))],
    )
    database.run(
        sql(
            "CREATE TABLE events_{axis} AS SELECT person, f, visit, amount FROM {judged} "
            "JOIN people USING (who) JOIN codes_{axis} USING (feature) WHERE fault = 0",
            axis=axis,
            judged=judged_rows(database, events, by_visit),
        )
    )
    counted = sql("SELECT count(DISTINCT person) FROM events_{axis}", axis=axis)
    return int(database.run(counted)[0][0])


def outcome_texts(database: Database, number: int, text: Sql, most: int) -> dict[str, int]:
    """How many patients have each text of a column; at most so many texts and one more."""
    statement = sql(
        "SELECT {text}, count(*) FROM {source} GROUP BY 1 LIMIT {limit}",
        text=text,
        source=source_of(database, number),
        limit=most + 1,
    )
    return dict(database.run(statement))


def outcome_of_people(
    database: Database, number: int, who: Sql, text: Sql, classes: dict[str, int], n_people: int
) -> NDArray[np.int32]:
    """The number of everybody's class, -1 for those without one."""
    database.run(
        sql(
            "CREATE TABLE classes AS SELECT unnest(?::VARCHAR[]) AS word, unnest(?::INTEGER[]) AS c"
        ),
        [list(classes), list(classes.values())],
    )
    found = np.full(n_people, -1, dtype=np.int32)
    statement = sql(
        "SELECT person, c FROM (SELECT {who} AS who, {text} AS word FROM {source}) "
        "JOIN people USING (who) JOIN classes USING (word)",
        who=who,
        text=text,
        source=source_of(database, number),
    )
    for batch in database.batches(statement):
        found[batch.column(0).to_numpy()] = batch.column(1).to_numpy()
    return found


def people_ids(database: Database, first: int, until: int) -> list[str]:
    """The ids of some people, in order."""
    statement = sql("SELECT who FROM people WHERE person >= ? AND person < ? ORDER BY person")
    return [row[0] for row in database.run(statement, [first, until])]
