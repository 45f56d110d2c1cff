"""Several tables of one's own: which holds events, which patients, known by their columns."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from swiftcore.data.building.ehr import TABLE_ENDING
from swiftcore.data.building.event_table import (
    ID_NAMES,
    ColumnRoles,
    find_column,
    guess_roles,
    plain_name,
)
from swiftcore.data.building.events import Events, Records
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded, days, numbers
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text import TextTable
from swiftcore.errors import refuse, where_list

_NAME = re.compile(r"name|description|title|label|text")


def read_tables(tables: list[TextTable], options: BuildOptions, findings: Findings) -> Records:
    """Several tables of events and perhaps one of patients, told apart by their columns.

    A table with one row per patient is taken for the patients' table; every other table that
    shares the patients' id becomes a mode.
    """
    events: list[Events] = []
    titles: list[str] = []
    traits: dict[str, dict[str, str]] = {}
    for table in sorted(tables, key=lambda one: one.name):
        settings = {
            role: name
            for role, name in options.columns.items()
            if all(find_column(table.columns, part.strip()) for part in name.split(","))
        }
        roles = guess_roles(table, settings, findings)
        if plain_name(roles.row) not in ID_NAMES and "row" not in settings:
            findings.note(f"{table.name} was not used: no column of patients or row ids.")
            continue
        ids = table.coded(roles.row)
        title = TABLE_ENDING.sub("", table.name.rsplit("/", 1)[-1])
        once = len(ids.labels) == len(ids)
        if once and ("patient" in title.lower() or "person" in title.lower() or not roles.features):
            traits.update(_traits(table, ids))
            findings.mapping[title] = f"patients by {roles.row}"
        elif roles.features:
            events.append(_events(table, ids, roles, options, findings))
            titles.append(title)
            findings.mapping[title] = f"{roles.row} has {roles.features[0]}"
    findings.stop_if_problems()
    names = [table.name for table in events]
    events = [
        table if names.count(table.name) == 1 else replace(table, name=title)
        for table, title in zip(events, titles, strict=True)
    ]
    if not events:
        raise refuse(
            "tables-unclear",
            "No table of events was recognised",
            "the folder",
            f"tables {where_list([t.name for t in tables])}",
            "Name the columns for row and features.",
        )
    return Records(tuple(events), traits, None)


def _events(
    table: TextTable,
    ids: Coded,
    roles: ColumnRoles,
    options: BuildOptions,
    findings: Findings,
) -> Events:
    feature = table.coded(roles.features[0])
    codes = feature.labels
    named = next(
        (
            column
            for column in table.columns
            if _NAME.search(plain_name(column))
            and column not in roles.described().values()
            and column != roles.row
        ),
        "",
    )
    if named:
        feature, codes = _with_names(feature, table.coded(named))
    if roles.features[1:]:
        findings.note(
            f"Of {table.name} the column {roles.features[0]} is used; set 'features' "
            f"to use {where_list(roles.features[1:])}."
        )
    visit = table.coded(roles.visit) if roles.visit else None
    time = None
    if roles.date:
        time = days(table.coded(roles.date), table.name, options.date_order, findings)
    amount = numbers(table.coded(roles.value), table.name, findings) if roles.value else None
    who = Coded("patient", ids.codes, ids.labels)
    events = Events(roles.features[0], who, feature, codes, (), visit, time, amount)
    return events.usable(findings, table.name)


def _with_names(code: Coded, name: Coded) -> tuple[Coded, tuple[str, ...]]:
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
