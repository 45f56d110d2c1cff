"""Several tables of one's own: which holds events, which patients, known by their columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from swiftcore.data.building.column_roles import (
    FEATURE_NAMES,
    ColumnRoles,
    plain_name,
)
from swiftcore.data.building.ehr_tables import TABLE_ENDING
from swiftcore.data.building.event_table import event_days
from swiftcore.data.building.events import Events, Records
from swiftcore.data.building.layouts.feature_columns import features_of
from swiftcore.data.building.layouts.melt import melted, what_was_melted
from swiftcore.data.building.layouts.recognise import LEAST_ROWS
from swiftcore.data.building.layouts.table_reading import TableReading
from swiftcore.data.building.people_and_time import facts_of_rows
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded, numbers
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import refuse, where_list

_NAME = re.compile(r"name|description|title|label|text")


def read_tables(
    tables: Sequence[TextTable],
    readings: Sequence[TableReading],
    options: BuildOptions,
    findings: Findings,
) -> Records:
    """Tables of events and perhaps one of patients, told apart by their columns.

    A table with one row per patient is taken for the patients' table; every other table that
    shares the patients' id becomes a mode, or several if it is melted.
    """
    events: list[tuple[str, Events]] = []
    traits: dict[str, Mapping[str, str]] = {}
    for table, reading in sorted(zip(tables, readings, strict=True), key=lambda one: one[0].name):
        roles = reading.roles
        if not roles.row:
            findings.note(f"{table.name} was not used: no column of patients or row ids.")
            continue
        ids = table.coded(roles.row)
        title = TABLE_ENDING.sub("", table.name.rsplit("/", 1)[-1])
        if reading.melts:
            who = roles.row if len(tables) == 1 else "patient"
            made = melted(table, reading, who, options, findings)
            events += [(title, one) for one in made]
            traits.update(facts_of_rows(table, ids, _used(reading)))
            findings.note(what_was_melted(table.name, reading))
            findings.mapping[title] = f"{roles.row} has {', '.join(one.name for one in made)}"
        elif is_of_patients(title, len(ids.labels) == len(ids), _names_codes(reading)):
            traits.update(_traits(table, ids))
            findings.mapping[title] = f"patients by {roles.row}"
        elif roles.features:
            events.append((title, _events(table, ids, roles, options, findings)))
            findings.mapping[title] = f"{roles.row} has {roles.features[0]}"
    findings.stop_if_problems()
    if not events:
        raise refuse(
            "tables-unclear",
            "No table of events was recognised",
            "the folder",
            f"tables {where_list([t.name for t in tables])}",
            "Name the columns for row and features (columns.row, columns.features).",
        )
    return Records(_distinct(events), traits, None)


def _used(reading: TableReading) -> set[str]:
    """Columns of a melted table that say nothing of its rows."""
    roles = reading.roles
    return {
        roles.row,
        roles.visit,
        roles.value,
        reading.domain,
        *roles.features,
        *features_of(reading.groups),
    }


def is_of_patients(title: str, distinct: bool, codes: bool) -> bool:
    """Whether this is the patients' table: nobody twice, and by its title or without codes."""
    named = "patient" in title.lower() or "person" in title.lower()
    return distinct and (named or not codes)


def _names_codes(reading: TableReading) -> bool:
    """Whether a table has features for sure: codes, or so few rows that only names tell."""
    features = [reading.profiles[one] for one in reading.roles.features]
    return any(one.codes > 0.5 or one.rows < LEAST_ROWS for one in features) or any(
        FEATURE_NAMES.search(plain_name(one.name)) for one in features
    )


def _distinct(events: list[tuple[str, Events]]) -> tuple[Events, ...]:
    """Modes of the same name are named after their tables instead."""
    names = [table.name for _, table in events]
    return tuple(
        table if names.count(table.name) == 1 else replace(table, name=title)
        for title, table in events
    )


def _events(
    table: TextTable,
    ids: Coded,
    roles: ColumnRoles,
    options: BuildOptions,
    findings: Findings,
) -> Events:
    feature = table.coded(roles.features[0])
    codes = feature.labels
    named = name_column(table, roles)
    if named:
        feature, codes = with_names(feature, table.coded(named))
    note_unused(table.name, roles, findings)
    visit = table.coded(roles.visit) if roles.visit else None
    time = event_days(table, roles, options, findings)
    amount = numbers(table.coded(roles.value), table.name, findings) if roles.value else None
    who = Coded("patient", ids.codes, ids.labels)
    events = Events(roles.features[0], who, feature, codes, (), visit, time, amount)
    return events.usable(findings, table.name)


def note_unused(table: str, roles: ColumnRoles, findings: Findings) -> None:
    """Say which further columns could have been the features."""
    if roles.features[1:]:
        findings.note(
            f"Of {table} the column {roles.features[0]} is used; set 'features' "
            f"to use {where_list(roles.features[1:])}."
        )


def name_column(table: TextTable, roles: ColumnRoles) -> str:
    """The first free column that may hold names of the codes; "" when there is none."""
    used = {*roles.described().values(), roles.row}
    free = (column for column in table.columns if column not in used)
    return next((column for column in free if _NAME.search(plain_name(column))), "")


def with_names(code: Coded, name: Coded) -> tuple[Coded, tuple[str, ...]]:
    """Show the name of a code where every code has exactly one and no two share it."""
    pairs = np.unique(np.stack([code.codes, name.codes], axis=1), axis=0)
    one_each = len(pairs) == len(code.labels) == len(np.unique(pairs[:, 1]))
    if not one_each or any(not label.strip() for label in name.labels):
        return code, code.labels
    by_code = dict(pairs.tolist())
    labels = tuple(name.labels[by_code[c]] for c in range(len(code.labels)))
    return Coded(name.name, code.codes, labels), code.labels


def _traits(table: TextTable, ids: Coded) -> dict[str, dict[str, str]]:
    traits = {}
    for name in table.columns:
        column = table.coded(name)
        traits[name] = {
            ids.labels[i]: column.labels[c] for i, c in zip(ids.codes, column.codes, strict=True)
        }
    return traits
