"""A table of any layout in its long form: one event per entry, one kind of event per mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.event_table import event_days
from swiftcore.data.building.events import Events
from swiftcore.data.building.layouts.feature_columns import FeatureGroup, is_no
from swiftcore.data.building.layouts.profile import YES, is_blank, list_entries
from swiftcore.data.building.layouts.table_reading import TableReading
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded, number_of, numbers
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable

Entries = list[tuple[str, float]]  # features that a cell names, with their amounts


def melted(
    table: TextTable, reading: TableReading, who: str, options: BuildOptions, findings: Findings
) -> list[Events]:
    """The events of a wide, one-hot, listed or long table, one table of events per mode.

    Parameters
    ----------
    who : str
        What the rows of the tensor are called.
    """
    ids = table.coded(reading.roles.row)
    ids = Coded(who, ids.codes, ids.labels)
    if reading.domain:
        events = _by_domain(table, reading, ids, findings)
    else:
        events = [_of_group(table, group, ids) for group in reading.groups]
    time = event_days(table, reading.roles, options, findings)
    visit = table.coded(reading.roles.visit) if reading.roles.visit else None
    found = []
    for name, rows, feature, amount in events:
        made = Events(
            name,
            ids.take(rows),
            feature,
            feature.labels,
            (),
            None if visit is None else visit.take(rows),
            None if time is None else time[rows],
            None if (amount == 1).all() else amount,
        )
        found.append(made.usable(findings, table.name))
    return found


Long = tuple[str, NDArray[np.int64], Coded, NDArray[np.float64]]


def _of_group(table: TextTable, group: FeatureGroup, ids: Coded) -> Long:
    """Rows, features and amounts of all columns of a group."""
    place: dict[str, int] = {}
    rows, codes, amounts = [], [], []
    for number, name in enumerate(group.columns):
        entries = _reader(group, number)
        column = table.coded(name)
        each = [entries(label) for label in column.labels]
        size = np.array([len(one) for one in each], dtype=np.int64)
        flat = [place.setdefault(text, len(place)) for one in each for text, _ in one]
        start = np.cumsum(size) - size
        here = size[column.codes]
        which = np.repeat(start[column.codes], here) + _steps(here)
        rows.append(np.repeat(np.arange(len(column)), here))
        codes.append(np.array(flat, dtype=np.int64)[which])
        amounts.append(np.array([n for one in each for _, n in one], dtype=np.float64)[which])
    feature = Coded(group.name, np.concatenate(codes), tuple(place))
    return group.name, np.concatenate(rows), feature, np.concatenate(amounts)


def _steps(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... up to each size in turn."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _reader(group: FeatureGroup, number: int) -> Callable[[str], Entries]:
    """How a cell of one column is read."""
    if group.layout == "onehot":
        feature = group.labels[number]
        return lambda text: [(feature, amount)] if (amount := _amount(text)) > 0 else []
    separator = group.separators[number] if group.separators else ""
    if separator:
        return lambda text: [(one, 1.0) for one in list_entries(text, separator)]
    return lambda text: [] if is_blank(text) else [(text, 1.0)]


def _amount(text: str) -> float:
    """How much of its feature a one-hot cell says: a number, or 1 for a yes or a grade."""
    plain = text.strip().lower()
    if is_blank(text) or is_no(text):
        return 0.0
    number = number_of(plain)
    return 1.0 if plain in YES or not np.isfinite(number) else max(number, 0.0)


def _by_domain(
    table: TextTable, reading: TableReading, ids: Coded, findings: Findings
) -> list[Long]:
    """The lines of a long table by what their domain says."""
    feature = table.coded(reading.roles.features[0])
    domain = table.coded(reading.domain)
    amount = np.ones(len(ids))
    if reading.roles.value:
        amount = numbers(table.coded(reading.roles.value), table.name, findings)
        blank = np.isnan(amount)
        findings.leave_out("rows without a value", int(blank.sum()), table.name)
        amount = np.where(blank, 0.0, amount)
    unknown = domain.missing()
    findings.leave_out(f"rows without an entry in {domain.name}", int(unknown.sum()), table.name)
    found = []
    for code, name in enumerate(domain.labels):
        rows = np.flatnonzero((domain.codes == code) & ~unknown & (amount > 0))
        if len(rows):
            part = Coded.from_texts(name, [feature.labels[at] for at in feature.codes[rows]])
            found.append((name.strip(), rows, part, amount[rows]))
    return sorted(found, key=lambda one: one[0])


def what_was_melted(table: str, reading: TableReading) -> str:
    """A sentence that names the layout and what became of it."""
    if reading.domain:
        return (
            f"{table} is a long table: every line names one {reading.roles.features[0]}, and "
            f"{reading.domain} says of what kind. If that is wrong, set columns.features."
        )
    parts = [_described(group) for group in reading.groups]
    return f"{table} was melted: {'; '.join(parts)}. If that is wrong, set layout=long."


def _described(group: FeatureGroup) -> str:
    looks = {
        "wide": "numbered columns (wide)",
        "lists": "lists in a cell",
        "onehot": "columns of yes and no (one-hot)",
    }
    columns: Sequence[str] = group.columns
    shown = columns[0] if len(columns) == 1 else f"{columns[0]} ... {columns[-1]}"
    return f"{looks[group.layout]} {shown} became '{group.name}'"
