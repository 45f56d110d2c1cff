"""All tables of a path as one set, whatever holds them: text, Parquet, sheets, JSON, databases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as arrow_parquet  # type: ignore[import-untyped]

from swiftcore.data.building.column_roles import ID_NAMES, plain_name
from swiftcore.data.building.ehr_layouts import LAYOUTS
from swiftcore.data.building.ehr_tables import TABLE_ENDING
from swiftcore.data.building.omop_columns import (
    headerless_table,
    known_columns,
    with_cdm_columns,
)
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.duckdb_file import DuckdbFile, is_duckdb
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.header import is_value
from swiftcore.data.reading.json_records import is_records, looks_like_json, read_json_tables
from swiftcore.data.reading.parquet import PARQUET_MAGIC
from swiftcore.data.reading.parquet_folder import (
    PartitionedTable,
    partitioned_tables,
    read_partitions,
)
from swiftcore.data.reading.source import Source
from swiftcore.data.reading.sqlite_file import SQLITE_MAGIC, SqliteFile
from swiftcore.data.reading.table_set import TableEntry, TableSet
from swiftcore.data.reading.text import read_text_table
from swiftcore.data.reading.text_table import TextTable
from swiftcore.data.reading.workbook import Workbook
from swiftcore.errors import refuse, where_list

ZIP_MAGIC = b"PK\x03\x04"
_HOLDERS = re.compile(
    r"\.(xlsx|xlsm|jsonl|ndjson|json|sqlite3?|db3?|duckdb|ddb)(\.gz)?$", re.IGNORECASE
)
_JSON = re.compile(r"\.json(\.gz)?$", re.IGNORECASE)
_TABLES = re.compile(r"\.(csv|tsv|parquet|tab)(\.gz)?$", re.IGNORECASE)
_TEXT, MANY_TEXTS, TEXT_LINES = re.compile(r"\.txt(\.gz)?$", re.IGNORECASE), 100, 5
_SETS = {"raw", "tidy", *(layout.kind for layout in LAYOUTS)}  # not names of tables


def table_files(source: Source) -> list[str]:
    """The files of a folder that are tables, by their ending or as texts that are laid out so."""
    texts = [name for name in source.names if _TEXT.search(name)]
    laid_out = (
        set() if len(texts) > MANY_TEXTS else set(filter(partial(_has_columns, source), texts))
    )
    return [name for name in source.names if _TABLES.search(name) or name in laid_out]


def files_with_tables(source: Source) -> list[str]:
    """The files of a folder that are tables or hold some."""
    tables = set(table_files(source))
    return [name for name in source.names if name in tables or _HOLDERS.search(name)]


def _has_columns(source: Source, name: str) -> bool:
    """Whether the first lines of a text all have as many tabs, semicolons, bars or (two) commas."""
    lines = source.unpacked_head(name).replace(b"\0", b"").splitlines()[:-1][:TEXT_LINES]
    marks = {b"\t": 1, b";": 1, b"|": 1, b",": 2}
    counts = [({line.count(mark) for line in lines}, least) for mark, least in marks.items()]
    return len(lines) > 1 and any(len(one) == 1 and min(one) >= least for one, least in counts)


def table_names(titles: Iterable[str]) -> tuple[str, ...]:
    """What the option `tables` calls the tables with these titles."""
    return tuple(TABLE_ENDING.sub("", title.rsplit("/", 1)[-1]) for title in titles)


def holder_of(head: bytes) -> str:
    """What holds tables, by its first bytes: "workbook", "sqlite", "duckdb", "json" or ""."""
    if head.startswith(ZIP_MAGIC):
        return "workbook"
    if head.startswith(SQLITE_MAGIC):
        return "sqlite"
    if is_duckdb(head):
        return "duckdb"
    return "json" if looks_like_json(head) else ""


def tables_in(source: Source, options: BuildOptions, findings: Findings) -> TableSet:
    """Every table of a path, or those that the options name.

    Raises
    ------
    InvalidData
        When a workbook or database cannot be opened, or a table that was named is not there.
    """
    if "" not in source.opened:
        source.opened[""] = TableSet(source.path.name, tuple(_entries(source, options, findings)))
    tables: TableSet = source.opened[""]
    if options.tables and options.tables.lower() not in _SETS:
        tables = tables.chosen(options.tables)
    return tables


def _entries(source: Source, options: BuildOptions, findings: Findings) -> Iterator[TableEntry]:
    several = source.path.is_dir() or source.is_archive
    names = files_with_tables(source) if several else list(source.names)
    if several:  # JSON next to tables tells about them, like any text there
        names = [name for name in names if not _JSON.search(name)] or names
    where = TABLE_ENDING.sub("", source.path.name.removesuffix(".zip"))
    parts = partitioned_tables(names, where) if several else []
    grouped = [one for one in parts if len(one.files) > 1 or one.key_names]
    for table in grouped:
        yield _partitioned(source, table, options, findings)
    taken = {file for table in grouped for file in table.files}
    for name in names:
        if name in taken or (several and PurePosixPath(name).name.startswith("_")):
            continue
        head = source.unpacked_head(name)
        holder = holder_of(head)
        if holder == "workbook":
            book = Workbook(source.read(name), name, options, source.budget, findings)
            yield from book.entries()
        elif holder == "sqlite":
            yield from SqliteFile(source, name, findings).entries()
        elif holder == "duckdb":
            yield from DuckdbFile(source, name, findings).entries()
        elif holder == "json":
            yield from _json_entries(source, name, head, findings)
        elif not several or not _HOLDERS.search(name):
            yield _text_entry(source, name, head, options, findings)
        else:
            findings.note(f"{name} was not read: no table was recognised in it.")


def _text_entry(
    source: Source, name: str, head: bytes, options: BuildOptions, findings: Findings
) -> TableEntry:
    """A CSV or Parquet file; OMOP tables without a header line get the names of the CDM."""
    own = TABLE_ENDING.sub("", PurePosixPath(name).name)
    first = _columns(source, name, head)
    table = "" if options.header == "one" else headerless_table(name, first)

    def read() -> TextTable:
        if not table:
            return _read(source, name, options, findings)
        plain = _read(source, name, replace(options, header="none"), Findings())
        findings.tables[name] = plain.n_rows
        return with_cdm_columns(plain, table, findings)

    return TableEntry(own, name, lambda: known_columns(table) if table else first, read)


def _read(source: Source, name: str, options: BuildOptions, findings: Findings) -> TextTable:
    return read_text_table(source.read(name), name, options, source.budget, findings)


def _columns(source: Source, name: str, head: bytes) -> tuple[str, ...]:
    """Names in the first line of a text, or in the schema of a Parquet file on the disk."""
    if head.startswith(PARQUET_MAGIC):
        path = source.path_of(name)
        try:
            return tuple(arrow_parquet.read_schema(path).names) if path else ()
        except (pa.ArrowException, OSError, ValueError, NotImplementedError):
            return ()  # damaged, or packed once more: its reader will say so
    line = head.replace(b"\0", b"").splitlines()[:1]
    text = line[0].decode("latin-1") if line else ""
    return tuple(part.strip(' "\xef\xbb\xbf\xff\xfe') for part in re.split("[,;\t|]", text))


def _partitioned(
    source: Source, table: PartitionedTable, options: BuildOptions, findings: Findings
) -> TableEntry:
    first = table.files[0]

    def columns() -> tuple[str, ...]:
        found = _columns(source, first, PARQUET_MAGIC)
        return (*found, *table.key_names) if found else ()

    read = partial(_read, source, options=options, findings=findings)
    return TableEntry(
        table.name,
        table.name,
        columns,
        lambda: read_partitions(table, table.name, read, findings),
    )


def _json_entries(
    source: Source, name: str, head: bytes, findings: Findings
) -> Iterator[TableEntry]:
    """One table, or several where the file is an object of arrays; that one is read at once."""
    own = TABLE_ENDING.sub("", PurePosixPath(name).name)
    first = _first_record(head)
    if head.lstrip().startswith(b"[") or (first and not any(map(is_records, first.values()))):

        def read() -> TextTable:
            return read_json_tables(source.read(name), name, source.budget, findings)[""]

        yield TableEntry(own, name, lambda: tuple(first), read)
        return
    tables = read_json_tables(source.read(name), name, source.budget, findings)
    for key, table in tables.items():
        yield TableEntry(
            key or own,
            table.name,
            lambda table=table: table.columns,  # type: ignore[misc]
            lambda table=table: table,  # type: ignore[misc]
        )


def _first_record(head: bytes) -> dict[str, object]:
    """The first record, where it stands on the first line; else none."""
    try:
        record = json.loads(head.decode("utf-8-sig", "replace").lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def usable_tables(tables: list[TextTable], findings: Findings) -> list[TextTable]:
    """Set aside tables without rows, and sheets that explain codes.

    A legend has two or three columns, none of patients; no code stands there twice, and hardly a
    meaning does.

    Raises
    ------
    InvalidData
        When no table has rows.
    """
    filled = [table for table in tables if table.n_rows]
    if not filled:
        raise refuse(
            "table-empty",
            "There is no table with rows",
            where_list([table.name for table in tables]) or "the path",
            "0 rows",
            "Export the tables again with their rows.",
        )
    kept = [table for table in filled if not _is_legend(table)] or filled
    for table in tables:
        if table not in kept:
            why = "was taken for a legend" if table.n_rows else "has no rows"
            findings.note(f"{table.name} {why} and was not used.")
    return kept


def _is_legend(table: TextTable) -> bool:
    if len(table.columns) > 3 or any(plain_name(name) in ID_NAMES for name in table.columns):
        return False
    first, *others = (table.coded(column) for column in table.columns)
    if len(first.labels) != len(first):
        return False
    return any(_is_wording(other.labels, len(other)) for other in others)


def _is_wording(texts: Sequence[str], rows: int) -> bool:
    """Whether a column explains: hardly an entry twice, and few of them numbers or dates."""
    return len(texts) > 0.9 * rows and sum(map(is_value, texts)) < 0.1 * rows
