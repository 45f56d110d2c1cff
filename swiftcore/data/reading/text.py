"""Tables as text: CSV in any usual encoding and separator, or Parquet; every cell verbatim."""

from __future__ import annotations

import csv
import re
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]

from swiftcore.data.options import MEGABYTE, BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.header import LOOKED_AT, find_header, usual_width
from swiftcore.data.reading.parquet import MAX_COLUMNS, PARQUET_MAGIC, read_parquet
from swiftcore.data.reading.source import Budget
from swiftcore.data.reading.text_encoding import to_utf8
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import InvalidData, refuse, where_list

MAX_LINE = 16 * MEGABYTE
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
END_OF_TABLE = "\x02end of table\x02"


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
        table = _read_csv(text, name, options, findings)
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


def _read_csv(text: bytes, name: str, options: BuildOptions, findings: Findings) -> TextTable:
    looks_like_markup(text, name)
    text = text.lstrip(b"\r\n")  # blank lines before the header
    delimiter = options.delimiter or guess_delimiter(text)
    columns, start = read_header(text, name, delimiter, findings, options.header)
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
    """The separator that cuts the first lines into the most columns, all alike.

    Lines above the header and below the rows are not counted.
    """
    sample = text[:20_000].decode("utf-8", "ignore").replace("\r\n", "\n").replace("\r", "\n")
    lines = sample.split("\n")[:50]
    lines = lines[:-1] if len(lines) > 2 else lines

    def score(delimiter: str) -> tuple[float, int]:
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            return 0.0, 0
        columns = usual_width(rows)
        if columns < 2:
            return 0.0, 0
        alike = [place for place, row in enumerate(rows) if len(row) == columns]
        between = alike[-1] - alike[0] + 1
        few = 0.5 if len(alike) * 2 < len(rows) else 1.0  # most lines must be rows
        return few * len(alike) / between, columns

    best = max(DELIMITERS, key=score)
    return best if score(best)[1] else ","


def read_header(
    text: bytes, name: str, delimiter: str, findings: Findings, setting: str = ""
) -> tuple[tuple[str, ...], int]:
    """Column names made unique, and where the rows start, in bytes."""
    lines = _first_lines(text)
    if len(lines[0]) > MEGABYTE:
        raise refuse(
            "header-long",
            "The first line is far too long for a header",
            f"{name}, line 1",
            f"{len(lines[0]):,} bytes",
            "Check that this is a table.",
        )
    rows, ends = _cut(lines, name, delimiter)
    header = find_header(rows, name, setting)
    if len(header.names) > MAX_COLUMNS:
        raise refuse(
            "too-many-columns",
            "The table has too many columns",
            f"{name}, line 1",
            f"{len(header.names):,} columns",
            "Give a long table: one event per row.",
        )
    header.tell(name, findings)
    quiet = findings if header.lines else Findings()
    start = ends[header.first_row - 1] if header.first_row else 0
    return unique_names(list(header.names), name, quiet), start


def _first_lines(text: bytes) -> list[bytes]:
    """The first lines with their ends; a line that is cut off is left out unless it is the only."""
    head = text[: 2 * MEGABYTE]
    lines = head.splitlines(keepends=True) if b"\n" in head else re.split(rb"(?<=\r)", head)
    cut = len(head) < len(text) and len(lines) > 1
    return (lines[:-1] if cut else lines)[:LOOKED_AT] or [b""]


def _cut(lines: list[bytes], name: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The first lines as rows of cells, and where each ends, in bytes."""
    sizes = [len(line) for line in lines]
    texts = [line.decode("utf-8") for line in lines]
    reader = csv.reader(texts, delimiter=delimiter)
    rows, ends = [], []
    try:
        for row in reader:
            rows.append(row)
            ends.append(sum(sizes[: reader.line_num]))
    except csv.Error as error:
        if not rows:
            raise refuse(
                "header-broken",
                "The header cannot be read",
                f"{name}, line 1",
                str(error),
                "Check the quotes in the first line.",
            ) from error
    return rows, ends


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
