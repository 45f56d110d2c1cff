"""Whose export a set of tables is, told by the names of its tables and columns."""

from __future__ import annotations

import re

from swiftcore.data.building.ehr_layouts import LAYOUTS, Layout
from swiftcore.data.reading.table_set import TableEntry, TableSet

TABLE_ENDING = re.compile(
    r"(\.(csv|tsv|tab|txt|parquet|jsonl|ndjson|json|xlsx|sqlite3?|db|duckdb))?(\.gz)?$",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^cdm_(?=.)")  # as SynPUF names the tables of the OMOP CDM


def export_tables(tables: TableSet) -> dict[str, TableEntry]:
    """Tables by the names that layouts know them under."""
    found: dict[str, TableEntry] = {}
    for name, entry in tables.by_name().items():
        found.setdefault(_PREFIX.sub("", name), entry)
    return found


def layouts_present(tables: TableSet) -> list[Layout]:
    """Layouts whose telling tables (or at least one event table) are there."""
    by_name = export_tables(tables)
    found = []
    for layout in LAYOUTS:
        signature = [table for table, _ in layout.signature]
        events = [any(name in by_name for name in one.tables) for one in layout.events]
        likely = any(events) and any(table in by_name for table in signature)
        if likely and all(_has_column(by_name, *part) for part in layout.signature):
            found.append(layout)
    return found


def _has_column(tables: dict[str, TableEntry], table: str, column: str) -> bool:
    """Whether a table has a column; one that is missing or unknown does not speak against it."""
    if table not in tables:
        return True
    columns = [name.strip().lower() for name in tables[table].columns()]
    return not columns or column in columns
