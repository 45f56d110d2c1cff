"""Parquet tables: flat columns and plain lists, decoded batch by batch under the budget."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as arrow_parquet  # type: ignore[import-untyped]

from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget
from swiftcore.data.reading.unpacking import check_ratio
from swiftcore.errors import InvalidData, refuse

MAX_COLUMNS = 2_000
PARQUET_MAGIC = b"PAR1"
MIN_CELL = 4  # bytes of a cell in memory, however briefly the file says that all are alike


def read_parquet(
    data: bytes, name: str, budget: Budget, findings: Findings
) -> tuple[tuple[str, ...], Any]:
    """Column names and rows (a pyarrow Table), counting decoded bytes, not trusting metadata.

    Text stays dictionary-encoded, so that one long text repeated a million times is held once.

    Raises
    ------
    InvalidData
        When the file is damaged, encrypted, nested throughout, too wide or too large.
    """
    try:
        rows = _rows(data, name, budget, findings)
    except InvalidData:
        raise
    except (pa.ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise parquet_damaged(name, error) from error
    return tuple(rows.column_names), rows


def parquet_damaged(name: str, error: Exception) -> InvalidData:
    """The refusal of a Parquet file that cannot be read."""
    return refuse(
        "parquet-damaged",
        "The Parquet file cannot be read",
        name,
        (str(error).splitlines() or ["an error"])[0][:200],
        "Write the file again, without encryption.",
    )


def _rows(data: bytes, name: str, budget: Budget, findings: Findings) -> Any:
    file = arrow_parquet.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
    budget.check_announced(_announced(file), name)
    rows = file.metadata.num_rows * len(file.schema_arrow.names) * MIN_CELL
    check_ratio(max(_announced(file), rows), len(data), name)
    flat, texts = flat_columns(file.schema_arrow, name, findings)
    paths = [file.schema.column(at).path for at in range(len(file.schema))]
    texts = [one for one in paths if one in texts or one.rsplit(".", 2)[0] in texts]
    file = arrow_parquet.ParquetFile(
        io.BytesIO(data), page_checksum_verification=True, read_dictionary=texts
    )
    batches = []
    for batch in file.iter_batches(batch_size=65_536, columns=flat, use_threads=False):
        budget.spend(batch.nbytes, name)
        batches.append(_with_cells(pa.Table.from_batches([batch]), name, budget))
    if batches:
        rows = pa.concat_tables(batches)
    else:
        rows = _with_cells(file.schema_arrow.empty_table().select(flat), name, budget)
    rows.validate(full=True)
    return rows


def _with_cells(rows: Any, name: str, budget: Budget) -> Any:
    """The rows with every list of plain values as one cell, with bars between them."""
    for place, field in enumerate(rows.schema):
        if not pa.types.is_list(field.type):
            continue
        cells = []
        for chunk in rows.column(place).chunks:
            for values in chunk:
                some = [] if values.values is None else values.values.to_pylist()
                cells.append("|".join(str(one) for one in some if one is not None))
                budget.spend(len(cells[-1]), name)
        rows = rows.set_column(place, field.name, pa.array(cells, pa.string()))
    return rows


def flat_columns(
    schema: Any, name: str, findings: Findings, lists: bool = True
) -> tuple[list[str], list[str]]:
    """Columns that can be read at all, perhaps lists among them, and those that hold text."""
    if len(schema.names) > MAX_COLUMNS:
        raise refuse(
            "too-many-columns",
            "The table has too many columns",
            name,
            f"{len(schema.names):,} columns",
            "Give a long table: one event per row.",
        )
    kinds = {field.name: _inside(field.type) if lists else field.type for field in schema}
    flat = [field.name for field in schema if _is_flat(kinds[field.name])]
    texts = [field.name for field in schema if pa.types.is_string(_inside(field.type))]
    if len(flat) < len(schema.names):
        findings.note(
            f"{name}: {len(schema.names) - len(flat)} columns that are not plain "
            "text, numbers or dates, or lists of them, were not read."
        )
    _check_names(flat, len(schema.names), name)
    return flat, texts


def _check_names(flat: list[str], total: int, name: str) -> None:
    """There must be columns that can be read, each with a name of its own."""
    if not flat:
        raise refuse(
            "parquet-nested",
            "The table has no plain columns",
            name,
            f"{total} nested or binary columns",
            "Write plain text, number and date columns.",
        )
    if len(set(flat)) < len(flat):
        raise refuse(
            "column-twice",
            "Two columns have the same name",
            name,
            "a repeated name",
            "Give every column its own name.",
        )


def _announced(file: Any) -> int:
    groups = range(file.metadata.num_row_groups)
    return sum(int(file.metadata.row_group(group).total_byte_size) for group in groups)


def _inside(kind: Any) -> Any:
    """The type of the entries of a list; any other as it is."""
    return kind.value_type if pa.types.is_list(kind) else kind


def _is_flat(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_decimal(kind)
        or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))
    )
