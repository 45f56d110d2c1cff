"""A table as far as it was looked at: a sample of its columns, and how they depend on others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.layouts.profile import SAMPLE_ROWS, Profile, profile_of
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.text_table import TextTable

OFTEN = 1.2  # rows by ids, from which on ids repeat


@dataclass(frozen=True, eq=False)
class SeenTable:
    """The first rows of a table, column by column."""

    name: str
    rows: int
    columns: Mapping[str, Coded]
    profiles: Mapping[str, Profile]

    @classmethod
    def of(cls, table: TextTable) -> SeenTable:
        sample = table.head(SAMPLE_ROWS)
        columns = {name: sample.coded(name) for name in table.columns}
        profiles = {name: profile_of(column) for name, column in columns.items()}
        return cls(table.name, sample.n_rows, columns, profiles)

    def repeats(self, row: str) -> bool:
        """Whether ids come back: several rows of one patient."""
        profile = self.profiles[row]
        return profile.filled > OFTEN * profile.distinct

    def steady(self, row: str, column: str) -> bool:
        """Whether every id has at most one entry in the column."""
        pairs = self._pairs(row, column)
        return len(pairs) == len(np.unique(pairs[:, 0]))

    def follows(self, column: str, other: str) -> bool:
        """Whether the entry of a column follows from that of another, which says more."""
        pairs = self._pairs(other, column)
        least = len(np.unique(pairs[:, 0]))
        return 0 < len(pairs) == least and self.profiles[other].filled >= 2 * least

    def only_in_one(self, code: str, domain: str) -> float:
        """Share of the rows whose code stands with one entry of another column only."""
        pairs = self._pairs(code, domain)
        codes, times = np.unique(pairs[:, 0], return_counts=True)
        once = np.zeros(len(self.columns[code].labels), dtype=bool)
        once[codes[times == 1]] = True
        filled = ~self.columns[code].missing()
        return float(once[self.columns[code].codes[filled]].mean()) if filled.any() else 0.0

    def entries_by(self, domain: str, code: str) -> dict[str, list[str]]:
        """The distinct codes beside every entry of a column."""
        found: dict[str, list[str]] = {}
        for what, which in self._pairs(domain, code).tolist():
            label = self.columns[domain].labels[what]
            found.setdefault(label, []).append(self.columns[code].labels[which])
        return found

    def pairs_of(self, one: str, other: str) -> int:
        """How many distinct pairs of entries two columns have."""
        return len(self._pairs(one, other))

    def _pairs(self, one: str, other: str) -> NDArray[np.int64]:
        """The distinct pairs of entries of two columns, blanks aside."""
        first, second = self.columns[one], self.columns[other]
        both = ~(first.missing() | second.missing())
        return np.unique(np.stack([first.codes[both], second.codes[both]], axis=1), axis=0)
