"""The table that every reader hands to the builders: named columns of text, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Preview

PREVIEW_ROWS, MAX_CELL = 8, 80
KEPT = 4  # columns: a long table has hardly more, and is asked for each many times


@dataclass(frozen=True, eq=False)
class TextTable:
    """A table whose cells are text, exactly as written in the file.

    Attributes
    ----------
    name : str
        What people call it: the file, or "file, sheet 2".
    columns : tuple of str
        Distinct names, none of them empty.
    rows : pyarrow.Table
        One column per name and in that order, of text (numbers, dates and yes-no are turned into
        text when a column is read); null and empty text both mean that nothing stands there.
    """

    name: str
    columns: tuple[str, ...]
    rows: Any  # pyarrow has no types of its own
    _kept: dict[str, Coded] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_rows(self) -> int:
        return int(self.rows.num_rows)

    def head(self, rows: int) -> TextTable:
        """The first rows."""
        return TextTable(self.name, self.columns, self.rows.slice(0, rows))

    def as_text(self) -> Any:
        """The rows with every column as plain text, which tables of one kind have in common."""
        whole = [
            _as_text(self.rows.column(at)).cast(pa.string()) for at in range(len(self.columns))
        ]
        return pa.table(whole, names=list(self.columns))

    def coded(self, column: str) -> Coded:
        """One column as distinct texts and a code per row; a missing cell is empty text."""
        if column not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[column] = self._encoded(column)
        return self._kept[column]

    def _encoded(self, column: str) -> Coded:
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


def preview(table: TextTable) -> Preview:
    """The first rows as a person would look at them."""
    head = table.head(PREVIEW_ROWS)
    texts = [[cell[:MAX_CELL] for cell in head.texts(name)] for name in table.columns]
    return Preview(table.name, table.columns, tuple(zip(*texts, strict=True)))
