"""The outcome of patients in tables larger than memory: one column of the patients' table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.outcome import AFTER_OUTCOME, as_classes, could_be
from swiftcore.data.options import BuildOptions
from swiftcore.data.out_of_core.count import outcome_of_people, outcome_texts
from swiftcore.data.out_of_core.database import Database
from swiftcore.data.out_of_core.plan import TablePlan
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, refuse, where_list

MAX_CLASSES = 1_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everybody's class by number (-1: none), and what the numbers mean."""

    name: str
    of: NDArray[np.int32]
    classes: NDArray[Any]  # bools or texts

    def of_rows(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The outcome of the rows that are left; one class alone is refused."""
        values = self.classes[self.of[rows]]
        if len(np.unique(values)) < 2:
            raise refuse(
                "outcome-one-class",
                "All rows have the same outcome",
                self.name,
                f"only '{values[0]}'",
                "Choose another outcome, or allow events after it.",
            )
        return values


def find_outcome(
    database: Database,
    patients: Sequence[TablePlan],
    options: BuildOptions,
    findings: Findings,
    n_people: int,
) -> Outcome | None:
    """The outcome asked for, or a column called outcome; None when there is none.

    Parameters
    ----------
    patients : sequence of TablePlan
        The table with a row per patient, if there is one.
    n_people : int
        Patients that have events, numbered in the database.
    """
    asked = options.outcome == "column" or bool(options.outcome_column)
    if options.outcome == "none":
        return None
    plan = next(iter(patients), None)
    if plan is None or not plan.outcome:
        if asked:
            raise _no_column(options.outcome_column, plan)
        return None
    text = plan.head.text_of(plan.outcome)
    found = outcome_texts(database, plan.number, text, MAX_CLASSES)
    if not asked:
        if not could_be(plan.outcome, found):
            return None
        findings.mapping["outcome"] = plan.outcome
    if f"{plan.outcome.lower()}_date" in map(str.lower, plan.head.columns):
        findings.note(AFTER_OUTCOME)
    if len(found) > MAX_CLASSES:
        raise _too_many_classes(plan.outcome)
    blank = sum(count for word, count in found.items() if not word.strip())
    findings.leave_out("patients without an outcome", blank, "patients' table")
    classes, numbers = _numbered(found)
    who = plan.head.text_of(plan.roles.row)
    of = outcome_of_people(database, plan.number, who, text, numbers, n_people)
    asked_name = options.outcome_column.strip() or plan.outcome
    return Outcome(options.outcome_name or asked_name, of, classes)


def _numbered(found: dict[str, int]) -> tuple[NDArray[Any], dict[str, int]]:
    """The classes that the texts of a column mean, and the number of each text's class."""
    meant = as_classes({word: word for word in found})
    flags = all(isinstance(value, int) for value in meant.values())
    classes = [False, True] if flags else sorted({str(value) for value in meant.values()})
    numbers = {word: classes.index(value) for word, value in meant.items()}  # type: ignore[arg-type]
    return np.array(classes), numbers


def _no_column(asked: str, plan: TablePlan | None) -> InvalidData:
    known = where_list(plan.head.columns, 12) if plan else "no patients' table"
    return refuse(
        "outcome-column",
        "The outcome column is not there",
        "patients' table",
        f"no column '{asked[:60]}'",
        f"Choose one of {known}; several columns need a .npz.",
    )


def _too_many_classes(column: str) -> InvalidData:
    return refuse(
        "outcome-classes",
        "The outcome has too many values",
        column,
        f"more than {MAX_CLASSES:,}",
        "Choose a column of classes.",
    )
