"""Which tables and columns a schema holds; only names from here reach a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swiftcore.data.building.ehr_layouts import OMOP, EventTable
from swiftcore.data.databases.connection import Reading, sql
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse

_WHOLE = ("int2", "int4", "int8")
_TABLES = (
    "SELECT c.relname::text, a.attname::text, t.typname::text "
    "FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid "
    "JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid "
    "WHERE n.nspname = %(schema)s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
    "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum"
)
_SCHEMAS = "SELECT 1 FROM pg_namespace WHERE nspname = %(schema)s"


@dataclass(frozen=True)
class Table:
    """A table as the catalogue spells it.

    Attributes
    ----------
    columns : mapping of str to (str, str)
        By the name in small letters, the name as it is and the type.
    """

    schema: str
    name: str
    columns: Mapping[str, tuple[str, str]]

    @property
    def quoted(self) -> sql.Composable:
        return _identifier(self.schema, self.name)

    def column(self, wanted: str) -> sql.Composable:
        """A column that is known to be there."""
        return _identifier(self.columns[wanted][0])


def _identifier(*names: str) -> sql.Composable:
    """A quoted name; a percent sign is no placeholder (statements always come with values)."""
    return sql.Identifier(*(name.replace("%", "%%") for name in names))


def tables_of(reading: Reading, schema: str) -> dict[str, Table]:
    """All tables of a schema by their names in small letters.

    Raises
    ------
    InvalidData
        When there is no such schema, or nothing in it that the user may see.
    """
    reading.begin("Looking at the tables")
    if not reading.rows(sql.SQL(_SCHEMAS), {"schema": schema}):
        raise refuse(
            "schema-missing",
            "The database has no schema of this name",
            reading.name,
            f"no schema {schema[:63]!r}",
            "Name the schema of the OMOP tables: --schema cdm.",
        )
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for table, column, kind in reading.rows(sql.SQL(_TABLES), {"schema": schema}):
        found.setdefault(table, {}).setdefault(column.lower(), (column, kind))
    known: dict[str, Table] = {}
    for name, columns in found.items():
        known.setdefault(name.lower(), Table(schema, name, columns))
    return known


def event_tables(
    tables: Mapping[str, Table], by_visit: bool, findings: Findings
) -> list[tuple[EventTable, Table]]:
    """The table of each kind of event.

    Raises
    ------
    InvalidData
        With every table and column that is missing or has another type.
    """
    found = []
    for spec in OMOP.events:
        name = next((one for one in spec.tables if one in tables), None)
        if name is None:
            wanted = " or ".join(one.upper() for one in spec.tables)
            findings.problem(
                "table-missing",
                "A table of the CDM is missing",
                "the schema",
                f"no {wanted}",
                f"Name the schema that holds {wanted}, or ask for the right to see it.",
            )
            continue
        needed = [spec.subject, spec.code, *([spec.visit] if by_visit else [])]
        for column in needed:
            _check_whole(tables[name], column, findings)
        found.append((spec, tables[name]))
    findings.stop_if_problems()
    return found


def optional(tables: Mapping[str, Table], name: str, columns: tuple[str, ...]) -> Table | None:
    """A table that need not be there, if it is there with these columns."""
    table = tables.get(name)
    return table if table and all(one in table.columns for one in columns) else None


def _check_whole(table: Table, column: str, findings: Findings) -> None:
    if column not in table.columns:
        findings.problem(
            "column-missing",
            "A column is missing",
            table.name,
            f"no column {column}",
            "Use the tables of an OMOP CDM 5; to join per patient needs no visits.",
        )
    elif table.columns[column][1] not in _WHOLE:
        findings.problem(
            "column-type",
            "A column of ids does not hold whole numbers",
            f"{table.name}, column {column}",
            "another type",
            "Use the types of the OMOP CDM (integer or bigint).",
        )
