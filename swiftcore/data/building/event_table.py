"""A table of one's own: every row names a row of the tensor and its features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.column_roles import ColumnRoles
from swiftcore.data.building.events import Cells
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded, days, numbers
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import where_list


def read_cells(
    table: TextTable, roles: ColumnRoles, options: BuildOptions, findings: Findings
) -> tuple[Cells, dict[str, str], str]:
    """One long table to cells: each row names a row of the tensor and its features.

    Returns
    -------
    Cells
        The usable rows; the others are counted.
    dict of str to str
        The outcome of each row id (empty when there is no outcome column).
    str
        Name of the outcome column.
    """
    _check_roles(table, roles, options, findings)
    row = table.coded(roles.row)
    features = tuple(table.coded(column) for column in roles.features)
    bad = _unnamed(table.name, row, features, findings)
    amount = _amounts(table, roles.value, bad, findings)
    bad |= np.isnan(amount)
    outcome = _row_outcome(row, table, roles.outcome, findings) if roles.outcome else {}
    findings.stop_if_problems()
    _note_unused(table, roles, findings)
    if len(row.labels) == table.n_rows > 1:
        findings.note(f"Every {roles.row} has one row only; a table of events has several.")
    cells = Cells(row, features, amount, event_days(table, roles, options, findings))
    findings.stop_if_problems()
    return (cells.take(~bad) if bad.any() else cells), outcome, roles.outcome


def _check_roles(
    table: TextTable, roles: ColumnRoles, options: BuildOptions, findings: Findings
) -> None:
    """Note the roles; a table without row ids or features is refused."""
    findings.mapping.update(roles.described())
    if options.rows == "visit":
        findings.problem(
            "rows-visit",
            "Visits as rows need several tables, or one of which they are the rows",
            table.name,
            "rows=visit",
            f"Leave it out and name the visits: columns.row={roles.row},{roles.visit or 'VISIT'}. "
            "Which visits are of one patient is then not known to the folds.",
        )
    if not findings.problems and not (roles.features and roles.row):
        findings.problem(
            "features-missing",
            "No column can serve as a feature",
            table.name,
            f"columns {where_list(table.columns, 12)}",
            "Say which columns are the row and the features (columns.row, columns.features), or "
            "which holds the text of documents (columns.text).",
        )
    findings.stop_if_problems()


def _unnamed(
    table: str, row: Coded, features: tuple[Coded, ...], findings: Findings
) -> NDArray[np.bool_]:
    """Rows that lack a usable name of their row or of a feature, counted by reason."""
    bad = row.missing()
    findings.leave_out("rows without a row id", int(bad.sum()), table)
    for feature in features:
        empty = feature.missing() & ~bad
        findings.leave_out(f"rows without an entry in {feature.name}", int(empty.sum()), table)
        bad |= empty
    odd = np.any([column.unusable() for column in (row, *features)], axis=0) & ~bad
    findings.leave_out(
        "rows whose name holds a line break or is too long (a stray quote?)",
        int(odd.sum()),
        table,
    )
    return np.asarray(bad | odd)


def _amounts(
    table: TextTable, column: str, bad: NDArray[np.bool_], findings: Findings
) -> NDArray[np.float64]:
    """The value of each row, 1 without a value column; NaN where it is empty, which is counted."""
    if not column:
        return np.ones(table.n_rows)
    amount = numbers(table.coded(column), table.name, findings)
    blank = np.isnan(amount) & ~bad
    findings.leave_out(f"rows without a value in {column}", int(blank.sum()), table.name)
    return amount


def event_days(
    table: TextTable, roles: ColumnRoles, options: BuildOptions, findings: Findings
) -> NDArray[np.float64] | None:
    """The day of each row, where a column holds dates."""
    if not roles.date:
        return None
    return days(table.coded(roles.date), table.name, options.date_order, findings)


def _row_outcome(row: Coded, table: TextTable, column: str, findings: Findings) -> dict[str, str]:
    values = table.coded(column)
    pairs = np.unique(np.stack([row.codes, values.codes], axis=1), axis=0)
    filled = np.array([bool(values.labels[value].strip()) for value in pairs[:, 1]], dtype=bool)
    pairs = pairs[filled]
    twice = pairs[1:, 0][pairs[1:, 0] == pairs[:-1, 0]]
    if len(twice):
        rows = np.flatnonzero(np.isin(row.codes, twice)) + 1
        findings.problem(
            "outcome-conflict",
            "One row id has two outcomes",
            f"{table.name}, rows {where_list(rows)}",
            f"{len(np.unique(twice)):,} ids with more than one value in {column}",
            "Give every row id one outcome, or set another column.",
        )
    return {row.labels[who]: values.labels[value] for who, value in pairs}


def _note_unused(table: TextTable, roles: ColumnRoles, findings: Findings) -> None:
    used = {roles.row, *roles.features, roles.value, roles.outcome, roles.date, roles.visit}
    unused = [column for column in table.columns if column not in used]
    if unused:
        findings.note(f"Columns of {table.name} that are no features: {where_list(unused, 8)}.")
