"""What is known of the rows besides the tensor: covariates, dated events, texts.

None of it enters a factorization. It describes people and documents to those who look at them: the
age of the carriers of a phenotype, the timeline of one patient, the text of one article.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import refuse

CovariateKind = Literal["number", "text", "date"]
MAX_COVARIATES = 100  # of a file; readers keep far fewer


@dataclass(frozen=True, eq=False)
class Covariate:
    """One column of facts about the rows.

    Attributes
    ----------
    name : str
        What the data call it: age, sex, site.
    kind : {"number", "text", "date"}
        How to summarize it: by median, by share of each value, by range.
    values : ndarray, (rows,)
        float64 with NaN for the unknown, str with "" for it, or datetime64[D] with NaT for it.
    """

    name: str
    kind: CovariateKind
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class DatedEvents:
    """When a feature was recorded for a row; four arrays of equal length, by row and date.

    Attributes
    ----------
    row : ndarray of int64
        Index into the first mode of the tensor.
    mode, feature : ndarray of int64
        Which mode of the tensor, and the index of the feature within it.
    date : ndarray of datetime64[D]
        The day.
    """

    row: NDArray[np.int64]
    mode: NDArray[np.int64]
    feature: NDArray[np.int64]
    date: NDArray[np.datetime64]

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether every event is of a row and a feature of a tensor of that shape."""
        if len({one.shape for one in (self.row, self.mode, self.feature, self.date)}) > 1:
            return False
        if not len(self.row):
            return True
        inside = self.row.min() >= 0 and self.row.max() < shape[0]
        if not (inside and self.mode.min() >= 1 and self.mode.max() < len(shape)):
            return False
        return bool((self.feature >= 0).all() and (self.feature < np.array(shape)[self.mode]).all())

    def with_rows(self, rows: NDArray[np.int64]) -> DatedEvents:
        """The events of some rows, which may repeat and stand in any order."""
        order = np.argsort(self.row, kind="stable")
        first = np.searchsorted(self.row, rows, "left", sorter=order)
        counts = np.searchsorted(self.row, rows, "right", sorter=order) - first
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = order[np.repeat(first, counts) + within]
        new_row = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
        return DatedEvents(new_row, self.mode[chosen], self.feature[chosen], self.date[chosen])


@dataclass(frozen=True, eq=False)
class SideTables:
    """All that is known of the rows besides the tensor; each part may be missing.

    Attributes
    ----------
    covariates : tuple of Covariate
        At most what a person can look at: age, sex, site and up to ten more.
    events : DatedEvents or None
        When what happened, for a timeline.
    texts : tuple of str
        One text per row of a data set of documents; empty when there are none.
    """

    covariates: tuple[Covariate, ...] = ()
    events: DatedEvents | None = None
    texts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.covariates or self.texts or self.events is not None)

    def check(self, shape: tuple[int, ...], where: str) -> None:
        """Refuse what does not fit a tensor of a shape."""
        rows = shape[0]
        lengths = {one.name: one.values.shape for one in self.covariates}
        if self.texts:
            lengths["texts"] = (len(self.texts),)
        wrong = {name: found for name, found in lengths.items() if found != (rows,)}
        if wrong:
            raise refuse(
                "side-table-size",
                "Every covariate and text needs one value per row",
                where,
                f"{rows} rows, but {', '.join(f'{n}: {s}' for n, s in wrong.items())}",
                "Give one value for each row of the first mode.",
            )
        if self.events is not None and not self.events.fits(shape):
            raise refuse(
                "side-table-events",
                "Every dated event needs a row and a feature of the data",
                where,
                "an event of another row or feature, or columns of unequal length",
                "Build the data set again.",
            )

    def with_rows(self, rows: NDArray[np.int64]) -> SideTables:
        """What is known of some of the rows."""
        return SideTables(
            tuple(Covariate(one.name, one.kind, one.values[rows]) for one in self.covariates),
            None if self.events is None else self.events.with_rows(rows),
            tuple(self.texts[row] for row in rows) if self.texts else (),
        )
