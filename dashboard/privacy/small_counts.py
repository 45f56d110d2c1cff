"""Small counts are hidden, and so is what would give them away.

A count of 1 to limit - 1 is shown as "<limit". In a table with totals such a count could be had
back by subtraction, so more cells are hidden ("hidden"; all of them limit or more) until no small
count follows from what is shown. The reader may know all of these rules.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

DEFAULT_LIMIT = 11
LOWEST_LIMIT = 5  # that real data may have
HIDDEN = "hidden"
NO_BOUND = np.iinfo(np.int64).max // 4
Counts = NDArray[np.int64]


def hidden(count: int, limit: int, total: int | None = None) -> str:
    """A count fit to be shown.

    Parameters
    ----------
    count : int
    limit : int
        The smallest count that may be shown; 0 shows all.
    total : int, optional
        What the count is a part of, if that is shown too. Then a small rest is hidden as well:
        995 of 1,000 is shown as ">989". Of a total below twice the limit count or rest is
        always small, and no bound is given either: 12 of 13 would be the only ">2".
    """
    if total is not None and limit <= total < 2 * limit and 0 < count < total:
        return HIDDEN
    if 0 < count < limit:
        return f"<{limit}"
    if total is not None and total >= limit and 0 < total - count < limit:
        return f">{total - limit:,}"
    return f"{count:,}"


def hidden_overlap(both: int, first: int, second: int, rows: int, limit: int) -> str:
    """How many rows are in two groups of known sizes, fit to be shown.

    Whoever knows both sizes can work out three more counts: who is in one group only, or in none.
    None of the four that is small may follow.

    Parameters
    ----------
    both, first, second : int
        In both groups, in the one, in the other.
    rows : int
        In all.
    limit : int
        The smallest count that may be shown; 0 shows all.
    """
    corner = first + second - rows  # what both have in common at the least, where it is positive

    def is_small(count: int) -> bool:
        cells = (count, first - count, second - count, count - corner)
        return any(0 < cell < limit for cell in cells)

    def bound(count: int) -> str:
        if 0 < count < limit:
            return f"<{limit}"
        few_left = any(0 < size - count < limit for size in (first, second))
        return f">{min(first, second) - limit:,}" if few_left else HIDDEN

    if not is_small(both):
        return f"{both:,}"
    near = {end + step for end in (0, corner, first, second) for step in range(-limit, limit + 1)}
    possible = [n for n in near if max(0, corner) <= n <= min(first, second) and is_small(n)]
    told = Counter(map(bound, possible))
    return bound(both) if min(told.values()) > 1 else HIDDEN


def rounded(count: int, limit: int) -> int:
    """The nearest multiple of the limit: for counts so many that differences would tell.

    Rules that differ little find nearly the same rows; of counts rounded alike no difference is
    small. A limit of 0 rounds nothing.
    """
    return limit * ((2 * count + limit) // (2 * limit)) if limit else count


def hidden_share(count: int, total: int, limit: int, digits: int = 0) -> str:
    """A percentage fit to be shown beside its total; a small count must not follow from it."""
    if total == 0:
        return "0%"
    shown = hidden(count, limit, total)
    if total < limit or shown == HIDDEN:
        return HIDDEN
    if shown[0] in "<>":
        bound = limit if shown[0] == "<" else total - limit
        return f"{shown[0]}{bound / total:.{max(digits, 1)}%}"
    return f"{count / total:.{digits}%}"


def hide_table(counts: pd.DataFrame, limit: int) -> pd.DataFrame:
    """A two-way table of counts with its totals, as texts that give no small count away.

    Parameters
    ----------
    counts : DataFrame of int
        Cells that add up to the totals; no total among them.
    limit : int
        The smallest count that may be shown; 0 shows all.

    Returns
    -------
    DataFrame of str
        One row and one column more: the totals, called "Total".
    """
    cells = np.asarray(counts.to_numpy(), dtype=np.int64)
    table = with_totals(cells)
    texts = np.array([[f"{value:,}" for value in row] for row in table], dtype=object)
    secret = _Secret.of(table, limit)
    while (stuck := secret.derivable()) is not None:
        if not secret.hide_one_more(stuck):
            texts[:] = HIDDEN  # nothing less protects it
            break
    else:
        texts[secret.hidden] = HIDDEN
        texts[secret.small] = f"<{limit}"
    return pd.DataFrame(
        texts, index=[*counts.index, "Total"], columns=[*counts.columns, "Total"], dtype=object
    )


def with_totals(cells: Counts) -> Counts:
    """The cells with row totals, column totals and the grand total in the corner."""
    wide = np.column_stack([cells, cells.sum(axis=1)])
    return np.vstack([wide, wide.sum(axis=0)])


@dataclass(eq=False)
class _Secret:
    """Which cells of a table with totals are hidden, and what a reader could find out.

    Every row and every column adds up to 0 once totals count as negative. Hidden cells are the
    edges of a graph of rows and columns; a hidden cell can have another value exactly if some
    closed path of hidden cells through it can be raised and lowered in turn by 1, all
    staying within what is known of them.
    """

    table: Counts
    limit: int
    small: NDArray[np.bool_]
    hidden: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Counts, limit: int) -> _Secret:
        small = (table > 0) & (table < limit)
        return cls(table, limit, small, small.copy())

    def derivable(self) -> tuple[int, int] | None:
        """A small cell that the reader can work out, if there is one."""
        for row, column in np.argwhere(self.small):
            if not self._could_differ(int(row), int(column)):
                return int(row), int(column)
        return None

    def hide_one_more(self, stuck: tuple[int, int]) -> bool:
        """Hide the smallest cell that frees the stuck one, or at least one beside it."""
        candidates = [
            (int(row), int(column))
            for row, column in np.argwhere(~self.hidden & (self.table >= self.limit))
        ]
        if not candidates:
            return False
        candidates.sort(key=lambda cell: (self._is_total(*cell), self.table[cell]))
        for cell in candidates:
            self.hidden[cell] = True
            if self._could_differ(*stuck):
                return True
            self.hidden[cell] = False
        beside = [c for c in candidates if c[0] == stuck[0] or c[1] == stuck[1]]
        self.hidden[(beside or candidates)[0]] = True
        return True

    def _is_total(self, row: int, column: int) -> int:
        height, width = self.table.shape
        return int(row == height - 1) + int(column == width - 1)

    def _could_differ(self, row: int, column: int) -> bool:
        return any(
            self._may_move(row, column, step) and self._closes(row, column, step)
            for step in (1, -1)
        )

    def _may_move(self, row: int, column: int, step: int) -> bool:
        """Whether a cell, its total's sign applied, may change by a step and stay credible."""
        if not self.hidden[row, column]:
            return False
        value = self.table[row, column] + (step if self._is_total(row, column) != 1 else -step)
        if self.small[row, column]:
            return bool(1 <= value < self.limit)
        return bool(self.limit <= value <= NO_BOUND)

    def _closes(self, row: int, column: int, step: int) -> bool:
        """Whether the change of one cell can be made good elsewhere: a search for the way back."""
        height, width = self.table.shape
        seen_rows, seen_columns = {-1}, {column}
        waiting = deque([("column", column)])
        while waiting:
            side, place = waiting.popleft()
            if side == "column":
                for other in range(height):
                    if (other, place) == (row, column) or other in seen_rows:
                        continue
                    if self._may_move(other, place, -step):
                        if other == row:
                            return True
                        seen_rows.add(other)
                        waiting.append(("row", other))
            else:
                for other in range(width):
                    if other not in seen_columns and self._may_move(place, other, step):
                        seen_columns.add(other)
                        waiting.append(("column", other))
        return False
