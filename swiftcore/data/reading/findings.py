"""What reading found: notes to show, rows left out (always counted), problems to fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swiftcore.errors import InvalidData, Problem


@dataclass(frozen=True)
class LeftOut:
    """Rows, features or cells that did not enter the tensor, and why."""

    reason: str
    count: int
    where: str

    def __str__(self) -> str:
        return f"{self.count:,} left out of {self.where}: {self.reason}"


@dataclass(frozen=True)
class ColumnRole:
    """What a column is taken for, and why.

    Attributes
    ----------
    role : str
        id, visit, code, drug, domain, count, date, outcome, covariate, free text or ignored.
    reason : str
        Half a sentence for a person.
    examples : str
        A few of its entries.
    """

    table: str
    column: str
    role: str
    reason: str
    examples: str = ""


@dataclass(frozen=True)
class Preview:
    """The first rows of a table, long cells cut off."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass
class Findings:
    """Collects everything there is to say while a file is read, so that it is said at once.

    Attributes
    ----------
    notes : list of str
        Guesses made and choices taken, in whole sentences.
    left_out : list of LeftOut
        Nothing is dropped without an entry here.
    problems : list of Problem
        What stops the building; raised together by :meth:`stop_if_problems`.
    mapping : dict
        Which column was taken for which role, as guessed or as set.
    tables : dict
        Every table or file read, with its number of rows.
    outcome_candidates, outcome_rates : tuple of str, dict
        Columns that could be the outcome, while none is chosen, and how many rows have which
        value of each.
    layout : str
        How the tables are laid out: long, wide, onehot, lists, or several joined by "+".
    roles, previews : list of ColumnRole, list of Preview
        Every column of every table, and the first rows of each.
    options : mapping
        With which a data set that was built before was built.
    parsed : Path or None
        A folder in which tables are kept once they are parsed.
    """

    notes: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    outcome_candidates: tuple[str, ...] = ()
    outcome_rates: dict[str, dict[str, int]] = field(default_factory=dict)
    layout: str = ""
    roles: list[ColumnRole] = field(default_factory=list)
    previews: list[Preview] = field(default_factory=list)
    options: Mapping[str, Any] = field(default_factory=dict)
    parsed: Path | None = None

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def leave_out(self, reason: str, count: int, where: str) -> None:
        if count:
            self.left_out.append(LeftOut(reason, int(count), where))

    def problem(self, code: str, what: str, where: str, found: str, cure: str) -> None:
        self.problems.append(Problem(code, what, where, found, cure))

    def stop_if_problems(self) -> None:
        """Raise every problem found so far.

        Raises
        ------
        InvalidData
            When there is at least one.
        """
        if self.problems:
            raise InvalidData(self.problems)
