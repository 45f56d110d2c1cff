"""Cells to tensor: which features stay, what a cell holds, what repeated rows mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.events import Cells
from swiftcore.data.building.similar_names import spelling_key
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, refuse, where_list
from swiftcore.tensor import Mode, SparseTensor

MAX_KEY = 2**62


def build_tensor(cells: Cells, options: BuildOptions, findings: Findings) -> SparseTensor:
    """Count cells into a tensor whose labels are sorted, so that row order never matters.

    Parameters
    ----------
    cells : Cells
        One row per event.
    options : BuildOptions
        `values`, `duplicates`, `min_support`, `top` and `merge_similar_names` are used.
    findings : Findings
        Receives what was left out and how repeated rows were treated.

    Raises
    ------
    InvalidData
        When rows repeat a cell and `duplicates` is "refuse", or nothing is left.
    """
    if options.merge_similar_names:
        cells = _merge_similar_names(cells, findings)
    columns = _sorted_columns([cells.row, *cells.features])
    places, counts = _combined(columns, cells.amount, options.duplicates, findings)
    places, counts = _positive(places, counts, findings)
    kept = _chosen_features(places, columns, options, findings)
    places, counts = places[kept], counts[kept]
    values = cell_values(counts, options.values)
    _check_values(values)
    lost_rows = len(columns[0].labels) - len(np.unique(places[:, 0]))
    findings.leave_out("rows without any remaining feature", lost_rows, columns[0].name)
    places, modes = _closed_up(places, columns)
    places.setflags(write=False)
    values.setflags(write=False)
    return SparseTensor(tuple(modes), places, values)  # sorted, summed and positive already


def nothing_left() -> InvalidData:
    """The refusal of data of which no cell is left."""
    return refuse(
        "nothing-left",
        "No cell is left to build a tensor from",
        "all modes",
        "0 cells",
        "Lower the minimum support or check the columns.",
    )


def _check_values(values: NDArray[np.float64]) -> None:
    if not len(values):
        raise nothing_left()
    if not np.isfinite(values).all():
        raise refuse(
            "value-sum",
            "Values at one cell add up beyond what a number can hold",
            "all modes",
            "an infinite sum",
            "Divide all values by a common unit.",
        )


def _sorted_columns(columns: list[Coded]) -> list[Coded]:
    """Only labels in use, in the order of their text."""
    tidy = []
    for column in columns:
        used = np.zeros(len(column.labels), dtype=bool)
        used[column.codes] = True
        order = sorted(np.flatnonzero(used).tolist(), key=lambda code: column.labels[code])
        rank = np.zeros(len(column.labels), dtype=np.int64)
        rank[order] = np.arange(len(order))
        labels = tuple(column.labels[code] for code in order)
        tidy.append(Coded(column.name, rank[column.codes], labels))
    return tidy


def _combined(
    columns: list[Coded], counts: NDArray[np.float64], duplicates: str, findings: Findings
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """One entry per cell; repeated rows are summed, or the largest kept, or refused."""
    shape = [len(column.labels) for column in columns]
    keys = _cell_numbers(columns, shape)
    whole = bool((counts == np.floor(counts)).all() and counts.sum() < 2**53)
    # sums of whole numbers are exact in any order; fractions are added from small to large
    if duplicates == "sum" and (counts == 1).all():  # the usual table: nothing moves with the keys
        order = keys = np.sort(keys)
    else:
        order = np.argsort(keys, kind="stable") if whole else np.lexsort((counts, keys))
        keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else order
    _report_repeats(order, first, duplicates, findings)
    if len(keys):
        reduce = np.add if duplicates == "sum" else np.maximum
        counts = reduce.reduceat(counts, first)
    keys = keys[first]
    places = np.empty((len(keys), len(shape)), dtype=np.int64)
    for axis in range(len(shape) - 1, 0, -1):
        keys, places[:, axis] = np.divmod(keys, shape[axis])
    places[:, 0] = keys
    return places, counts


def _cell_numbers(columns: list[Coded], shape: list[int]) -> NDArray[np.int64]:
    """One number per row for the cell it names: the cells counted through, last mode fastest."""
    if np.prod([float(size) for size in shape]) > MAX_KEY:
        raise refuse(
            "tensor-large",
            "The tensor has more cells than can be numbered",
            "all modes",
            " x ".join(f"{size:,}" for size in shape),
            "Keep fewer features per mode (top, minimum support).",
        )
    keys = columns[0].codes.copy()
    for column, size in zip(columns[1:], shape[1:], strict=True):
        keys = keys * size + column.codes
    return keys


def _report_repeats(
    order: NDArray[np.int64], first: NDArray[np.int64], duplicates: str, findings: Findings
) -> None:
    """Note rows that name a cell again, or refuse them; ``first`` are places in ``order``."""
    repeated = len(order) - len(first)
    if repeated and duplicates == "refuse":
        again = np.setdiff1d(np.arange(len(order)), first)
        raise refuse(
            "rows-repeat",
            "Rows name the same cell more than once",
            f"rows {where_list(np.sort(order[again]) + 1)}",
            f"{repeated:,} repeated rows",
            "Remove them, or choose to sum them or keep the largest.",
        )
    if repeated:
        how = "their amounts were added" if duplicates == "sum" else "the largest amount was kept"
        findings.note(
            f"{repeated:,} of {len(order):,} events fall into a cell that another event "
            f"fills too; {how}."
        )


def _positive(
    places: NDArray[np.int64], counts: NDArray[np.float64], findings: Findings
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    zero = counts == 0
    findings.leave_out("cells whose value is 0", int(zero.sum()), "the table")
    return (places[~zero], counts[~zero]) if zero.any() else (places, counts)


def _chosen_features(
    places: NDArray[np.int64], columns: list[Coded], options: BuildOptions, findings: Findings
) -> NDArray[np.bool_]:
    """Cells whose features all have support enough and stand among the most frequent."""
    kept = np.ones(len(places), dtype=bool)
    if options.top:
        kept = _among_top(places, columns, options.top, findings)
    rare = [np.zeros(len(column.labels), dtype=bool) for column in columns]
    while options.min_support > 1:  # what goes in one mode may cost support in another
        before = int(kept.sum())
        for axis in range(1, len(columns)):
            support = support_of(places[kept], axis, len(columns[axis].labels))
            low = (support > 0) & (support < options.min_support)
            rare[axis] |= low
            kept &= ~low[places[:, axis]]
        if int(kept.sum()) == before:
            break
    reason = f"features in fewer than {options.min_support} rows"
    for column, low in zip(columns[1:], rare[1:], strict=True):
        findings.leave_out(reason, int(low.sum()), column.name)
    return kept


def _among_top(
    places: NDArray[np.int64], columns: list[Coded], top: int, findings: Findings
) -> NDArray[np.bool_]:
    """Cells all of whose features are among the ``top`` most frequent of their mode."""
    kept = np.ones(len(places), dtype=bool)
    reason = f"features beyond the {top} most frequent"
    for axis in range(1, len(columns)):
        support = support_of(places, axis, len(columns[axis].labels))
        order = np.argsort(-support, kind="stable")
        few = np.ones(len(support), dtype=bool)
        few[order[:top]] = False
        findings.leave_out(reason, int((few & (support > 0)).sum()), columns[axis].name)
        kept &= ~few[places[:, axis]]
    return kept


def support_of(places: NDArray[np.int64], axis: int, size: int) -> NDArray[np.int64]:
    """In how many rows each feature of a mode occurs."""
    pairs = np.sort(places[:, 0] * size + places[:, axis])
    first = np.r_[[True] * bool(len(pairs)), pairs[1:] != pairs[:-1]].astype(bool)
    return np.bincount(pairs[first] % size, minlength=size)


def _closed_up(
    places: NDArray[np.int64], columns: list[Coded]
) -> tuple[NDArray[np.int64], list[Mode]]:
    """Renumber so that every label left has a cell."""
    modes = []
    for axis, column in enumerate(columns):
        used = np.zeros(len(column.labels), dtype=bool)
        used[places[:, axis]] = True
        if not used.all():
            places[:, axis] = (np.cumsum(used) - 1)[places[:, axis]]
        labels = (label for label, use in zip(column.labels, used.tolist(), strict=True) if use)
        modes.append(Mode(column.name, tuple(labels)))
    return places, modes


def cell_values(counts: NDArray[np.float64], values: str) -> NDArray[np.float64]:
    """What a cell holds of its amount: 1, the amount, or the logarithm of 1 + amount."""
    if values == "binary":
        return np.ones_like(counts)
    return np.log1p(counts) if values == "log-count" else counts


def _merge_similar_names(cells: Cells, findings: Findings) -> Cells:
    """One label for names that differ in spelling only; rows (patients) are never merged."""
    merged = []
    for feature in cells.features:
        support = np.bincount(feature.codes, minlength=len(feature.labels))
        best: dict[str, str] = {}
        for code in sorted(range(len(support)), key=lambda c: (-support[c], feature.labels[c])):
            best.setdefault(spelling_key(feature.labels[code]), feature.labels[code])
        alike = len(feature.labels) - len(best)
        if alike:
            findings.note(f"{alike:,} names in {feature.name} were merged with a look-alike.")
        merged.append(feature.relabel([best[spelling_key(label)] for label in feature.labels]))
    return Cells(cells.row, tuple(merged), cells.amount)
