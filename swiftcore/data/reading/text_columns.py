"""Rows of numbers, dates and texts become columns of text, batch by batch under the budget."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa  # type: ignore[import-untyped]

from swiftcore.data.reading.source import Budget
from swiftcore.errors import InvalidData, refuse

BATCH = 20_000
MAX_CELL = 1_000_000  # characters; longer is no entry of a table
Row = TypeVar("Row")
EXACT = 2**53  # from here on a float no longer tells whole numbers apart


def cell_text(value: Any) -> str | None:
    """What a CSV would hold: dates as ISO text, whole numbers without '.0', None for nothing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        whole = value.is_integer() and abs(value) < EXACT
        return str(int(value)) if whole else f"{value:.15g}"  # as sheets show it
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def text_columns(
    rows: Iterable[Sequence[Any]],
    columns: Sequence[str],
    name: str,
    budget: Budget,
    as_text: Callable[[Any], str | None] = cell_text,
) -> Any:
    """A pyarrow table of text columns from rows of values.

    Raises
    ------
    InvalidData
        When the rows outgrow the budget, or one cell is no entry of a table by its length.
    """
    schema = pa.schema([(column, pa.string()) for column in columns])
    batches = []
    for batch in in_batches(rows):
        texts = [[as_text(value) for value in column] for column in zip(*batch, strict=True)]
        for column in texts:
            _check_lengths(column, name)
        arrays = [_array(column, name) for column in texts]
        made = pa.RecordBatch.from_arrays(arrays, schema=schema)
        budget.spend(made.nbytes, name)
        batches.append(made)
    return pa.Table.from_batches(batches, schema)


def in_batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Lists of so many rows that what is made of them stays small."""
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _array(texts: Sequence[str | None], name: str) -> Any:
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise refuse(
            "text-damaged",
            "A text holds half a character",
            name,
            repr(error.object[error.start : error.end])[:60],
            "Export the data again in UTF-8.",
        ) from error


def _check_lengths(column: Sequence[str | None], name: str) -> None:
    longest = max((len(text) for text in column if text), default=0)
    if longest > MAX_CELL:
        raise cell_too_long(name, f"{longest:,} characters")


def cell_too_long(name: str, found: str) -> InvalidData:
    """The refusal of a cell that is no entry of a table by its length."""
    return refuse(
        "cell-long",
        "One cell is far too long",
        name,
        found,
        "Leave that column out of the table.",
    )
