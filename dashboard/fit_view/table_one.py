"""Who carries a phenotype: carriers against all others, covariate by covariate.

Small counts are hidden as everywhere. The numbers of carriers and of others, and how often each
value occurs over all rows, count as known to the reader: what is hidden follows from none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.fit_view.card_room import lines_of
from dashboard.privacy.small_counts import HIDDEN, hidden, hide_table
from swiftcore.data.side_tables import Covariate, CovariateKind

MAX_LISTED = 8  # values of one covariate; the rarest are put together
YES, NO = {"1", "yes", "true", "y"}, {"0", "no", "false", "n"}
YEARS_APART = 3  # quartiles of a date that far apart need no months
UNKNOWN, OTHER = "not known", "all others"
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Spread:
    """Median and quartiles; of dates, days since 1970."""

    median: float
    low: float
    high: float

    def words(self, kind: CovariateKind) -> str:
        """62 (51 to 70), all with the same digits.

        Dates are told by the year, or by the month if they are near each other.
        """
        parts = (self.median, self.low, self.high)
        if kind == "date":
            unit = "Y" if self.high - self.low > 365 * YEARS_APART else "M"
            middle, low, high = (
                str(np.datetime64(round(part), "D").astype(f"datetime64[{unit}]")) for part in parts
            )
        else:
            largest = max(map(abs, parts))
            whole = largest >= 100 or all(part == round(part) for part in parts)
            digits = 0 if whole else 1 if largest >= 10 else 2
            middle, low, high = (f"{part:,.{digits}f}" for part in parts)
        return f"{middle} ({low} to {high})"


@dataclass(frozen=True)
class NumberLine:
    """A number or date of carriers and of others; None where too few rows are known."""

    name: str
    kind: CovariateKind
    carriers: Spread | None
    others: Spread | None

    @property
    def height(self) -> int:
        """Lines of a card that it takes."""
        sides = (self.carriers, self.others)
        return lines_of(self.name, *(side.words(self.kind) for side in sides if side))


@dataclass(frozen=True)
class ShareLine:
    """One value of a text: the share of carriers and of others with it; None if hidden."""

    value: str
    carriers: float | None
    others: float | None


@dataclass(frozen=True)
class TextLine:
    """A covariate with words for values, the most frequent first; no lines when all is hidden."""

    name: str
    values: tuple[ShareLine, ...]

    @property
    def told(self) -> tuple[tuple[str, ShareLine], ...]:
        """Each line with what it is called; of yes and no the yes says it all."""
        known = {one.value.casefold(): one for one in self.values}
        yes = [known[word] for word in YES & known.keys()]
        if len(known) == 2 and yes and NO & known.keys():
            return ((self.name, yes[0]),)
        return tuple((f"{self.name}: {one.value}", one) for one in self.values)

    @property
    def height(self) -> int:
        """Lines of a card that it takes."""
        return sum(lines_of(name) for name, _ in self.told) or 1


Line = NumberLine | TextLine


@dataclass(frozen=True)
class TableOne:
    """What is known of carriers and of others.

    Attributes
    ----------
    carriers, others : str
        How many there are, fit to be shown.
    lines : tuple of NumberLine or TextLine
        One per covariate; none at all when carriers or others are too few.
    listed : int
        How many of them the card has room for.
    """

    carriers: str
    others: str
    lines: tuple[Line, ...]
    listed: int = 0

    @property
    def first(self) -> tuple[Line, ...]:
        """Those that the card has room for."""
        return self.lines[: self.listed]

    @property
    def more(self) -> tuple[Line, ...]:
        """The others, to be unfolded."""
        return self.lines[self.listed :]


def table_one(carries: Flags, covariates: Sequence[Covariate], limit: int) -> TableOne:
    """Carriers against all others in every covariate.

    Parameters
    ----------
    carries : ndarray of bool, (rows,)
    covariates : sequence of Covariate
        From ``dataset.side.covariates``.
    limit : int
        The smallest count that may be shown; 0 shows all.
    """
    rows, inside = len(carries), int(carries.sum())
    shown = [hidden(count, limit, rows) for count in (inside, rows - inside)]
    if not _both_shown(carries, limit):
        return TableOne(shown[0], shown[1], ())
    lines = tuple(
        _text_line(carries, one, limit) if one.kind == "text" else _number_line(carries, one, limit)
        for one in covariates
    )
    return TableOne(shown[0], shown[1], lines)


def _both_shown(carries: Flags, limit: int) -> bool:
    inside = int(carries.sum())
    return inside >= max(1, limit) and len(carries) - inside >= max(1, limit)


def _number_line(carries: Flags, one: Covariate, limit: int) -> NumberLine:
    if one.kind == "date":
        days = one.values.astype("datetime64[D]")
        values = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    else:
        values = one.values.astype(np.float64)
    return NumberLine(
        one.name, one.kind, _spread(values[carries], limit), _spread(values[~carries], limit)
    )


def _spread(values: NDArray[np.float64], limit: int) -> Spread | None:
    known = values[~np.isnan(values)]
    if len(known) < max(1, limit):
        return None
    low, median, high = np.quantile(known, (0.25, 0.5, 0.75))
    return Spread(float(median), float(low), float(high))


def _text_line(carries: Flags, one: Covariate, limit: int) -> TextLine:
    words = _pooled(np.where(one.values == "", UNKNOWN, one.values).astype(str), limit)
    counts = _counted(carries, words)
    shown = _shown_values(counts, limit)
    totals = counts.sum(axis=1)
    lines = []
    for value in sorted(counts, key=lambda name: (name in (OTHER, UNKNOWN), -counts[name].sum())):
        shares = [
            float(counts.loc[side, value] / totals[side]) if shown[value] else None
            for side in counts.index
        ]
        lines.append(ShareLine(value, *shares))
    return TextLine(one.name, tuple(lines) if shown.any() else ())


def _pooled(words: NDArray[np.str_], limit: int) -> NDArray[np.str_]:
    """Values that few rows have, and all beyond those that can be listed, become one."""
    values, counts = np.unique(words, return_counts=True)
    order = np.lexsort((values, -counts))
    few = counts[order] < limit
    few[MAX_LISTED - 1 :] |= len(values) > MAX_LISTED
    rest = int(counts[order][few].sum())
    for place in range(len(order) - 1, -1, -1):  # the rest alone must not be few either
        if not few.any() or rest >= limit:
            break
        if not few[place]:
            few[place], rest = True, rest + int(counts[order][place])
    pool = set(values[order][few].tolist())
    return np.array([OTHER if word in pool else word for word in words.tolist()])


def _counted(carries: Flags, words: NDArray[np.str_]) -> pd.DataFrame:
    """Rows carriers and others, one column per value."""
    side = np.where(carries, "carriers", "others")
    return pd.crosstab(side, words).reindex(["carriers", "others"], fill_value=0)


def _shown_values(counts: pd.DataFrame, limit: int) -> pd.Series:
    """Whose counts may be shown beside all totals; none, if a total would have to be hidden."""
    texts = hide_table(counts, limit)
    shown = texts.map(lambda text: text != HIDDEN and text[0] != "<")
    totals = bool(shown["Total"].all() and shown.loc["Total"].all())
    both = shown.loc[counts.index, counts.columns].all(axis=0)
    return pd.Series(both & totals, index=counts.columns)
