"""Lines and numbers of cost files, with the place of everything that is wrong."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.reading.findings import Findings
from swiftcore.errors import where_list

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "?"})
INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "-infinity"})
NUMBERS = {  # fault: what is wrong, how to fix it
    "cost-nan": ("A number is missing", "Fill in a number in every cell."),
    "cost-infinite": ("A number is infinite", "Use a large finite number."),
    "cost-negative": ("A distance is negative", "Distances are 0 or more."),
    "cost-text-cell": ("A cell holds no number", "Write plain numbers such as 0.25."),
}


@dataclass(frozen=True)
class Line:
    """The cells of one line of a file, stripped, and its number."""

    number: int
    cells: tuple[str, ...]


@dataclass
class Faults:
    """Gathers what is wrong with a file, all places of one fault together.

    Attributes
    ----------
    name : str
        Of the file.
    findings : Findings
        Takes the problems in the end.
    """

    name: str
    findings: Findings
    _places: dict[tuple[str, str, str], list[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, code: str, what: str, cure: str, line: int, found: str) -> None:
        self._places[code, what, cure].append((line, found))

    def stop(self) -> None:
        """Raise InvalidData with everything gathered, if there is anything."""
        for (code, what, cure), places in self._places.items():
            lines = list(dict.fromkeys(line for line, _ in places))
            where = f"{self.name}, line{'s' if len(lines) > 1 else ''} {where_list(lines)}"
            self.findings.problem(code, what, where, places[0][1][:120], cure)
        self.findings.stop_if_problems()

    def number(self, text: str, line: int, *, comma: bool, signed: bool = False) -> float:
        """A finite number; its fault is noted and NaN given if it is none."""
        plain = text.replace(",", ".", 1) if comma else text
        if NUMBER.fullmatch(plain):
            value = float(plain)
            if abs(value) == float("inf"):
                return self._bad("cost-infinite", line, text)
            if value < 0 and not signed:
                return self._bad("cost-negative", line, text)
            return value
        lower = text.lower()
        kind = "cost-nan" if lower in MISSING else "cost-text-cell"
        return self._bad("cost-infinite" if lower in INFINITE else kind, line, text)

    def array(self, values: NDArray[np.float64], *, signed: bool = False) -> None:
        """Note what is wrong with numbers of an array; the first label stands on line 1."""
        for code, bad in (
            ("cost-nan", np.isnan(values)),
            ("cost-infinite", np.isinf(values)),
            ("cost-negative", np.zeros(0) if signed else np.isfinite(values) & (values < 0)),
        ):
            for place in np.argwhere(bad)[:1000].tolist():
                self._bad(code, place[0] + 1, str(values[tuple(place)]))

    def _bad(self, code: str, line: int, text: str) -> float:
        what, cure = NUMBERS[code]
        self.add(code, what, cure, line, f"'{text}'" if text else "an empty cell")
        return float("nan")


def is_number(text: str) -> bool:
    """Whether a cell stands for a number, with a decimal point or comma, even if not finite."""
    plain = text.lower()
    return plain in INFINITE or plain == "nan" or bool(NUMBER.fullmatch(plain.replace(",", ".", 1)))


def split_lines(text: str, delimiter: str, faults: Faults) -> list[Line]:
    """The lines of a table that hold anything; a damaged quote is refused with its line."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    lines: list[Line] = []
    began = 1
    try:
        for row in reader:
            cells = tuple(cell.strip() for cell in row)
            if any(cells):
                lines.append(Line(began, cells))
            began = reader.line_num + 1
    except csv.Error as error:
        cure = "Close or remove the quote on that line."
        faults.add("cost-quote", "A line cannot be read", cure, began, str(error))
        faults.stop()
    return lines


def unique_labels(lines: Sequence[tuple[int, str]], faults: Faults) -> dict[str, int]:
    """Each label with its place; empty ones and such that stand twice are noted."""
    places: dict[str, int] = {}
    first: dict[str, int] = {}
    for line, label in lines:
        if not label:
            faults.add("cost-label", "A label is empty", "Name every feature.", line, "nothing")
        elif label in places:
            found = f"'{label[:60]}', also on line {first[label]}"
            faults.add("cost-twice", "A label stands twice", "Leave one of them.", line, found)
        else:
            places[label] = len(places)
            first[label] = line
    return places
