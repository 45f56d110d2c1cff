"""A column of text as distinct labels and one code per row, and what can be read from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.data.reading.findings import Findings
from swiftcore.errors import where_list

MAX_NAME = 10_000
DAY_FIRST = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y")
MONTH_FIRST = ("%m/%d/%Y", "%m-%d-%Y")
TRUE_WORDS = frozenset({"1", "true", "yes", "y", "t", "1.0"})
FALSE_WORDS = frozenset({"0", "false", "no", "n", "f", "0.0"})


@dataclass(frozen=True, eq=False)
class Coded:
    """Text kept once per distinct label; empty text means missing.

    Attributes
    ----------
    name : str
        Of the column.
    codes : ndarray of int64, (rows,)
        Which label each row holds.
    labels : tuple of str
        Distinct texts, verbatim.
    """

    name: str
    codes: NDArray[np.int64]
    labels: tuple[str, ...]

    @classmethod
    def from_codes(cls, name: str, codes: NDArray[np.int64], labels: Sequence[str]) -> Coded:
        """Codes that may hold -1 (missing) and labels that may repeat."""
        if (codes < 0).any():
            labels = [*labels, ""]
            codes = np.where(codes < 0, len(labels) - 1, codes)
        place: dict[str, int] = {}
        new = np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int64)
        if len(place) < len(labels):
            codes = new[codes]
        return cls(name, np.asarray(codes, dtype=np.int64), tuple(place))

    @classmethod
    def from_texts(cls, name: str, texts: Sequence[str]) -> Coded:
        """One text per row."""
        place: dict[str, int] = {}
        codes = np.fromiter(
            (place.setdefault(text, len(place)) for text in texts), np.int64, len(texts)
        )
        return cls(name, codes, tuple(place))

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[Any]) -> Coded:
        """The chosen rows, by position or by mask; labels stay as they are."""
        return Coded(self.name, self.codes[rows], self.labels)

    def relabel(self, labels: Sequence[str], name: str = "") -> Coded:
        """Other texts for the labels; those that become alike become one."""
        return Coded.from_codes(name or self.name, self.codes, labels)

    def marked(self, labels: Sequence[bool]) -> NDArray[np.bool_]:
        """For each row, whether its label is marked."""
        if not self.labels:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(labels, dtype=bool)[self.codes]

    def missing(self) -> NDArray[np.bool_]:
        """Rows whose text is empty or blank."""
        return self.marked([not label.strip() for label in self.labels])

    def unusable(self) -> NDArray[np.bool_]:
        """Rows whose text holds a line break or is absurdly long: a stray quote, most likely."""
        return self.marked(
            [len(label) > MAX_NAME or "\n" in label or "\r" in label for label in self.labels]
        )


def pair(first: Coded, second: Coded, name: str) -> tuple[Coded, list[tuple[str, str]]]:
    """Two columns as one; each distinct pair is a label of its own.

    Returns
    -------
    Coded
        With placeholder labels "0", "1", ...; relabel it.
    list of (str, str)
        The two texts behind each label.
    """
    width = max(len(second.labels), 1)
    keys, codes = np.unique(first.codes * width + second.codes, return_inverse=True)
    pairs = [(first.labels[key // width], second.labels[key % width]) for key in keys.tolist()]
    return Coded(name, codes.astype(np.int64), tuple(str(k) for k in range(len(keys)))), pairs


def numbers(column: Coded, table: str, findings: Findings) -> NDArray[np.float64]:
    """Numbers of 0 or more; an empty cell is NaN, anything else is a problem with its rows."""
    parsed = np.array([number_of(label) for label in column.labels], dtype=np.float64)
    values = parsed[column.codes] if len(parsed) else np.zeros(0)
    _report_unusable(column, parsed, table, findings)
    sound = np.isfinite(values)
    if (values[sound] != np.floor(values[sound])).any():
        findings.note(f"Column {column.name} holds fractions; they are used as they are.")
    if sound.any() and values[sound].max() > 1e12:
        findings.note(
            f"Column {column.name} holds values up to {values[sound].max():.0e}; "
            "log-count may serve better."
        )
    return values


def _report_unusable(
    column: Coded, parsed: NDArray[np.float64], table: str, findings: Findings
) -> None:
    """A problem for each sort of label that is no number of 0 or more."""
    blank = np.array([not label.strip() for label in column.labels], dtype=bool)
    no_number = "Write plain numbers, or choose another value column."
    for code, bad, cure in (
        ("value-not-a-number", np.isnan(parsed) & ~blank, no_number),
        ("value-infinite", np.isinf(parsed), "Replace it by a finite value."),
        ("value-negative", parsed < 0, "SWIFT needs values of 0 or more."),
    ):
        if bad.any():
            rows = np.flatnonzero(bad[column.codes]) + 1
            sample = column.labels[int(np.flatnonzero(bad)[0])][:40]
            findings.problem(
                code,
                "A value cannot be used",
                f"{table}, column {column.name}, rows {where_list(rows)}",
                f"'{sample}'",
                cure,
            )


def number_of(label: str) -> float:
    """The number a text holds, with a point or a comma; NaN when it holds none."""
    text = label.strip()
    if not text or not text.isascii() or "_" in text:
        return float("nan")
    whole, comma, fraction = text.partition(",")
    if comma and "." not in text and len(fraction) != 3:  # 1,000 may mean a thousand
        text = f"{whole}.{fraction}"
    try:
        return float(text)
    except ValueError:
        return float("nan")


def days(column: Coded, table: str, date_order: str, findings: Findings) -> NDArray[np.float64]:
    """Days since 1970 (with fractions); NaN where there is no date that can be read."""
    texts = pd.Series(list(column.labels), dtype="str").str.strip()
    parsed = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    filled = (texts != "").to_numpy()
    if (filled & parsed.isna().to_numpy()).any():
        parsed = parsed.fillna(_local_dates(texts, column, table, date_order, findings))
    unknown = filled & parsed.isna().to_numpy()
    if unknown.any():
        count = int(unknown[column.codes].sum())
        findings.note(
            f"{table}: {count:,} dates in column {column.name} cannot be read; "
            "these events count as undated."
        )
    since = (parsed - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    per_label = since.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(per_label[column.codes] if len(per_label) else np.zeros(0), np.float64)


def _local_dates(
    texts: pd.Series[str], column: Coded, table: str, date_order: str, findings: Findings
) -> pd.Series[pd.Timestamp]:
    """Dates like 31.12.2020 by the one style that reads most of them."""
    orders = {"day first": DAY_FIRST, "month first": MONTH_FIRST}
    heads = texts.str.split().str[0]
    read = {
        style: pd.to_datetime(heads, format=style, errors="coerce", utc=True)
        for style in orders.get(date_order, DAY_FIRST + MONTH_FIRST)
    }
    counts = {style: int(parsed.notna().sum()) for style, parsed in read.items()}
    best = max(counts, key=lambda style: counts[style])
    rivals = [style for style in counts if counts[style] == counts[best] > 0]
    if len(rivals) > 1:
        sample = heads[read[best].notna()].iloc[0]
        findings.problem(
            "date-order",
            "Dates can be read in two ways",
            f"{table}, column {column.name}",
            f"'{sample}'",
            "Set the date order: day first or month first.",
        )
    return read[best]
