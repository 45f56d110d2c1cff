"""Distances from a file: a square table with labels on both sides, or one pair per line.

Rules. Distances are finite, 0 or more, and 0 from a feature to itself. A missing half is
filled from the other half, also when it holds nothing but zeros. There and back may differ by
rounding and are then averaged; beyond that the file is refused. In the long form a pair that
is not listed is as far apart as the farthest pair that is. Where the largest distance is above
1 all are divided by it, so that the sharpness of a model means the same for every cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.outside.cost_lines import MISSING, Faults, Line, is_number, unique_labels
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.data.reading.findings import Findings

MAX_LABELS = 4_000  # 128 MB of distances
ROUNDING = 1e-6  # of the largest distance: how far there and back may differ
DISTANCE_NAMES = frozenset({"distance", "cost", "dist", "d", "value", "weight", "dissimilarity"})
LARGER = "Keep the features of your data only."
Matrix = NDArray[np.float64]


def read_square(lines: Sequence[Line], name: str, findings: Findings, *, comma: bool) -> CostTable:
    """A table whose first line and first column hold the labels, in any order."""
    faults = Faults(name, findings)
    header, body = lines[0], lines[1:]
    columns = unique_labels([(header.number, cell) for cell in header.cells[1:]], faults)
    rows = unique_labels([(line.number, line.cells[0]) for line in body], faults)
    check_size(len(columns), header.number, faults)
    _check_sides(columns, rows, body, header.number, faults)
    faults.stop()
    size = len(columns)
    matrix = np.full((size, size), np.nan)
    for line in body:
        place = columns[line.cells[0]]
        cells = line.cells[1:]
        if len(cells) > size:
            found = f"{len(cells)} distances for {size} features"
            cure = "Give one distance per feature."
            faults.add("cost-size", "A line is too long", cure, line.number, found)
        for column, cell in enumerate(cells[:size]):
            if cell.lower() == "nan" or cell.lower() not in MISSING:
                matrix[place, column] = faults.number(cell, line.number, comma=comma)
    faults.stop()
    number_of = {columns[line.cells[0]]: line.number for line in body}
    return finished(tuple(columns), matrix, number_of, faults)


def _check_sides(
    columns: dict[str, int], rows: dict[str, int], body: Sequence[Line], line: int, faults: Faults
) -> None:
    cure = "Use the same labels in the first line and the first column."
    for label in columns:
        if label not in rows:
            found = f"'{label[:60]}' in the first line only"
            faults.add("cost-sides", "The labels of the two sides differ", cure, line, found)
    for own in body:
        if own.cells[0] and own.cells[0] not in columns:
            found = f"'{own.cells[0][:60]}' in the first column only"
            faults.add("cost-sides", "The labels of the two sides differ", cure, own.number, found)


def check_size(size: int, line: int, faults: Faults) -> None:
    """Note it if there are more features than a matrix may have."""
    if size > MAX_LABELS:
        found = f"{size:,} labels; the limit is {MAX_LABELS:,}"
        faults.add("cost-large", "There are too many features", LARGER, line, found)


def read_long(lines: Sequence[Line], name: str, findings: Findings, *, comma: bool) -> CostTable:
    """One pair of features and its distance per line, with or without a header."""
    faults = Faults(name, findings)
    body = lines if is_number(lines[0].cells[2]) else lines[1:]
    labels: dict[str, int] = {}
    for line in body:
        if len(line.cells) != 3:
            found, cure = f"{len(line.cells)} cells", "Write feature,feature,distance."
            faults.add("cost-ragged", "A line has not three cells", cure, line.number, found)
            continue
        for label in line.cells[:2]:
            labels.setdefault(label, len(labels))
            if not label:
                cure = "Name both features."
                faults.add("cost-label", "A label is empty", cure, line.number, "nothing")
    check_size(len(labels), body[0].number, faults)
    faults.stop()
    matrix = np.full((len(labels), len(labels)), np.nan)
    first: dict[tuple[int, int], int] = {}
    for line in body:
        here, there = (labels[label] for label in line.cells[:2])
        value = faults.number(line.cells[2], line.number, comma=comma)
        before = matrix[here, there]
        if not np.isnan(before) and before != value:
            found = f"{value:g}, and {before:g} on line {first[here, there]}"
            cure = "Leave one distance for each pair."
            faults.add("cost-contrary", "A pair has two distances", cure, line.number, found)
        matrix[here, there] = value
        first.setdefault((here, there), line.number)
    faults.stop()
    number_of = {here: line for (here, _), line in reversed(first.items())}
    return finished(tuple(labels), _with_unlisted(matrix, findings), number_of, faults)


def _with_unlisted(matrix: Matrix, findings: Findings) -> Matrix:
    """Pairs that stand in neither direction, at the largest distance that is listed."""
    absent = np.isnan(matrix) & np.isnan(matrix.T)
    np.fill_diagonal(absent, False)
    if absent.any():
        largest = float(np.nanmax(matrix, initial=0.0))
        matrix[absent] = largest
        findings.note(
            f"{int(absent.sum()) // 2:,} pairs are not listed; they are as far apart as the "
            f"farthest pair that is ({largest:g})."
        )
    return matrix


def finished(
    labels: tuple[str, ...], matrix: Matrix, number_of: dict[int, int], faults: Faults
) -> CostTable:
    """Checks and repairs that are the same however the distances were written.

    Parameters
    ----------
    number_of : dict
        The line of each feature, for refusals.
    """
    _check_diagonal(matrix, labels, number_of, faults)
    faults.stop()
    np.fill_diagonal(matrix, 0.0)
    matrix = _both_halves(matrix, faults.findings)
    pairs = np.argwhere(np.isnan(np.triu(matrix)))
    for here, there in pairs[:1000].tolist():
        found = f"nothing between '{labels[here][:40]}' and '{labels[there][:40]}'"
        cure = "Fill in a distance, at least in one of the two cells."
        faults.add("cost-nan", "A distance is missing", cure, number_of.get(here, 1), found)
    faults.stop()
    largest = float(matrix.max(initial=0.0))
    _check_even(matrix, labels, number_of, ROUNDING * largest, faults)
    if largest == 0:
        cure = "Give distances above 0 between features that differ."
        faults.add("cost-zero", "All distances are 0", cure, number_of.get(0, 1), "only zeros")
    faults.stop()
    with np.errstate(over="ignore"):
        matrix = matrix / 2 + matrix.T / 2
    if largest > 1:
        matrix /= largest
        faults.findings.note(f"All distances were divided by the largest, {largest:g}.")
    return CostTable("matrix", labels, np.minimum(matrix, 1.0), faults.name)


def _both_halves(matrix: Matrix, findings: Findings) -> Matrix:
    """What is missing on one side of the diagonal, from the other side."""
    lower, upper = np.tril(matrix, -1), np.triu(matrix, 1)
    for half, whole in ((lower, upper), (upper, lower)):
        if not half.any() and not np.isnan(whole).any() and whole.any():
            findings.note("One half of the table holds only zeros; it was filled from the other.")
            full: Matrix = whole + whole.T
            return full
    empty = np.isnan(matrix) & ~np.isnan(matrix.T)
    if empty.any():
        findings.note(f"{int(empty.sum()):,} empty cells were filled from the other half.")
    return np.where(empty, matrix.T, matrix)


def _check_diagonal(
    matrix: Matrix, labels: Sequence[str], number_of: dict[int, int], faults: Faults
) -> None:
    diagonal = np.diagonal(matrix)
    bad: Any = np.flatnonzero(~np.isnan(diagonal) & (diagonal != 0))
    alike = len(bad) == len(diagonal) and bool((diagonal == diagonal[0]).all())
    similar = alike and not np.nanmax(matrix) > diagonal[0]
    for place in bad.tolist():
        found = f"{diagonal[place]:g} from '{labels[place][:40]}' to itself"
        what, cure = "A feature is not at distance 0 from itself", "Set the diagonal to 0."
        if similar:
            what = "These are similarities, not distances"
            cure = f"Give distances, for instance {diagonal[0]:g} minus the similarity."
        faults.add("cost-diagonal", what, cure, number_of.get(place, 1), found)


def _check_even(
    matrix: Matrix, labels: Sequence[str], number_of: dict[int, int], slack: float, faults: Faults
) -> None:
    with np.errstate(over="ignore"):
        uneven = np.argwhere(np.triu(np.abs(matrix - matrix.T) > slack))
    for here, there in uneven[:1000].tolist():
        found = (
            f"{matrix[here, there]:g} from '{labels[here][:30]}' to '{labels[there][:30]}', "
            f"{matrix[there, here]:g} back"
        )
        cure = "Give the same distance in both directions, for instance their mean."
        line = max(number_of.get(here, 1), number_of.get(there, 1))
        faults.add("cost-asymmetric", "There and back differ", cure, line, found)
