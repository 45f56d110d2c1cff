"""What a table looks like by its head alone: its columns, and how each can be read as text."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as arrow_parquet  # type: ignore[import-untyped]

from swiftcore.data.options import MEGABYTE, BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.parquet import PARQUET_MAGIC, flat_columns, parquet_damaged
from swiftcore.data.reading.text import guess_delimiter, looks_like_markup, read_header
from swiftcore.data.reading.unpacking import GZIP_MAGIC, gunzip_head
from swiftcore.data.sql import Sql, quoted, sql
from swiftcore.errors import InvalidData, refuse

HEAD = 2 * MEGABYTE


@dataclass(frozen=True)
class TableHead:
    """One table before any of its rows is read.

    Attributes
    ----------
    name, path
        What people call the file, and where it is.
    kinds : mapping of str to {"text", "plain", ""}
        By column, in order: text as it is; numbers, dates and yes-no whose text is clear; or
        types whose text is not, such as fractions.
    delimiter : str
        Of a CSV; empty for Parquet.
    start : int
        Where the rows of a CSV begin, in bytes once a gz is undone.
    """

    name: str
    path: Path
    kinds: Mapping[str, str]
    delimiter: str = ""
    start: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    def text_of(self, column: str) -> Sql:
        """The SQL of a column's text, '' where nothing stands.

        Raises
        ------
        InvalidData
            When the type has more than one usual text.
        """
        if not self.kinds[column]:
            raise refuse(
                "column-type",
                "A column cannot be counted as it is stored",
                f"{self.name}, column {column}",
                "fractions, times or another type without one clear text",
                "Store it as text or as whole numbers, or build a .npz.",
            )
        name = quoted(column)
        if self.kinds[column] == "plain":
            return sql("coalesce({name}::VARCHAR, '')", name=name)
        return sql("coalesce({name}, '')", name=name)


def read_head(path: Path, name: str, options: BuildOptions, findings: Findings) -> TableHead:
    """Columns of a Parquet file or of a CSV, plain or gz.

    Raises
    ------
    InvalidData
        When it is no table, or one that only the reader of small tables understands.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith(PARQUET_MAGIC):
        return _checked(TableHead(name, path, _parquet_kinds(path, name, findings)))
    if head.startswith(GZIP_MAGIC):
        head = gunzip_head(head, name, HEAD)
    if options.encoding.lower() not in ("", "utf-8", "utf8") or b"\0" in head:
        raise refuse(
            "encoding-large",
            "A table of this size is read in UTF-8 only",
            name,
            "another encoding",
            "Save it in UTF-8, or build a .npz.",
        )
    text = head.removeprefix(codecs.BOM_UTF8)
    looks_like_markup(text, name)
    body = text.lstrip(b"\r\n")
    delimiter = options.delimiter or guess_delimiter(body)
    try:
        columns, start = read_header(body, name, delimiter, findings)
    except UnicodeDecodeError as error:
        raise refuse(
            "encoding-wrong",
            "The header cannot be decoded",
            name,
            "bytes that are not UTF-8",
            "Save it in UTF-8, or build a .npz.",
        ) from error
    start += len(head) - len(body)
    return _checked(TableHead(name, path, dict.fromkeys(columns, "text"), delimiter, start))


def _checked(head: TableHead) -> TableHead:
    """Refuse names that differ in case only: a database takes them for one."""
    if len({column.lower() for column in head.columns}) < len(head.columns):
        raise refuse(
            "column-twice",
            "Two columns have the same name",
            head.name,
            "names that differ in case only",
            "Give every column its own name, or build a .npz.",
        )
    return head


def _parquet_kinds(path: Path, name: str, findings: Findings) -> dict[str, str]:
    try:
        schema = arrow_parquet.read_schema(path)
        flat, _ = flat_columns(schema, name, findings, lists=False)
    except InvalidData:
        raise
    except (pa.ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise parquet_damaged(name, error) from error
    return {column: _kind(schema.field(column).type) for column in flat}


def _kind(stored: Any) -> str:
    types = pa.types
    if types.is_string(stored) or types.is_large_string(stored) or types.is_dictionary(stored):
        return "text"
    plain = types.is_integer(stored) or types.is_boolean(stored) or types.is_date(stored)
    return "plain" if plain else ""
