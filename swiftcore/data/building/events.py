"""Events of one table (who, what, when), and cells: events that already name every mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings

MINUTES_PER_DAY = 1440.0


@dataclass(frozen=True, eq=False)
class Events:
    """Rows of one table, such as diagnoses.

    Attributes
    ----------
    name : str
        What the features are; becomes the name of the mode.
    subject, feature : Coded
        Who and what, one per row.
    codes : tuple of str
        The source's code behind each label of `feature`.
    system : tuple of str
        The code system of each label where the source says it: "icd9", "icd10" or "".
    visit : Coded or None
        Which stay or encounter.
    time : ndarray or None
        Days, counted from one origin for all rows of a subject; NaN when undated.
    amount : ndarray or None
        One amount per row; 1 when None.
    """

    name: str
    subject: Coded
    feature: Coded
    codes: tuple[str, ...]
    system: tuple[str, ...] = ()
    visit: Coded | None = None
    time: NDArray[np.float64] | None = None
    amount: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.feature)

    def take(self, rows: NDArray[Any]) -> Events:
        """The chosen rows, by position or by mask."""
        return replace(
            self,
            subject=self.subject.take(rows),
            feature=self.feature.take(rows),
            visit=None if self.visit is None else self.visit.take(rows),
            time=None if self.time is None else self.time[rows],
            amount=None if self.amount is None else self.amount[rows],
        )

    def usable(self, findings: Findings, where: str) -> Events:
        """Only rows that say who and what; the others are counted."""
        nobody, nothing = self.subject.missing(), self.feature.missing() & ~self.subject.missing()
        odd = (self.subject.unusable() | self.feature.unusable()) & ~nobody & ~nothing
        findings.leave_out("rows without a patient or row id", int(nobody.sum()), where)
        findings.leave_out(f"rows without an entry in {self.name}", int(nothing.sum()), where)
        findings.leave_out(
            "rows whose name holds a line break (a stray quote?)", int(odd.sum()), where
        )
        bad = nobody | nothing | odd
        if self.amount is not None:
            empty = np.isnan(self.amount) & ~bad
            findings.leave_out("rows without a value", int(empty.sum()), where)
            bad |= empty
        return self.take(~bad) if bad.any() else self


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows that name one cell of the tensor each: a row, and one feature per further mode."""

    row: Coded
    features: tuple[Coded, ...]
    amount: NDArray[np.float64]
    time: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.amount)

    def take(self, chosen: NDArray[Any]) -> Cells:
        """The chosen cells, by position or by mask."""
        features = tuple(feature.take(chosen) for feature in self.features)
        time = None if self.time is None else self.time[chosen]
        return Cells(self.row.take(chosen), features, self.amount[chosen], time)


@dataclass(frozen=True, eq=False)
class Records:
    """What a set of patient tables holds, whatever its layout.

    Attributes
    ----------
    events : tuple of Events
        One per feature mode.
    traits : mapping of str to mapping
        Patient columns (name to patient to text), from which an outcome can be taken.
    died : mapping of str to float
        Patients who died, with the day (NaN when it is not known); None when unknown.
    death_name : str
        What `died` means exactly.
    times_within_visit : bool
        Whether times count from the start of each visit and compare only inside it.
    concepts : mapping of str to str
        What numbers in the columns of patients mean, where the source names its concepts.
    """

    events: tuple[Events, ...]
    traits: Mapping[str, Mapping[str, str]]
    died: Mapping[str, float] | None
    death_name: str = "death"
    times_within_visit: bool = False
    concepts: Mapping[str, str] = field(default_factory=dict)
