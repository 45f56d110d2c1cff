"""Tables as text: CSV in any usual encoding and separator, or Parquet; every cell verbatim."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]

from swiftcore.data.options import MEGABYTE, BuildOptions
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.parquet import MAX_COLUMNS, PARQUET_MAGIC, read_parquet
from swiftcore.data.reading.source import Budget
from swiftcore.data.reading.text_encoding import to_utf8
from swiftcore.errors import InvalidData, refuse, where_list

MAX_LINE = 16 * MEGABYTE
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
END_OF_TABLE = "\x02end of table\x02"


@dataclass(frozen=True, eq=False)
class TextTable:
    """A table whose cells are text, exactly as written in the file."""

    name: str
    columns: tuple[str, ...]
    rows: Any  # a pyarrow Table; pyarrow has no types of its own

    @property
    def n_rows(self) -> int:
        return int(self.rows.num_rows)

    def coded(self, column: str) -> Coded:
        """One column as distinct texts and a code per row; a missing cell is empty text."""
        chunks = _as_text(self.rows.column(self.columns.index(column)))
        if not pa.types.is_dictionary(chunks.type):
            chunks = chunks.dictionary_encode()
        whole = chunks.unify_dictionaries().combine_chunks()
        labels = [label or "" for label in whole.dictionary.to_pylist()]
        codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return Coded.from_codes(column, codes, labels)

    def texts(self, column: str) -> list[str]:
        """One column as a list of strings."""
        coded = self.coded(column)
        return [coded.labels[code] for code in coded.codes]


def read_text_table(
    data: bytes, name: str, options: BuildOptions, budget: Budget, findings: Findings
) -> TextTable:
    """Read one table, whatever its name says, and count what could not be read.

    Raises
    ------
    InvalidData
        When the bytes are no table: empty, binary, damaged, or beyond a limit.
    """
    if data.startswith(PARQUET_MAGIC):
        table = TextTable(name, *read_parquet(data, name, budget, findings))
    else:
        text = to_utf8(data, name, options.encoding, findings)
        table = _read_csv(text, name, options.delimiter, findings)
    findings.tables[name] = table.n_rows
    if table.n_rows == 0:
        raise refuse(
            "table-empty",
            "The table has a header but no rows",
            name,
            "0 rows",
            "Export the table again with its rows.",
        )
    return table


def _read_csv(text: bytes, name: str, delimiter: str, findings: Findings) -> TextTable:
    looks_like_markup(text, name)
    text = text.lstrip(b"\r\n")  # blank lines before the header
    delimiter = delimiter or guess_delimiter(text)
    columns, start = read_header(text, name, delimiter, findings)
    wrong: list[tuple[int, int]] = []

    def skip(row: Any) -> str:
        wrong.append((row.number or 0, row.actual_columns))
        return "skip"

    end_row = delimiter.join([END_OF_TABLE] * len(columns)).encode() + b"\n"
    body = pa.py_buffer(b"".join((memoryview(text)[start:], b"\n", end_row)))
    quoted = b'"' in text
    parsing = arrow_csv.ParseOptions(
        delimiter=delimiter,
        quote_char='"' if quoted else False,
        newlines_in_values=quoted,
        invalid_row_handler=skip,
    )
    try:
        rows = _read_rows(body, columns, parsing)
    except pa.ArrowInvalid as error:
        raise csv_refusal(error, name) from error
    rows = _without_end_row(rows, name, text)
    if wrong:
        count_wrong_rows(wrong, rows.num_rows, len(columns), name, findings)
    return TextTable(name, columns, rows)


def _read_rows(body: Any, columns: tuple[str, ...], parsing: Any) -> Any:
    """Every cell as text, exactly as written; an empty cell is empty text."""
    return arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(
            use_threads=False, block_size=min(MAX_LINE, len(body)), column_names=list(columns)
        ),
        parse_options=parsing,
        convert_options=arrow_csv.ConvertOptions(
            column_types={column: pa.string() for column in columns}, strings_can_be_null=False
        ),
    )


def looks_like_markup(text: bytes, name: str) -> None:
    """Refuse web pages and the like that were saved under a table's name."""
    head = text[:512].lstrip().lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b'{"', b"%pdf", b"{\\rtf")):
        kind = "a web page or XML" if head.startswith(b"<") else "JSON, PDF or rich text"
        raise refuse(
            "not-a-table",
            "The file is no table",
            name,
            kind,
            "Export the data as CSV or Parquet; a login page may have been saved.",
        )


def guess_delimiter(text: bytes) -> str:
    """The separator that cuts the first lines into the most columns, all alike."""
    sample = text[:20_000].decode("utf-8", "ignore").replace("\r\n", "\n").replace("\r", "\n")
    lines = sample.split("\n")[:50]
    lines = lines[:-1] if len(lines) > 2 else lines

    def score(delimiter: str) -> tuple[float, int]:
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            return 0.0, 0
        columns = counts[0] if counts else 0
        if columns < 2:
            return 0.0, 0
        return sum(count == columns for count in counts) / len(counts), columns

    best = max(DELIMITERS, key=score)
    return best if score(best)[1] else ","


def read_header(
    text: bytes, name: str, delimiter: str, findings: Findings
) -> tuple[tuple[str, ...], int]:
    """Column names made unique, and where the rows start."""
    ends = [place for place in (text.find(b"\n"), text.find(b"\r")) if place >= 0]
    end = min(ends) if ends else len(text)
    start = end + (2 if text[end : end + 2] == b"\r\n" else 1)
    if end > MEGABYTE:
        raise refuse(
            "header-long",
            "The first line is far too long for a header",
            f"{name}, line 1",
            f"{end:,} bytes",
            "Check that this is a table.",
        )
    names = _split_header(text[:end], f"{name}, line 1", delimiter)
    if len(names) > MAX_COLUMNS:
        raise refuse(
            "too-many-columns",
            "The table has too many columns",
            f"{name}, line 1",
            f"{len(names):,} columns",
            "Give a long table: one event per row.",
        )
    return unique_names(names, name, findings), start


def _split_header(line: bytes, where: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.decode("utf-8")], delimiter=delimiter), [])
    except csv.Error as error:
        raise refuse(
            "header-broken",
            "The header cannot be read",
            where,
            str(error),
            "Check the quotes in the first line.",
        ) from error


def unique_names(names: list[str], table: str, findings: Findings) -> tuple[str, ...]:
    """Name what has no name and number what is named twice; both are noted."""
    unique: list[str] = []
    for position, raw in enumerate(names):
        plain = raw.strip() or f"column {position + 1}"
        label, again = plain, 2
        while label in unique:
            label, again = f"{plain} ({again})", again + 1
        if label != raw.strip():
            why = "its name stands twice" if raw.strip() else "it has no name"
            findings.note(f"In {table}, column {position + 1} is called '{label}' here: {why}.")
        unique.append(label)
    return tuple(unique)


def _without_end_row(rows: Any, name: str, text: bytes) -> Any:
    """Take off the row we added ourselves; if a quote swallowed it, say where it opened."""
    if rows.num_rows and rows.column(0)[rows.num_rows - 1].as_py() == END_OF_TABLE:
        return rows.slice(0, rows.num_rows - 1)
    last = [column[rows.num_rows - 1].as_py() for column in rows.columns] if rows.num_rows else []
    swallowed = max((cell.count("\n") for cell in last), default=0)
    line = max(1, text.count(b"\n") + 3 - swallowed)
    raise refuse(
        "quote-open",
        "A quote is opened and never closed",
        f"{name}, about line {line}",
        f"{max(swallowed - 1, 0):,} lines swallowed by one cell",
        "Close or remove the quote on that line.",
    )


def count_wrong_rows(
    wrong: list[tuple[int, int]], kept: int, columns: int, name: str, findings: Findings
) -> None:
    """Count rows that do not fit the header; refuse the table when they are most of it."""
    lines = where_list([number + 1 for number, _ in wrong])
    if len(wrong) > kept:
        findings.problem(
            "rows-uneven",
            "Most rows do not fit the header",
            f"{name}, rows {lines}",
            f"{len(wrong):,} rows without exactly {columns} cells, {kept:,} with",
            "Check the separator and the first line.",
        )
        findings.stop_if_problems()
    findings.leave_out(f"rows without exactly {columns} cells (rows {lines})", len(wrong), name)


def csv_refusal(error: Exception, name: str) -> InvalidData:
    """What pyarrow says of a table that it cannot read, in our words."""
    if "straddl" in str(error):
        return refuse(
            "line-long",
            "One row is far too long",
            name,
            f"a row of more than {MAX_LINE // MEGABYTE} MB",
            "Look for a missing line break or an open quote.",
        )
    return refuse(
        "csv-damaged",
        "The table cannot be read",
        name,
        str(error).splitlines()[0],
        "Export the table again as CSV in UTF-8.",
    )


def _as_text(column: Any) -> Any:
    """Numbers and dates as the text a CSV would hold; whole floats lose their '.0'."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
        return column
    if pa.types.is_floating(kind):
        numbers = column.to_numpy()
        missing = np.isnan(numbers)
        known = numbers[~missing]
        if (known == np.floor(known)).all() and np.abs(known).max(initial=0) < 2**53:
            whole = np.where(missing, 0, numbers).astype(np.int64)
            column = pa.chunked_array([pa.array(whole, mask=missing)])
    return column.cast(pa.string())
