"""A CSV of any size as Parquet: by the same parser as small ones, a block at a time."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]
import pyarrow.parquet as arrow_parquet  # type: ignore[import-untyped]

from swiftcore.data.out_of_core.table_head import TableHead
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text import END_OF_TABLE, MAX_LINE, count_wrong_rows, csv_refusal
from swiftcore.data.reading.unpacking import GZIP_MAGIC
from swiftcore.errors import refuse


def write_as_parquet(
    head: TableHead, columns: Sequence[str], out: Path, findings: Findings
) -> None:
    """Some columns of a CSV as Parquet, every cell verbatim; rows that do not fit are counted.

    Raises
    ------
    InvalidData
        When the CSV is damaged, not in UTF-8, or a quote is never closed.
    """
    wrong: list[tuple[int, int]] = []
    kept = 0
    schema = pa.schema([(column, pa.string()) for column in columns])
    try:
        with _rows_of(head) as rows, arrow_parquet.ParquetWriter(out, schema) as writer:
            for batch in _without_end(_batches(rows, head, columns, wrong), head):
                writer.write_batch(batch)
                kept += batch.num_rows
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise csv_refusal(error, head.name) from error
    if wrong:
        count_wrong_rows(wrong, kept, len(head.columns), head.name, findings)


def _batches(
    rows: IO[bytes], head: TableHead, columns: Sequence[str], wrong: list[tuple[int, int]]
) -> Iterator[Any]:
    def skip(row: Any) -> str:
        wrong.append((row.number or 0, row.actual_columns))
        return "skip"

    wanted = list(dict.fromkeys([*columns, head.columns[0]]))  # the first one shows the end
    with arrow_csv.open_csv(
        pa.PythonFile(rows, "r"),
        read_options=arrow_csv.ReadOptions(
            use_threads=False, block_size=MAX_LINE, column_names=list(head.columns)
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=head.delimiter, newlines_in_values=True, invalid_row_handler=skip
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.string()),
            include_columns=wanted,
            strings_can_be_null=False,
        ),
    ) as reader:
        for batch in reader:
            yield batch, len(columns)


def _without_end(batches: Iterator[Any], head: TableHead) -> Iterator[Any]:
    """All rows but the last, which is our own; if a quote swallowed it, refuse the table."""
    last, width = None, 0
    for batch, width in batches:
        if last is not None and batch.num_rows:
            yield last.select(range(width))
        if batch.num_rows:
            last = batch
    place = last.schema.get_field_index(head.columns[0]) if last is not None else 0
    if last is None or last.column(place)[last.num_rows - 1].as_py() != END_OF_TABLE:
        raise refuse(
            "quote-open",
            "A quote is opened and never closed",
            head.name,
            "a cell that reaches to the end of the table",
            "Close or remove the quote.",
        )
    yield last.slice(0, last.num_rows - 1).select(range(width))


def _rows_of(head: TableHead) -> IO[bytes]:
    """The rows of a CSV and one more of our own, by which its end is known."""
    file: IO[bytes] = head.path.open("rb")
    if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
        file.close()
        file = cast(IO[bytes], gzip.open(head.path))  # noqa: SIM115 - closed by its reader
    file.seek(head.start)
    end = head.delimiter.join([END_OF_TABLE] * len(head.columns))
    return io.BufferedReader(_Ended(file, head.name, f"\n{end}\n".encode()))


class _Ended(io.RawIOBase):
    """A file, then some bytes more; a NUL byte is refused where it stands."""

    def __init__(self, file: IO[bytes], name: str, end: bytes) -> None:
        self._file, self._name, self._end = file, name, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(len(buffer))
        if b"\0" in piece:
            raise refuse(
                "nul-byte",
                "The text holds a NUL byte",
                self._name,
                "a NUL byte",
                "The file is damaged or not a text table; export it again.",
            )
        if not piece:
            piece, self._end = self._end[: len(buffer)], self._end[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()
