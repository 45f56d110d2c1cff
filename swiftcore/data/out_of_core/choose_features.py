"""Which features stay: the same rules as for small tables, over drafts on the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.build_tensor import support_of
from swiftcore.data.options import BuildOptions
from swiftcore.data.out_of_core.drafts import Draft
from swiftcore.data.reading.findings import Findings
from swiftcore.tensor import Mode

Kept = list[NDArray[np.bool_]]  # for every feature mode, which of its features stay


def kept_cells(
    draft: Draft, people: NDArray[np.bool_], kept: Kept
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The cells of a draft whose person and features stay; persons count from 0."""
    places, amounts = draft.read()
    stays = people[places[:, 0]] & (amounts > 0)
    for axis, features in enumerate(kept, start=1):
        stays &= features[places[:, axis]]
    chosen = places[stays].astype(np.int64)
    return chosen, amounts[stays]


def _n_empty(drafts: Sequence[Draft], people: NDArray[np.bool_]) -> int:
    """Cells whose amounts add up to 0."""
    read = (draft.read() for draft in drafts)
    return sum(int((people[places[:, 0]] & (amounts == 0)).sum()) for places, amounts in read)


def choose_features(
    drafts: Sequence[Draft],
    people: NDArray[np.bool_],
    modes: Sequence[Mode],
    options: BuildOptions,
    findings: Findings,
) -> Kept:
    """Features that have support enough, stand among the most frequent, and are used at all."""
    kept = [np.ones(len(mode), dtype=bool) for mode in modes]

    def support(axis: int) -> NDArray[np.int64]:
        """In how many rows each feature of a mode occurs, by what is kept so far."""
        found = np.zeros(len(modes[axis]), dtype=np.int64)
        for draft in drafts:
            places, _ = kept_cells(draft, people, kept)
            found += support_of(places, axis + 1, len(found))
        return found

    findings.leave_out("cells whose value is 0", _n_empty(drafts, people), "the table")
    if options.top:
        _keep_top(kept, support, modes, options.top, findings)
    _drop_rare(kept, support, modes, options.min_support, findings)
    for axis in range(len(modes)):
        kept[axis] = support(axis) > 0
    return kept


def _keep_top(
    kept: Kept,
    support: Callable[[int], NDArray[np.int64]],
    modes: Sequence[Mode],
    top: int,
    findings: Findings,
) -> None:
    """All modes are ranked before any feature goes."""
    ranked = [support(axis) for axis in range(len(modes))]
    for axis, found in enumerate(ranked):
        few = np.ones(len(found), dtype=bool)
        few[np.argsort(-found, kind="stable")[:top]] = False
        beyond = int((few & (found > 0)).sum())
        findings.leave_out(f"features beyond the {top} most frequent", beyond, modes[axis].name)
        kept[axis] &= ~few


def _drop_rare(
    kept: Kept,
    support: Callable[[int], NDArray[np.int64]],
    modes: Sequence[Mode],
    least: int,
    findings: Findings,
) -> None:
    """What goes in one mode may cost support in another, so this is done until nothing goes."""
    rare = [0] * len(modes)
    went = least > 1
    while went:
        went = False
        for axis in range(len(modes)):
            found = support(axis)
            low = (found > 0) & (found < least)
            rare[axis] += int(low.sum())
            kept[axis] &= ~low
            went = went or bool(low.any())
    for axis, count in enumerate(rare):
        findings.leave_out(f"features in fewer than {least} rows", count, modes[axis].name)
