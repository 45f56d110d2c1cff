"""One's own hierarchy: a table with the columns child and parent.

Rules. Every child has one parent; an empty parent makes it a root, and so does a parent that
is nobody's child. The same line twice counts once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swiftcore.cost.outside.cost_lines import Faults, Line
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.data.reading.findings import Findings

MAX_PLACES = 200_000
MAX_LEVELS = 100  # the ICD has 7, the ATC 5
CHILD = frozenset({"child", "code", "feature", "label", "node"})
PARENT = frozenset({"parent", "parents", "above", "broader"})


def is_header(cells: Sequence[str]) -> bool:
    """Whether a first line names a column for the child and one for the parent."""
    names = {cell.lower() for cell in cells}
    return bool(names & CHILD) and bool(names & PARENT)


def read_parents(lines: Sequence[Line], name: str, findings: Findings) -> CostTable:
    """The hierarchy, every child below one parent and nobody below themselves."""
    faults = Faults(name, findings)
    header = [cell.lower() for cell in lines[0].cells]
    child_at, parent_at = (
        next(place for place, cell in enumerate(header) if cell in known)
        for known in (CHILD, PARENT)
    )
    above: dict[str, str] = {}
    line_of: dict[str, int] = {}
    for line in lines[1:]:
        if len(line.cells) != len(header):
            found, cure = f"{len(line.cells)} cells", f"Write {len(header)} cells on every line."
            faults.add("cost-ragged", "A line does not fit the header", cure, line.number, found)
            continue
        child, parent = line.cells[child_at], line.cells[parent_at]
        _add(child, parent, line.number, above, line_of, faults)
    if not _has_cycles(above, line_of, faults):
        _check_levels(above, line_of, faults)
    labels = list(dict.fromkeys([*above, *(parent for parent in above.values() if parent)]))
    if len(labels) > MAX_PLACES:
        found = f"{len(labels):,} places; the limit is {MAX_PLACES:,}"
        cure = "Keep the features of your data and what is above them."
        faults.add("cost-large", "The hierarchy is too large", cure, lines[-1].number, found)
    if not faults.findings.problems and not any(above.values()):
        cure = "Give at least one feature with a parent."
        faults.add("cost-flat", "Nobody has a parent", cure, lines[0].number, "no parents")
    faults.stop()
    place = {label: index for index, label in enumerate(labels)}
    parents = [place.get(above.get(label, ""), -1) for label in labels]
    return CostTable("parents", tuple(labels), np.array(parents, dtype=np.int64), name)


def _add(
    child: str,
    parent: str,
    line: int,
    above: dict[str, str],
    line_of: dict[str, int],
    faults: Faults,
) -> None:
    if not child:
        faults.add("cost-label", "A label is empty", "Name every child.", line, "nothing")
    elif child == parent:
        cure = "Leave the parent of a root empty."
        found = f"'{child[:60]}'"
        faults.add("cost-self-parent", "A feature is its own parent", cure, line, found)
    elif child in above and above[child] != parent:
        found = f"'{child[:40]}' below '{parent[:40]}', and '{above[child][:40]}' on line "
        cure = "Leave one parent for each child."
        found += str(line_of[child])
        faults.add("cost-two-parents", "A child has two parents", cure, line, found)
    elif child not in above:
        above[child] = parent
        line_of[child] = line


def _has_cycles(above: dict[str, str], line_of: dict[str, int], faults: Faults) -> bool:
    """Whether there are circles; each is noted once, by the line of its first child."""
    found_any = False
    done: set[str] = set()
    for start in above:
        way: dict[str, None] = {}
        child = start
        while child in above and child not in done and child not in way:
            way[child] = None
            child = above[child]
        if child in way:
            circle = list(way)[list(way).index(child) :]
            found = " -> ".join(f"'{one[:20]}'" for one in [*circle[:5], child])
            first = min(circle, key=lambda one: line_of[one])
            cure = "Remove one of these lines, so that the way up ends."
            faults.add("cost-cycle", "The way up goes in a circle", cure, line_of[first], found)
            found_any = True
        done.update(way)
    return found_any


def _check_levels(above: dict[str, str], line_of: dict[str, int], faults: Faults) -> None:
    """The first way up that is too long; there are no circles."""
    levels = {"": 0}
    for start in above:
        way = []
        child = start
        while child not in levels:
            way.append(child)
            child = above.get(child, "")
        for child in reversed(way):
            levels[child] = levels[above.get(child, "")] + 1
        if levels[start] > MAX_LEVELS:
            found = f"{levels[start]:,} levels above '{start[:60]}'; the limit is {MAX_LEVELS}"
            cure = "Leave out what tells nothing apart."
            faults.add("cost-deep", "The way up is too long", cure, line_of[start], found)
            return
