"""What a spreadsheet adds to a table: headers again, total lines below, cells merged over rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from swiftcore.data.building.layouts.profile import is_blank
from swiftcore.data.reading.coded import Coded, pair
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.header import is_value, shape
from swiftcore.data.reading.text_table import TextTable

_TOTAL = re.compile(r"\b(total|summe|gesamt|insgesamt|sum|somme|suma|totale|n\s*=)", re.IGNORECASE)
LOOKED_AT, LAST = 500, 3
MIN_ROWS = 8
MERGED = 0.1  # of the rows without an id, from which on cells may have been merged


def without_repeated_headers(table: TextTable, findings: Findings) -> TextTable:
    """The table without lines that say the header again, as exports page by page have them."""
    again = None
    for name in table.columns:
        column = table.rows.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not pa.types.is_string(column.type):
            return table
        here = pc.equal(column, name)
        again = here if again is None else pc.and_(again, here)
        if not pc.any(again).as_py():
            return table
    if again is None:
        return table
    again = pc.fill_null(again, False)
    findings.leave_out("lines that repeat the header", pc.sum(again).as_py(), table.name)
    return TextTable(table.name, table.columns, table.rows.filter(pc.invert(again)))


def with_joined_id(table: TextTable, columns: Sequence[str]) -> TextTable:
    """The table with a further column of ids, made of several where one alone says not whose."""
    first, *others = (table.coded(name) for name in columns)
    for other in others:
        both, pairs = pair(first, other, f"{first.name} / {other.name}")
        whole = [f"{one} / {more}" if one.strip() and more.strip() else "" for one, more in pairs]
        first = both.relabel(whole)
    texts = pa.DictionaryArray.from_arrays(pa.array(first.codes), pa.array(first.labels))
    rows = table.rows.append_column(first.name, texts)
    return TextTable(table.name, (*table.columns, first.name), rows)


def without_total_lines(table: TextTable, findings: Findings) -> TextTable:
    """The table without lines at its end that add up the others, which are counted."""
    if table.n_rows < MIN_ROWS:
        return table
    start = max(0, table.n_rows - LOOKED_AT)
    part = TextTable(table.name, table.columns, table.rows.slice(start))
    rows = list(zip(*(part.texts(name) for name in table.columns), strict=True))
    lost = 0
    while lost < LAST and _is_total(rows[: -lost - 1], rows[-lost - 1]):
        lost += 1
    findings.leave_out("lines below the table (totals, notes)", lost, table.name)
    return table.head(table.n_rows - lost) if lost else table


def _is_total(above: Sequence[Sequence[str]], line: Sequence[str]) -> bool:
    """Whether a line sums up those above: its first cell is unlike theirs, the others are sums."""
    word = next((at for at, cell in enumerate(line) if not is_blank(cell)), -1)
    if word >= 0 and _TOTAL.match(line[word].strip()):
        return all(row[word] != line[word] for row in above)
    filled = np.array([[not is_blank(cell) for cell in row] for row in above])
    full = np.flatnonzero(filled.mean(axis=0) >= 0.9)
    if not len(full):
        return False
    first = int(full[0])
    forms = {shape(row[first]) for row in above}
    head = line[first]
    if is_blank(head) or shape(head) in forms:
        return False
    others = [at for at, cell in enumerate(line) if at != first and not is_blank(cell)]
    numbers = [at for at in others if is_value(line[at])]
    fewer = len(others) < np.median(filled.sum(axis=1)) - 1
    return fewer and len(numbers) == len(others)


def with_merged_cells(table: TextTable, row: str, findings: Findings) -> TextTable:
    """The table with ids written on every row, where a sheet wrote each once, above its rows.

    Cells were merged if no id comes back: where ids repeat, a blank one is simply missing.
    """
    ids = table.coded(row)
    blank = ids.missing()
    filled = int((~blank).sum())
    once = len(np.unique(ids.codes[~blank])) == filled
    if blank.mean() < MERGED or not once or blank[0] or filled < 2:
        return table
    above = np.maximum.accumulate(np.where(blank, 0, np.arange(len(blank))))
    names, rows = [], table.rows
    for place, name in enumerate(table.columns):
        column = table.coded(name)
        if not column.missing()[blank].all():
            continue
        names.append(name)
        rows = rows.set_column(place, name, pa.array(_texts(column, above)))
    findings.note(
        f"{table.name}: {int(blank.sum()):,} rows without {row} belong to the row above them "
        f"(merged cells); {', '.join(names[:6])} were written on every row."
    )
    return TextTable(table.name, table.columns, rows)


def _texts(column: Coded, rows: NDArray[np.int64]) -> list[str]:
    return [column.labels[code] for code in column.codes[rows]]
