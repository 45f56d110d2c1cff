"""Tables under names, read when asked for: files of a folder, sheets, tables of a database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from swiftcore.data.reading.parquet import MAX_COLUMNS
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import refuse, where_list

MAX_TABLES = 1_000  # in one workbook, database or file of JSON


@dataclass(frozen=True, eq=False)
class TableEntry:
    """One table that can be read.

    Attributes
    ----------
    name : str
        Its own name, without folder and ending: the file's, the sheet's or the table's.
    title : str
        What people call it, with the file that holds it.
    columns : callable
        The names of its columns without reading its rows; none when that is not possible.
    read : callable
        All of it; raises InvalidData.
    """

    name: str
    title: str
    columns: Callable[[], tuple[str, ...]]
    read: Callable[[], TextTable]


@dataclass(frozen=True, eq=False)
class TableSet:
    """All tables of one path.

    Attributes
    ----------
    where : str
        What people call the path.
    entries : tuple of TableEntry
        In the order in which they were found.
    """

    where: str
    entries: tuple[TableEntry, ...]

    def by_name(self) -> dict[str, TableEntry]:
        """Name in lower case to the first table that has it."""
        found: dict[str, TableEntry] = {}
        for entry in self.entries:
            found.setdefault(entry.name.lower(), entry)
        return found

    def chosen(self, wanted: str) -> TableSet:
        """Only the tables that a person named, with commas between them.

        Raises
        ------
        InvalidData
            When one of them is not there.
        """
        names = [part.strip().lower() for part in wanted.split(",") if part.strip()]
        known = {entry.name.lower() for entry in self.entries}
        missing = [name for name in names if name not in known]
        if missing:
            raise refuse(
                "table-unknown",
                "There is no such table or sheet",
                self.where,
                where_list(missing),
                f"Choose from {where_list([entry.name for entry in self.entries], 12)}.",
            )
        kept = tuple(entry for entry in self.entries if entry.name.lower() in names)
        return replace(self, entries=kept)


def check_count(count: int, where: str) -> None:
    """Refuse one file with more tables than anybody ever made on purpose."""
    if count > MAX_TABLES:
        raise refuse(
            "too-many-tables",
            "The file holds too many tables",
            where,
            f"{count:,} tables",
            "Export the tables that are needed alone.",
        )


def check_columns(count: int, where: str) -> None:
    """Refuse tables without columns, or with more than a table of events ever has."""
    if not 0 < count <= MAX_COLUMNS:
        raise refuse(
            "too-many-columns" if count else "columns-missing",
            f"The table has {'too many' if count else 'no'} columns that can be read",
            where,
            f"{count:,} columns",
            "Give a long table: one event per row.",
        )
