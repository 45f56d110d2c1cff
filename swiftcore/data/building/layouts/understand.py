"""All tables of a path, each with its layout and the roles of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swiftcore.data.building.column_roles import find_column, guess_roles, set_here
from swiftcore.data.building.layouts.recognise import read_layout
from swiftcore.data.building.layouts.same_kind import put_together
from swiftcore.data.building.layouts.seen_table import SeenTable
from swiftcore.data.building.layouts.shared_id import shared_ids
from swiftcore.data.building.layouts.table_reading import TableReading
from swiftcore.data.building.layouts.tidy import (
    with_joined_id,
    with_merged_cells,
    without_repeated_headers,
    without_total_lines,
)
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import where_list


def understood(
    tables: Sequence[TextTable], options: BuildOptions, findings: Findings
) -> tuple[list[TextTable], list[TableReading]]:
    """Every table without repeated headers, totals and merged cells, and how it is read.

    Doubts are noted as problems; they stop the build, since a wrong guess would look like a result.
    """
    tables = [without_repeated_headers(table, findings) for table in tables]
    tables = [without_total_lines(table, findings) for table in tables]
    settings = [_settings(table, len(tables) > 1, options, findings) for table in tables]
    together = put_together(tables, settings, options, findings)
    if len(together) < len(tables):
        return understood(together, options, findings)
    for number, setting in enumerate(settings):
        ids = [
            find_column(tables[number].columns, one) for one in setting.get("row", "").split(",")
        ]
        if len(ids) > 1 and all(ids):
            tables[number] = with_joined_id(tables[number], ids)
            settings[number] = {**setting, "row": tables[number].columns[-1]}
    if len(tables) > 1:
        _check_names(tables, options, findings)
        rows = shared_ids(tables, [SeenTable.of(table) for table in tables])
    else:
        rows = {}
    readings = []
    for number, table in enumerate(tables):
        row = rows.get(table.name, "")
        reading = read_layout(table, settings[number], options.layout, row)
        if reading.roles.row:
            whole = with_merged_cells(table, reading.roles.row, findings)
            if whole is not table:
                tables[number] = whole
                row = reading.roles.row
                reading = read_layout(whole, settings[number], options.layout, row)
        readings.append(reading)
        findings.roles += reading.columns
    if len(tables) == 1:
        findings.problems += readings[0].doubts
    else:
        findings.problems += [one for each in readings for one in each.doubts if each.roles.row]
    layouts = [part for one in readings for part in one.layout.split("+")]
    findings.layout = "+".join(dict.fromkeys(one for one in layouts if one != "long")) or "long"
    return tables, readings


def _settings(
    table: TextTable, several: bool, options: BuildOptions, findings: Findings
) -> Mapping[str, str]:
    """The columns set by the person; of several tables those that this one has."""
    settings = dict(options.columns)
    if options.outcome_column and not several:
        settings.setdefault("outcome", options.outcome_column)
    if not several:
        guess_roles(table, settings, findings)  # notes what is set wrongly
        return settings
    return set_here(table.columns, settings)


def _check_names(tables: Sequence[TextTable], options: BuildOptions, findings: Findings) -> None:
    """A column that no table has is a slip of the person who named it."""
    every = tuple(dict.fromkeys(name for table in tables for name in table.columns))
    for role, names in options.columns.items():
        for name in filter(None, map(str.strip, names.split(","))):
            if not any(find_column(table.columns, name) for table in tables):
                findings.problem(
                    "column-missing",
                    "A column is missing",
                    "all tables",
                    f"no column '{name}' for {role}",
                    f"Choose from {where_list(every, 12)}.",
                )
