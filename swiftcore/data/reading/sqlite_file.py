"""Plain tables of an SQLite database: nothing in it is run, only rows are read.

The file is opened for reading only and as one that nobody changes. An authorizer refuses every
step of a statement but reading the columns of a plain table, so that a view, a trigger, a virtual
table or a computed column, whatever it says, is never entered.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import count
from typing import Any

from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Source
from swiftcore.data.reading.table_set import TableEntry, check_columns, check_count
from swiftcore.data.reading.text import unique_names
from swiftcore.data.reading.text_columns import MAX_CELL, cell_text, cell_too_long, text_columns
from swiftcore.data.reading.text_table import TextTable
from swiftcore.data.sql import joined, quoted, sql
from swiftcore.errors import InvalidData, refuse, where_list

SQLITE_MAGIC = b"SQLite format 3\0"
_STORED = (0, 3)  # table_xinfo: an ordinary column, or one whose computed value is stored
_PRAGMAS = ("query_only = on", "trusted_schema = off", "cell_size_check = on", "mmap_size = 0")
_READ_PRAGMAS = ("table_list", "table_xinfo")
_STEPS = 100_000  # of SQLite's machine between two looks at how many there were
MAX_LOOKS = 50_000  # five thousand million steps: far more than any scan of a gigabyte takes
_FETCHED = 1_000


class SqliteFile:
    """One database, opened read-only and shut against everything but plain reading."""

    def __init__(self, source: Source, name: str, findings: Findings) -> None:
        self.name, self.budget, self.findings = name, source.budget, findings
        path = source.path_of(name)
        log = path.with_name(f"{path.name}-wal") if path else None
        if log and log.is_file() and log.stat().st_size:
            findings.note(
                f"{name}: changes that still lie in {log.name} are not read; close the programs "
                "that use the database to have them written."
            )
        try:
            self._connection = _opened(source, name)
            self._tables = self._plain_tables()
        except InvalidData:
            raise
        except (sqlite3.Error, ValueError) as error:
            raise _damaged(name, error) from error

    def entries(self) -> list[TableEntry]:
        """The plain tables; what else the database holds is named and never run."""
        return [self._entry(table) for table in self._tables]

    def _plain_tables(self) -> list[str]:
        listed = self._connection.execute("PRAGMA main.table_list").fetchall()
        check_count(len(listed), self.name)
        kinds: dict[str, list[str]] = {}
        for _, table, kind, *_ in listed:
            if not table.startswith("sqlite_"):
                kinds.setdefault(kind, []).append(table)
        other: dict[str, list[str]] = {
            kind: kinds[kind] for kind in ("view", "virtual") if kind in kinds
        }
        triggers = self._connection.execute("SELECT type, name FROM main.sqlite_master").fetchall()
        other["trigger"] = [name for kind, name in triggers if kind == "trigger"]
        for kind, names in other.items():
            if names:
                self.findings.note(
                    f"{self.name}: {kind}s are not run, so they are not read: {where_list(names)}."
                )
        return sorted(kinds.get("table", []))

    def _entry(self, table: str) -> TableEntry:
        title = f"{self.name}/{table}"
        return TableEntry(table, title, lambda: self._columns(table), lambda: self._read(table))

    def _columns(self, table: str) -> tuple[str, ...]:
        """Columns that are stored in the file."""
        try:
            found = self._connection.execute(f"PRAGMA main.table_xinfo({quoted(table)})")
            return tuple(row[1] for row in found.fetchall() if row[6] in _STORED)
        except sqlite3.Error as error:
            raise _damaged(self.name, error) from error

    def _read(self, table: str) -> TextTable:
        columns, title = self._columns(table), f"{self.name}/{table}"
        check_columns(len(columns), title)
        binary: list[str] = []

        def as_text(value: Any) -> str | None:
            if isinstance(value, bytes):
                binary.append(table)
                return None
            return cell_text(value)

        try:
            rows = text_columns(self._rows(table, columns), columns, title, self.budget, as_text)
        except InvalidData:
            raise
        except (sqlite3.Error, ValueError) as error:
            raise _damaged(title, error) from error
        self.findings.leave_out("cells that hold bytes, not text", len(binary), title)
        self.findings.tables[title] = rows.num_rows
        return TextTable(title, unique_names(list(columns), title, self.findings), rows)

    def _rows(self, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        listed = joined(", ", map(quoted, columns))
        statement = sql("SELECT {listed} FROM main.{table}", listed=listed, table=quoted(table))
        cursor = self._connection.execute(statement)
        while batch := cursor.fetchmany(_FETCHED):
            yield from batch


def _opened(source: Source, name: str) -> sqlite3.Connection:
    """The file itself, or a copy in memory when it lies in an archive."""
    path = source.path_of(name)
    if path and source.head(name, len(SQLITE_MAGIC)) == SQLITE_MAGIC:
        source.budget.check_announced(source.size(name), name)
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
    else:
        content = bytearray(source.read(name))
        content[18:20] = b"\1\1"  # no log beside a copy in memory
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(bytes(content))
    for setting in _PRAGMAS:
        connection.execute(f"PRAGMA {setting}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 4 * MAX_CELL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    looks = count()
    connection.set_progress_handler(lambda: next(looks) > MAX_LOOKS, _STEPS)
    connection.set_authorizer(_may)
    return connection


def _may(action: int, first: str | None, _: str | None, __: str | None, inner: str | None) -> int:
    """Only a SELECT of columns, and two questions about the schema; nothing from inside a view."""
    reads = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) and inner is None
    asks = action == sqlite3.SQLITE_PRAGMA and first in _READ_PRAGMAS
    return sqlite3.SQLITE_OK if reads or asks else sqlite3.SQLITE_DENY


def _damaged(name: str, error: Exception) -> InvalidData:
    if isinstance(error, sqlite3.DataError):  # longer than the limit on one value
        return cell_too_long(name, f"more than {MAX_CELL:,} characters")
    return refuse(
        "database-damaged",
        "The SQLite database cannot be read",
        name,
        (str(error).splitlines() or ["an error"])[0][:200],
        "Make a fresh copy of the database (VACUUM INTO), or export its tables as CSV.",
    )
