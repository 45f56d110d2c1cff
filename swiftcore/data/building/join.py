"""Put the rows of several tables together per patient, per visit, or within a time window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.events import MINUTES_PER_DAY, Cells, Events
from swiftcore.data.reading.coded import Coded, pair
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse

MAX_PAIRS = 100_000_000


def join_events(
    tables: Sequence[Events],
    how: str,
    window_days: float,
    findings: Findings,
    *,
    within_visit: bool = False,
    duplicates: str = "refuse",
) -> Cells:
    """Every combination of events, one from each table, that belong together.

    An amount is the product of those joined: with plain rows it counts the pairs
    (diagnosis row, medication row) of one patient, visit or window.

    Parameters
    ----------
    tables : sequence of Events
        One per feature mode.
    how : {"patient", "visit", "window"}
        What must agree: the subject; subject and visit; or the subject, with the dates of all
        further tables at most `window_days` from the date in the first.
    within_visit : bool
        Times count from each visit's start, so a window never reaches over two visits.
    duplicates : {"sum", "max", "refuse"}
        Repeated events of one patient or visit are first put together in this way, which
        changes no cell and keeps the join small; "refuse" leaves them for the builder to find.

    Raises
    ------
    InvalidData
        When visits or dates are missing altogether, when no row has a partner, or when the
        join would make more pairs than memory can hold.
    """
    groups, _ = _together([table.subject for table in tables])
    keep = [np.ones(len(table), dtype=bool) for table in tables]
    if how == "visit" or (how == "window" and within_visit):
        groups, keep = _visit_groups(tables, groups, findings)
    if how == "window":
        times, keep = _dated(tables, keep, findings)
        joined = _window_join(groups, times, keep, window_days)
    else:
        if duplicates != "refuse":
            tables, groups, keep = _condensed(tables, groups, keep, duplicates, findings)
        joined = _group_join(groups, keep)
    if not len(joined[0]):
        raise refuse(
            "join-empty",
            "No events belong together",
            " and ".join(table.name for table in tables),
            f"no {'visit' if how == 'visit' else tables[0].subject.name} with all of them, such as "
            + ", ".join(f"{_example(table)} in {table.name}" for table in tables),
            "Check that both tables write the same ids alike"
            + ("." if how == "patient" else ", or join per patient."),
        )
    return _joined_cells(tables, joined, findings)


def _example(table: Events) -> str:
    return f"'{table.subject.labels[table.subject.codes[0]][:40]}'" if len(table) else "nobody"


def by_visit(table: Events) -> tuple[Events, dict[str, str]]:
    """The same events with visits as subjects, and the patient of each visit."""
    both, pairs = pair(table.subject, _visit(table), "visit")
    labels = [visit and f"{who} / {visit}" for who, visit in pairs]
    owners = {label: who for label, (who, _) in zip(labels, pairs, strict=True)}
    return replace(table, subject=both.relabel(labels)), owners


def _together(columns: Sequence[Coded]) -> tuple[list[NDArray[np.int64]], tuple[str, ...]]:
    """The codes of several columns over one common list of labels."""
    place: dict[str, int] = {}
    codes = []
    for column in columns:
        new = [place.setdefault(label, len(place)) for label in column.labels]
        codes.append(np.array(new, dtype=np.int64)[column.codes])
    return codes, tuple(place)


def _visit(table: Events) -> Coded:
    if table.visit is None:
        raise refuse(
            "visit-missing",
            "The table has no visits",
            table.name,
            "no visit column",
            "Name the visit column, or join per patient.",
        )
    return table.visit


def _time(table: Events) -> NDArray[np.float64]:
    if table.time is None:
        raise refuse(
            "date-missing",
            "The table has no dates",
            table.name,
            "no date column",
            "Name the date column, or join per patient.",
        )
    return table.time


def _visit_groups(
    tables: Sequence[Events], subjects: list[NDArray[np.int64]], findings: Findings
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.bool_]]]:
    """One group per subject and visit, and which events name a visit; the others are counted."""
    visits, _ = _together([_visit(table) for table in tables])
    width = 1 + max((int(codes.max(initial=0)) for codes in visits), default=0)
    groups = [who * width + visit for who, visit in zip(subjects, visits, strict=True)]
    keep = [~_visit(table).missing() for table in tables]
    for table, kept in zip(tables, keep, strict=True):
        findings.leave_out("events without a visit", int((~kept).sum()), table.name)
    return groups, keep


def _dated(
    tables: Sequence[Events], keep: list[NDArray[np.bool_]], findings: Findings
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.bool_]]]:
    """The dates of all events, and which of those kept have one; the others are counted."""
    times = [_time(table) for table in tables]
    dated = [~np.isnan(time) for time in times]
    for table, day, kept in zip(tables, dated, keep, strict=True):
        findings.leave_out("events without a date", int((kept & ~day).sum()), table.name)
    return times, [kept & day for kept, day in zip(keep, dated, strict=True)]


def _joined_cells(
    tables: Sequence[Events], joined: list[NDArray[np.int64]], findings: Findings
) -> Cells:
    """One cell per combination: its row, its features and the product of the amounts."""
    subjects, labels = _together([table.subject for table in tables])
    amount = np.ones(len(joined[0]))
    for table, rows in zip(tables, joined, strict=True):
        if table.amount is not None:
            amount = amount * table.amount[rows]
    row = Coded(tables[0].subject.name, subjects[0][joined[0]], labels)
    features = tuple(
        Coded(table.name, table.feature.codes[rows], table.feature.labels)
        for table, rows in zip(tables, joined, strict=True)
    )
    _count_unpartnered(subjects, tables, row, findings)
    return Cells(row, features, amount)


def _count_unpartnered(
    subjects: list[NDArray[np.int64]], tables: Sequence[Events], row: Coded, findings: Findings
) -> None:
    present = np.unique(row.codes)
    for codes, table in zip(subjects, tables, strict=True):
        alone = len(np.setdiff1d(codes, present))
        findings.leave_out("patients without a partner in the other tables", alone, table.name)


def _condensed(
    tables: Sequence[Events],
    groups: list[NDArray[np.int64]],
    keep: list[NDArray[np.bool_]],
    duplicates: str,
    findings: Findings,
) -> tuple[list[Events], list[NDArray[np.int64]], list[NDArray[np.bool_]]]:
    """One event per group and feature, with the sum or the largest of the counts."""
    reduce = np.add if duplicates == "sum" else np.maximum
    new_tables, new_groups = [], []
    for table, group, kept in zip(tables, groups, keep, strict=True):
        rows = np.flatnonzero(kept)
        keys = group[rows] * len(table.feature.labels) + table.feature.codes[rows]
        amount = np.ones(len(rows)) if table.amount is None else table.amount[rows]
        # equal keys from small to large, so that sums do not depend on the order of rows
        order = np.lexsort((amount, keys))
        keys, rows, amount = keys[order], rows[order], amount[order]
        first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else order
        total = reduce.reduceat(amount, first) if len(keys) else amount
        if len(rows) > len(first):
            how = "their amounts were added" if duplicates == "sum" else "the largest was kept"
            findings.note(
                f"{len(rows) - len(first):,} of {len(rows):,} events in {table.name} "
                f"repeat another; {how}."
            )
        new_tables.append(replace(table.take(rows[first]), amount=total))
        new_groups.append(group[rows[first]])
    return new_tables, new_groups, [np.ones(len(group), dtype=bool) for group in new_groups]


def _group_join(
    groups: list[NDArray[np.int64]], keep: list[NDArray[np.bool_]]
) -> list[NDArray[np.int64]]:
    """Row numbers of all combinations that share a group."""
    joined = [np.flatnonzero(keep[0])]
    for axis in range(1, len(groups)):
        right = np.flatnonzero(keep[axis])
        right = right[np.argsort(groups[axis][right], kind="stable")]
        keys = groups[axis][right]
        left = groups[0][joined[0]]
        start, stop = np.searchsorted(keys, left, "left"), np.searchsorted(keys, left, "right")
        joined = _expanded(joined, right, start, stop)
    return joined


def _window_join(
    groups: list[NDArray[np.int64]],
    times: list[NDArray[np.float64]],
    keep: list[NDArray[np.bool_]],
    window_days: float,
) -> list[NDArray[np.int64]]:
    """Row numbers of all combinations in a group whose dates lie within the window."""
    minutes = [
        np.where(kept, np.nan_to_num(time) * MINUTES_PER_DAY, 0.0).round().astype(np.int64)
        for time, kept in zip(times, keep, strict=True)
    ]
    window = round(window_days * MINUTES_PER_DAY)
    low = min(int(part.min(initial=0)) for part in minutes)
    span = max(int(part.max(initial=0)) for part in minutes) - low + 2 * window + 1
    # a group's times occupy a stretch of their own, so one sorted key serves group and time
    _, dense = np.unique(np.concatenate(groups), return_inverse=True)
    parts = np.split(dense, np.cumsum([len(group) for group in groups])[:-1])
    keys = [
        part.astype(np.int64) * span + now - low + window
        for part, now in zip(parts, minutes, strict=True)
    ]
    joined = [np.flatnonzero(keep[0])]
    for axis in range(1, len(keys)):
        right = np.flatnonzero(keep[axis])
        right = right[np.argsort(keys[axis][right], kind="stable")]
        left, ordered = keys[0][joined[0]], keys[axis][right]
        start = np.searchsorted(ordered, left - window, "left")
        stop = np.searchsorted(ordered, left + window, "right")
        joined = _expanded(joined, right, start, stop)
    return joined


def _expanded(
    joined: list[NDArray[np.int64]],
    right: NDArray[np.int64],
    start: NDArray[Any],
    stop: NDArray[Any],
) -> list[NDArray[np.int64]]:
    """Repeat each combination once for every partner in right[start:stop]."""
    counts = stop - start
    total = int(counts.sum())
    if total > MAX_PAIRS:
        raise refuse(
            "join-large",
            "The tables join to too many pairs",
            "joining",
            f"{total:,} pairs",
            "Join per visit or within a shorter window.",
        )
    first = np.repeat(np.arange(len(counts)), counts)
    offset = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    partners = right[start[first] + offset]
    return [*(rows[first] for rows in joined), partners]
