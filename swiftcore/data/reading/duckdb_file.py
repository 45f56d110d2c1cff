"""Plain tables of a DuckDB file: opened read-only, without files or network, views never run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from swiftcore.data.options import Limits
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Source
from swiftcore.data.reading.table_set import TableEntry, check_columns, check_count
from swiftcore.data.reading.text import unique_names
from swiftcore.data.reading.text_columns import text_columns
from swiftcore.data.reading.text_table import TextTable
from swiftcore.data.sql import Sql, joined, quoted, sql
from swiftcore.errors import InvalidData, refuse, where_list

MAGIC_AT = 8
DUCKDB_MAGIC = b"DUCK"
_PLAIN = re.compile(
    r"VARCHAR|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BOOLEAN|DATE|TIMESTAMP|DOUBLE|FLOAT|DECIMAL.*"
)
_LIST = re.compile(r"(VARCHAR|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?)\[\]")
_NESTED = re.compile(r"\[|STRUCT|MAP|UNION|BLOB|BIT|VARIANT|GEOMETRY")
_FETCHED = 1_000
_INSTALL = 'Install it: pip install "swift-phenotyping[databases]"'


def is_duckdb(head: bytes) -> bool:
    """Whether a file begins as DuckDB's do."""
    return head[MAGIC_AT : MAGIC_AT + len(DUCKDB_MAGIC)] == DUCKDB_MAGIC


class DuckdbFile:
    """One database file; its plain tables are read, nothing in it is run."""

    def __init__(self, source: Source, name: str, findings: Findings) -> None:
        self.name, self.budget, self.findings = name, source.budget, findings
        self._run = _opened(source, name, source.budget.limits)
        self._tables = self._plain_tables()

    def entries(self) -> list[TableEntry]:
        """The plain tables of all schemas; views are named and never run."""
        return [self._entry(*table) for table in self._tables]

    def _plain_tables(self) -> list[tuple[str, str]]:
        views = self._run("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1")
        if views:
            names = where_list([name for (name,) in views])
            self.findings.note(f"{self.name}: views are not run, so they are not read: {names}.")
        found: list[tuple[str, str]] = self._run(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal ORDER BY 2, 1"
        )
        check_count(len(found), self.name)
        return found

    def _entry(self, schema: str, table: str) -> TableEntry:
        return TableEntry(
            table,
            f"{self.name}/{table}",
            lambda: tuple(name for name, _ in self._columns(schema, table)),
            lambda: self._read(schema, table),
        )

    def _columns(self, schema: str, table: str) -> list[tuple[str, Sql]]:
        """Stored columns of plain values, and how each is asked for."""
        key = [schema, table]
        listed = self._run(
            "SELECT column_name, data_type, column_default IS NOT NULL FROM duckdb_columns() "
            "WHERE schema_name = ? AND table_name = ? ORDER BY column_index",
            key,
        )
        [(made_by,)] = self._run(
            "SELECT sql FROM duckdb_tables() WHERE schema_name = ? AND table_name = ?", key
        )
        computed = "GENERATED ALWAYS" in made_by.upper()
        kept = [
            (name, _asked(quoted(name), kind))
            for name, kind, default in listed
            if (_LIST.fullmatch(kind) or not _NESTED.search(kind)) and not (computed and default)
        ]
        if len(kept) < len(listed):
            self.findings.note(
                f"{self.name}/{table}: {len(listed) - len(kept)} columns that are computed, nested "
                "or binary were not read."
            )
        return kept

    def _read(self, schema: str, table: str) -> TextTable:
        columns, title = self._columns(schema, table), f"{self.name}/{table}"
        check_columns(len(columns), title)
        statement = sql(
            "SELECT {asked} FROM {schema}.{table}",
            asked=joined(", ", (how for _, how in columns)),
            schema=quoted(schema),
            table=quoted(table),
        )
        cursor = self._run(statement, rows=True)
        names = [name for name, _ in columns]
        rows = text_columns(_fetched(cursor, self.name), names, title, self.budget)
        self.findings.tables[title] = rows.num_rows
        return TextTable(title, unique_names(names, title, self.findings), rows)


def _asked(column: Sql, kind: str) -> Sql:
    """How a column of a kind is asked for: lists as one cell with bars."""
    if _LIST.fullmatch(kind):
        return sql("list_aggregate({column}, 'string_agg', '|')", column=column)
    return column if _PLAIN.fullmatch(kind) else sql("CAST({column} AS VARCHAR)", column=column)


def _opened(source: Source, name: str, limits: Limits) -> Any:
    """A function that runs one statement of ours in the locked database."""
    try:
        import duckdb  # late: an extra
    except ImportError as error:
        raise refuse(
            "databases-missing",
            "A DuckDB file is read by DuckDB, which is not installed",
            name,
            "no package duckdb",
            _INSTALL,
        ) from error
    path = source.path_of(name)
    if path is None or not is_duckdb(source.head(name)):
        raise refuse(
            "database-packed",
            "A DuckDB file that is packed is not read",
            name,
            "an archive",
            "Give the database file itself.",
        )
    source.budget.check_announced(source.size(name), name)
    settings: dict[str, Any] = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "memory_limit": f"{max(limits.memory_mb // 2, 128)}MB",
        "threads": 1,
        "lock_configuration": True,
    }

    def run(statement: str, values: list[str] | None = None, *, rows: bool = False) -> Any:
        try:
            cursor = connection.execute(statement, values)
            return cursor if rows else cursor.fetchall()
        except (duckdb.Error, RuntimeError, ValueError) as error:
            raise _damaged(name, error) from error

    try:
        connection = duckdb.connect(str(path), read_only=True, config=settings)
    except (duckdb.Error, RuntimeError, ValueError) as error:
        raise _damaged(name, error) from error
    return run


def _fetched(cursor: Any, name: str) -> Iterator[tuple[Any, ...]]:
    import duckdb  # late: an extra

    while True:
        try:
            batch = cursor.fetchmany(_FETCHED)
        except (duckdb.Error, RuntimeError, ValueError) as error:
            raise _damaged(name, error) from error
        if not batch:
            return
        yield from batch


def _damaged(name: str, error: Exception) -> InvalidData:
    return refuse(
        "database-damaged",
        "The DuckDB file cannot be read",
        name,
        (str(error).splitlines() or ["an error"])[0][:200],
        "Close every program that uses it and copy it again, or export its tables as Parquet.",
    )
