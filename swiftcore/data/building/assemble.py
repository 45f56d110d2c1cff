"""Records or cells to a tensor with its outcome: groups, dropped codes, join, counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.build_tensor import build_tensor
from swiftcore.data.building.code_names import (
    group_cells,
    group_records,
    name_cells,
    name_records,
)
from swiftcore.data.building.doubts import check_doubts, check_modes
from swiftcore.data.building.events import Cells, Records
from swiftcore.data.building.join import by_visit, join_events
from swiftcore.data.building.outcome import Outcome, matches, take_cell_outcome, take_outcome
from swiftcore.data.building.people_and_time import side_of_records
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.side_tables import SideTables
from swiftcore.errors import InvalidData, refuse
from swiftcore.tensor.sparse_tensor import SparseTensor


@dataclass(frozen=True, eq=False)
class Built:
    """What a reader made: the tensor, and what belongs to its rows."""

    tensor: SparseTensor
    outcome: NDArray[Any] | None = None
    outcome_name: str = ""
    row_groups: tuple[str, ...] = ()
    word_counts: Any = None
    words: tuple[str, ...] = ()
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    side: SideTables = field(default_factory=SideTables)


def from_records(records: Records, options: BuildOptions, findings: Findings) -> Built:
    """Outcome, groups, dropped codes, join, tensor; refused where it is doubtful."""
    read = records.events
    check_modes([read[0].subject.name, *(table.name for table in read)], options)
    records = _without_codes(records, options.drop_codes, findings)
    records, outcome = _outcome_and_groups(records, options, findings)
    records = name_records(records, options, findings)
    owners: dict[str, str] = {}
    if options.rows == "visit":
        moved = [by_visit(table) for table in records.events]
        records = replace(records, events=tuple(table for table, _ in moved))
        owners = {visit: who for _, some in moved for visit, who in some.items()}
    cells = join_events(
        records.events,
        options.join,
        options.window_days,
        findings,
        within_visit=records.times_within_visit,
        duplicates=options.duplicates,
    )
    outcome = _of_visits(outcome, owners, findings)
    built = from_cells(cells, outcome, options, findings, owners)
    ids = {table.name: table.subject.labels for table in read}
    kept = built.row_groups or built.tensor.modes[0].labels
    check_doubts(built.tensor, ids, kept, options, findings)
    taken = (*options.outcome_column.split(","), findings.mapping.get("outcome", ""))
    side = side_of_records(records, read, built.tensor, options, owners, taken)
    return replace(built, codes=_hidden_codes(records, built.tensor), side=side)


def _hidden_codes(records: Records, tensor: SparseTensor) -> dict[str, dict[str, str]]:
    """By mode, the code behind every label that does not show it; "icd9:4280" if it is known."""
    codes: dict[str, dict[str, str]] = {}
    for table, mode in zip(records.events, tensor.modes[1:], strict=True):
        kept = set(mode.labels)
        systems = table.system or ("",) * len(table.codes)
        found = {
            label: f"{system}:{code}" if system else code
            for label, code, system in zip(table.feature.labels, table.codes, systems, strict=True)
            if label in kept and code.strip() and (system or code != label)
        }
        if found:
            codes[mode.name] = found
    return codes


def _outcome_and_groups(
    records: Records, options: BuildOptions, findings: Findings
) -> tuple[Records, Outcome | None]:
    """Take the outcome out of the records and put their codes into groups.

    The outcome is looked for among the codes as they stand in the source; only when it is
    not there may it name a group.
    """
    if not (options.code_groups or options.medication_groups):
        return take_outcome(records, options, findings)
    try:
        records, outcome = take_outcome(records, options, findings)
        records = group_records(records, options, findings)
    except InvalidData as error:
        if error.problems[0].code != "outcome-absent":
            raise
        records = group_records(records, options, findings)
        records, outcome = take_outcome(records, options, findings)
    return _without_codes(records, options.drop_codes, findings), outcome


def _of_visits(
    outcome: Outcome | None, owners: dict[str, str], findings: Findings
) -> Outcome | None:
    """The outcome of each visit: that of its patient."""
    if outcome is None or not owners:
        return outcome
    findings.note("The outcome is that of the patient, the same for all visits.")
    known = {visit: outcome.of[who] for visit, who in owners.items() if who in outcome.of}
    return replace(outcome, of=known)


def from_cells(
    cells: Cells,
    outcome: Outcome | None,
    options: BuildOptions,
    findings: Findings,
    owners: dict[str, str] | None = None,
) -> Built:
    """The tensor of the cells whose rows have an outcome (all rows when there is none)."""
    if outcome is not None:
        known = [label in outcome.of for label in cells.row.labels]
        lost = sum(not known[code] for code in np.unique(cells.row.codes))
        findings.leave_out("rows without an outcome", lost, cells.row.name)
        cells = cells.take(cells.row.marked(known))
    if not len(cells):
        raise refuse(
            "nothing-left",
            "No event is left to build a tensor from",
            "all tables",
            "0 events",
            "Check the columns, the outcome and what was left out.",
        )
    tensor = build_tensor(cells, options, findings)
    rows = tensor.modes[0].labels
    groups = tuple(owners[row] for row in rows) if owners else ()
    if outcome is None:
        return Built(tensor, row_groups=groups)
    return Built(tensor, _outcome_array(outcome, rows), outcome.name, groups)


def _outcome_array(outcome: Outcome, rows: tuple[str, ...]) -> NDArray[Any]:
    """The outcome of each row, as bools or as texts; one class alone is refused."""
    values = [outcome.of[row] for row in rows]
    flags = all(isinstance(value, int) for value in values)
    classes = np.array(values, dtype=bool) if flags else np.array([str(v) for v in values])
    if len(np.unique(classes)) < 2:
        raise refuse(
            "outcome-one-class",
            "All rows have the same outcome",
            outcome.name,
            f"only '{classes[0]}'",
            "Choose another outcome, or allow events after it.",
        )
    return classes


def from_long_table(
    cells: Cells, column: Outcome | None, options: BuildOptions, findings: Findings
) -> tuple[Built, Cells]:
    """Outcome, groups, dropped codes, tensor of a table whose rows name all features at once.

    Returns
    -------
    Built
    Cells
        As they entered the tensor.
    """
    check_modes([cells.row.name, *(one.name for one in cells.features)], options)
    cells = _without_cells(cells, options.drop_codes, findings)
    try:
        cells, outcome = take_cell_outcome(cells, column, options, findings)
        cells = group_cells(cells, options, findings)
    except InvalidData as error:
        if error.problems[0].code != "outcome-absent":
            raise
        cells = group_cells(cells, options, findings)
        cells, outcome = take_cell_outcome(cells, column, options, findings)
    cells = _without_cells(cells, options.drop_codes, findings)
    cells = name_cells(cells, options, findings)
    return from_cells(cells, outcome, options, findings), cells


def _without_cells(cells: Cells, codes: tuple[str, ...], findings: Findings) -> Cells:
    if not codes:
        return cells
    gone = np.zeros(len(cells), dtype=bool)
    for feature in cells.features:
        gone |= feature.marked(matches(feature.labels, feature.labels, codes))
    findings.leave_out("rows with a code to be dropped", int(gone.sum()), "the table")
    return cells.take(~gone)


def _without_codes(records: Records, codes: tuple[str, ...], findings: Findings) -> Records:
    events = []
    for table in records.events:
        hit = table.feature.marked(matches(table.codes, table.feature.labels, codes))
        findings.leave_out("events with a code to be dropped", int(hit.sum()), table.name)
        events.append(table.take(~hit) if hit.any() else table)
    return replace(records, events=tuple(events)) if codes else records
