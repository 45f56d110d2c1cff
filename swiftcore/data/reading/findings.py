"""What reading found: notes to show, rows left out (always counted), problems to fix."""

from __future__ import annotations

from dataclasses import dataclass, field

from swiftcore.errors import InvalidData, Problem


@dataclass(frozen=True)
class LeftOut:
    """Rows, features or cells that did not enter the tensor, and why."""

    reason: str
    count: int
    where: str

    def __str__(self) -> str:
        return f"{self.count:,} left out of {self.where}: {self.reason}"


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
    outcome_candidates : tuple of str
        Columns of the patients' table that could be the outcome, while none is chosen.
    """

    notes: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    outcome_candidates: tuple[str, ...] = ()

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
