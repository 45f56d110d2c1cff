"""Which file of a folder holds which table, and whose export the tables are."""

from __future__ import annotations

import re
import zlib
from pathlib import PurePosixPath

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as arrow_parquet  # type: ignore[import-untyped]

from swiftcore.data.building.ehr_layouts import LAYOUTS, Layout
from swiftcore.data.reading.parquet import PARQUET_MAGIC
from swiftcore.data.reading.source import Source

TABLE_ENDING = re.compile(r"(\.(csv|tsv|txt|parquet))?(\.gz)?$", re.IGNORECASE)


def table_names(source: Source) -> dict[str, str]:
    """Table name in lower case, without endings, to the file that holds it."""
    found: dict[str, str] = {}
    for name in source.names:
        if re.search(r"\.(csv|tsv|parquet)(\.gz)?$", name, re.IGNORECASE):
            found.setdefault(TABLE_ENDING.sub("", PurePosixPath(name).name).lower(), name)
    return found


def layouts_present(source: Source) -> list[Layout]:
    """Layouts whose telling tables (or at least one event table) are there."""
    tables = table_names(source)
    found = []
    for layout in LAYOUTS:
        signature = [table for table, _ in layout.signature]
        events = [any(name in tables for name in one.tables) for one in layout.events]
        likely = any(events) and any(table in tables for table in signature)
        if likely and all(_has_column(source, tables, *part) for part in layout.signature):
            found.append(layout)
    return found


def _has_column(source: Source, tables: dict[str, str], table: str, column: str) -> bool:
    """Whether the head of a table names a column; a missing table does not speak against it."""
    if table not in tables:
        return True
    head = source.head(tables[table], 1 << 16)
    if head.startswith(b"\x1f\x8b"):
        head = _unzipped_head(head)
    if head.startswith(PARQUET_MAGIC):
        columns = _parquet_columns(source, tables[table])
        return not columns or column in columns
    line = head.replace(b"\0", b"").splitlines()[:1]
    text = line[0].decode("latin-1").lower() if line else ""
    return column in [name.strip(' "\xef\xbb\xbf\xff\xfe') for name in re.split("[,;\t|]", text)]


def _parquet_columns(source: Source, file: str) -> list[str]:
    """Names in lower case by the end of the file; none where only its beginning is at hand."""
    if not source.path.is_dir():
        return []
    try:
        return [name.lower() for name in arrow_parquet.read_schema(source.path / file).names]
    except (pa.ArrowException, OSError, ValueError, NotImplementedError):
        return []  # damaged: its reader will say so


def _unzipped_head(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(head, 1 << 16)
    except zlib.error:
        return b""
