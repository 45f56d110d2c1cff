"""Tables on the screen and as files that no spreadsheet takes for a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.session.shown_from import file_name, made_for, method, source
from dashboard.store.imported import SOURCE
from dashboard.store.lineage import MADE
from dashboard.text.display import clipped
from swiftcore.runtime.spreadsheet_text import csv_safe

METHOD = "method"  # the column of a saved table that tells of another method than SWIFT
MAX_CELL = 200
MAX_HEIGHT = 460
MAX_ROWS = 12  # more than this scroll
BLOCK = 10_000  # rows written to a file at a time
SEEN = 0.005  # smaller shares round to 0 %
TINT = "rgba(0, 114, 178, "  # the blue of the charts
MAX_DIGITS = 6  # of numbers that have more, none are added


def show_table(table: pd.DataFrame, alt: str, shaded: Iterable[str] = (), **options: Any) -> Any:
    """A table whose texts are shown as typed; options go to ``st.dataframe``.

    Columns of shares that are named in ``shaded`` become percentages on a ground that is the
    darker the larger they are; what rounds to nothing is left blank.
    """
    options.setdefault("hide_index", True)
    options.setdefault("height", "content" if len(table) <= MAX_ROWS else MAX_HEIGHT)
    options["column_config"] = {**same_digits(table), **options.get("column_config", {})}
    names = [clipped(name) for name in shaded]
    drawn = shown(table)
    if names:
        drawn = drawn.style.map(_ground, subset=names).format(_percent, subset=names)
    return st.dataframe(drawn, alt=alt, **options)


def _ground(share: float) -> str:
    """Half transparent, so that text stays readable in both themes."""
    return f"background-color: {TINT}{min(abs(share), 1.0) * 0.6:.2f})" if _rounds(share) else ""


def _percent(share: float) -> str:
    return f"{share:.0%}" if _rounds(share) else ""


def _rounds(share: float) -> bool:
    return bool(abs(share) >= SEEN)


def same_digits(table: pd.DataFrame) -> dict[str, Any]:
    """Column settings that write all numbers of a column with as many digits as one needs."""
    found = {}
    for name, values in table.items():
        if not pd.api.types.is_float_dtype(values):
            continue
        known = values.dropna()
        needed = [digits for digits in range(MAX_DIGITS) if (known.round(digits) == known).all()]
        if needed and needed[0]:
            found[clipped(name)] = st.column_config.NumberColumn(format=f"%.{needed[0]}f")
    return found


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table with clipped, visible texts in cells and headings."""
    cells = {
        column: [clipped(cell, MAX_CELL) if isinstance(cell, str) else cell for cell in values]
        for column, values in table.items()
        if not pd.api.types.is_numeric_dtype(values)
    }
    named = {column: clipped(column) for column in table if isinstance(column, str)}
    return table.assign(**cells).rename(columns=named)


def hundreds(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Shares as percentages, for the screen; see :func:`percents`."""
    return table.assign(**{name: 100 * table[name] for name in columns if name in table})


def percents(columns: Iterable[str], digits: int = 0) -> dict[str, Any]:
    """The column settings that show what :func:`hundreds` gave."""
    kind = st.column_config.NumberColumn(format=f"%.{digits}f%%")
    return dict.fromkeys(columns, kind)


def csv_bytes(table: pd.DataFrame, *, header: bool = True) -> bytes:
    """The whole table as CSV; text that looks like a formula gets a quote before it."""
    safe = table.apply(
        lambda values: values.map(lambda cell: csv_safe(cell) if isinstance(cell, str) else cell)
    )
    safe.columns = [csv_safe(str(column)) for column in table]
    text = safe.to_csv(index=False, lineterminator="\n", header=header)
    return text.encode("utf-8", "surrogatepass")


def with_source(table: pd.DataFrame, said: Mapping[str, str]) -> pd.DataFrame:
    """The table with columns that say how it was found and where it came from.

    What was found here by SWIFT, without the outcome, has none of them.
    """
    marked = table.copy()
    for column, words in said.items():
        if words:
            marked.insert(len(marked.columns), column, words, allow_duplicates=True)
    return marked


def said_of_it() -> dict[str, str]:
    """What a saved table tells of what is drawn now; columns with their words."""
    return {METHOD: method(), MADE: made_for(), SOURCE: source()}


def download_csv(table: pd.DataFrame, name: str, label: str = "Download as CSV") -> None:
    """A button that writes the file only when it is pressed; what was imported says so in it."""
    download_rows(lambda chosen: table.iloc[chosen], len(table), name, label)


def download_rows(
    table_of: Callable[[slice], pd.DataFrame], count: int, name: str, label: str
) -> None:
    """The same of a table that is made for some rows at a time, however many there are.

    Parameters
    ----------
    table_of : callable
        From the rows wanted to their lines.
    count : int
        Rows in all.
    """
    said = said_of_it()

    def written() -> bytes:
        starts = range(0, max(count, 1), BLOCK)
        blocks = (with_source(table_of(slice(first, first + BLOCK)), said) for first in starts)
        return b"".join(csv_bytes(each, header=not n) for n, each in enumerate(blocks))

    st.download_button(
        label,
        written,
        file_name=f"{file_name(name)}.csv",
        mime="text/csv",
        key=f"csv.{name}",
        on_click="ignore",
    )
