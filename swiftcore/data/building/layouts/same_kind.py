"""Tables of the same columns and the same features, as sheets of years are: one table in parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa  # type: ignore[import-untyped]

from swiftcore.data.building.layouts.recognise import MIN_ROWS, read_layout
from swiftcore.data.building.layouts.table_reading import TableReading
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable

_NUMBER = re.compile(r"[\d\s()_-]+")
SHARED = 0.5  # of the features of the smaller table


def put_together(
    tables: Sequence[TextTable],
    settings: Sequence[Mapping[str, str]],
    options: BuildOptions,
    findings: Findings,
) -> list[TextTable]:
    """The tables, parts of one as one, and none that says again what another says.

    As modes of a tensor they would pair every diagnosis with itself; if their names do not say
    that they are parts, the person is asked.
    """
    found: list[TextTable] = []
    heads: dict[int, set[str]] = {}
    several = {columns for columns, n in Counter(one.columns for one in tables).items() if n > 1}
    for table, setting in zip(tables, settings, strict=True):
        if table.columns not in several or table.n_rows < MIN_ROWS:
            found.append(table)
            continue
        features = _features(table, setting, options.layout)
        at = next((at for at in heads if _alike(found[at], heads[at], table, features)), None)
        if at is None:
            heads[len(found)] = features
            found.append(table)
        elif found[at].rows.equals(table.rows):
            findings.note(f"{table.name} says the same as {found[at].name}; it was not used.")
        elif _stem(found[at].name) == _stem(table.name):
            findings.note(
                f"{table.name} has the columns and features of {found[at].name}; they were put "
                "together."
            )
            rows = pa.concat_tables([found[at].as_text(), table.as_text()])
            found[at] = TextTable(found[at].name, table.columns, rows)
        else:
            if not options.yes:
                _ask(found[at].name, table.name, findings)
            found.append(table)
    return found


def _ask(one: str, other: str, findings: Findings) -> None:
    findings.problem(
        "tables-alike",
        "Two tables have the same columns and the same features",
        f"{one} and {other}",
        "names that do not differ in a number only, as those of parts do",
        "Choose one (tables), put both into one table, or say that each is a mode (--yes).",
    )


def _stem(name: str) -> str:
    return _NUMBER.sub("", name)


def _alike(one: TextTable, some: set[str], other: TextTable, others: set[str]) -> bool:
    """Whether two tables have the same columns, and most features of the smaller one."""
    least = min(len(some), len(others))
    return one.columns == other.columns and len(some & others) > SHARED * least


def _features(table: TextTable, settings: Mapping[str, str], layout: str) -> set[str]:
    """The entries of all columns that hold features."""
    reading: TableReading = read_layout(table, settings, layout)
    columns = [*reading.roles.features, *(one for group in reading.groups for one in group.columns)]
    return {text for name in columns for text in reading.profiles[name].counts}
