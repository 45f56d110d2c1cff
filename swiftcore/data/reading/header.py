"""Where a table begins: lines above its header, one header line or two, or none at all.

A sheet from a hospital rarely starts with its column names. What tells a header from the rows is
not its language but that it does not look like them: a word above numbers, a text of another shape.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse, where_list

LOOKED_AT = 60  # lines from the top
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")
_NUMBER = re.compile(r"[+-]?\d[\d.,]*([eE][+-]?\d+)?$")
Row = Sequence[str]


@dataclass(frozen=True)
class Header:
    """The names of the columns, and which line the rows start at.

    Attributes
    ----------
    names : tuple of str
        One per column, empty where none is written.
    above : tuple of str
        Lines above the header, such as a title.
    lines : int
        How many lines hold the names: 0, 1 or 2.
    first_row : int
        Index of the first line that is a row.
    """

    names: tuple[str, ...]
    above: tuple[str, ...]
    lines: int
    first_row: int

    def tell(self, table: str, findings: Findings) -> None:
        """Note what was taken for a title, a second header line or a missing header."""
        if self.above:
            count = f"{len(self.above)} lines" if len(self.above) > 1 else "1 line"
            findings.note(
                f"{table}: {count} above the header skipped, for example '{self.above[0][:60]}'."
            )
        if self.lines == 0:
            findings.note(
                f"{table} has no header line; its columns are called column 1 to column "
                f"{len(self.names)}. If the first line is the header, set header=one."
            )
        if self.lines == 2:
            findings.note(f"{table} has two header lines; they were joined, as '{self.names[-1]}'.")


def find_header(rows: Sequence[Row], table: str, setting: str = "") -> Header:
    """The header among the first lines of a table.

    Parameters
    ----------
    rows : sequence of rows
        The first lines, cut into cells.
    setting : {"", "none", "one", "two"}
        How many header lines there are; found out when empty.

    Raises
    ------
    InvalidData
        When the first line may as well be a row.
    """
    width = usual_width(rows)
    start = next((k for k, row in enumerate(rows) if _may_head(row, width)), 0)
    above = rows[:start]
    if start and setting != "one" and _heads_over(rows[start - 1], rows[start], width):
        start, lines = start - 1, 2
        above = rows[:start]
    else:
        lines = _lines(rows[start : start + LOOKED_AT], width, table, setting)
    names = _joined(rows[start], rows[start + 1]) if lines == 2 else tuple(rows[start])
    names = names if lines else ("",) * len(rows[start])
    titles = tuple(text for row in above if (text := " ".join(filter(None, row)).strip()))
    return Header(tuple(name.strip() for name in names), titles, lines, start + lines)


def usual_width(rows: Sequence[Row]) -> int:
    """How many cells most lines have, titles of one cell aside; of ties the largest."""
    counts = Counter(len(row) for row in rows if row)
    if sum(counts.values()) - counts[1] >= 0.2 * sum(counts.values()):
        del counts[1]
    return max(counts, key=lambda width: (counts[width], width), default=1)


def is_value(text: str) -> bool:
    """Whether a cell is a number or a date: nobody's name for a column."""
    text = text.strip()
    return bool(_NUMBER.match(text) or _DATE.match(text))


def shape(text: str) -> str:
    """The look of a cell: runs of digits and of letters, other marks as they are."""
    text = text.strip()
    if _NUMBER.match(text):
        return "9"
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


def _may_head(row: Row, width: int) -> bool:
    filled = sum(bool(cell.strip()) for cell in row)
    return len(row) == width and filled >= min(width, max(2, (width + 1) // 2))


def _heads_over(upper: Row, lower: Row, width: int) -> bool:
    """Whether a sparse line names groups of columns that the line below names one by one."""
    groups = [cell.strip() for cell in upper if cell.strip()]
    if len(upper) != width or len(groups) < 2 or any(is_value(one) for one in groups):
        return False
    below = [cell.strip() for cell in lower if cell.strip()]
    return len(set(below)) < len(below)


def _lines(rows: Sequence[Row], width: int, table: str, setting: str) -> int:
    """How many of the first lines are header lines."""
    if setting:
        return {"none": 0, "one": 1, "two": 2}[setting]
    body = [row for row in rows[1:] if len(row) == width]
    if len(body) < 2:
        return 1
    unlike, alike = _votes(rows[0], body)
    if alike and not unlike:
        return 0
    if len(alike) > len(unlike):
        raise refuse(
            "header-unclear",
            "The first line may be a header or a row",
            f"{table}, columns {where_list(alike)}",
            f"'{' | '.join(rows[0])[:80]}'",
            "Set --set header=one or --set header=none.",
        )
    if len(body) < 3:
        return 1
    unlike, alike = _votes(body[0], body[1:])
    return 2 if len(unlike) >= 2 and not alike and len(rows[1]) == width else 1


def _votes(line: Row, body: Sequence[Row]) -> tuple[list[int], list[int]]:
    """Columns (from 1) whose first cell looks unlike those below it, and whose looks like a row."""
    unlike, alike = [], []
    for place, cell in enumerate(line):
        below = [row[place].strip() for row in body if row[place].strip()]
        if len(below) < 2:
            continue
        usual, count = Counter(map(shape, below)).most_common(1)[0]
        even = count >= 0.8 * len(below) and "9" in usual
        value = cell.strip()
        flags = even and len(set(below)) < 3  # of 0 and 1: any number may be their name
        if even and shape(cell) != usual and not is_value(cell):
            unlike.append(place + 1)
        elif not flags and ((value and value in below) or (even and shape(value) == usual)):
            alike.append(place + 1)
    return unlike, alike


def _joined(upper: Row, lower: Row) -> tuple[str, ...]:
    """Names of two lines; a blank above means the name to its left goes on."""
    names, group = [], ""
    for place, low in enumerate(lower):
        high = upper[place].strip() if place < len(upper) else ""
        group = high or group
        low = low.strip()
        names.append(low if not group or low == group else f"{group} {low}".strip())
    return tuple(names)
