"""What there is to compare features by: the rows, hierarchies of codes, tables people brought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dashboard.session import cache
from dashboard.store.cost_tables import attached_tables
from swiftcore.cost.cosine import cosine_cost
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.cost.outside.mode_cost import outside_cost, unknown_features
from swiftcore.errors import InvalidCost
from swiftcore.spec.cost_text import TABLE

MAX_COMPARED = 1500  # features whose distances are computed at once
COSINE = "cosine"
TITLES = {
    COSINE: "the rows that have them",
    "icd": "ICD: chapters, blocks and digits of the codes",
    "ccs": "CCS: groups of diagnoses",
    "atc": "ATC: groups of medications",
}
KNOWN_FROM = 0.5  # a hierarchy that knows fewer of the features is not offered


def offered_costs(dataset: str, axis: int) -> dict[str, str]:
    """Texts of costs for the features of a mode, each with what to call it."""
    mode = cache.dataset(dataset).tensor.modes[axis].name
    offers = {text: TITLES[text] for text in _hierarchies(str(cache.store().root), dataset, axis)}
    attached = [one for one in cache.store().costs(dataset) if one.mode == mode]
    return {COSINE: TITLES[COSINE], **offers, **{one.text: one.title for one in attached}}


@st.cache_resource(max_entries=32, show_spinner=False)
def _hierarchies(root: str, dataset: str, axis: int) -> tuple[str, ...]:
    found = cache.dataset(dataset)
    mode = found.tensor.modes[axis]
    known = []
    for text in ("icd", "ccs", "atc"):
        try:
            unknown = unknown_features(
                text, mode.labels, codes=found.outside.of_mode(mode.name)
            ).get(text, ())
        except InvalidCost:
            continue
        if len(unknown) <= (1 - KNOWN_FROM) * len(mode):
            known.append(text)
    return tuple(known)


@dataclass(frozen=True, eq=False)
class Compared:
    """Distances between the more frequent features of a mode.

    Attributes
    ----------
    cost : ndarray
    labels : tuple of str
        Most frequent first.
    left_out : int
        How many features are too rare to be shown, or too many to be compared.
    missing : tuple of str
        Those of the labels that the source does not know.
    """

    cost: NDArray[np.float64]
    labels: tuple[str, ...]
    left_out: int
    missing: tuple[str, ...]

    def known(self) -> NDArray[np.int64]:
        """Places of the labels that the source knows."""
        unknown = set(self.missing)
        return np.flatnonzero([label not in unknown for label in self.labels])


def compare_features(
    dataset: str, axis: int, text: str, limit: int, table: CostTable | None = None
) -> Compared:
    """The features of a mode by one cost; raises InvalidCost if it knows none of them.

    Features of fewer rows than the limit could give a person away; of very many features only
    the most frequent are compared.

    Parameters
    ----------
    table : CostTable, optional
        One that is not attached yet.
    """
    root = str(cache.store().root)
    cost, labels, supports, missing = _compared(root, dataset, axis, text, table)
    shown = int((supports[: len(labels)] >= max(limit, 1)).sum())
    kept = labels[:shown]
    unknown = tuple(label for label in kept if label in missing)
    return Compared(cost[:shown, :shown], kept, len(supports) - shown, unknown)


@st.cache_resource(max_entries=8, show_spinner=False)
def _compared(
    root: str, dataset: str, axis: int, text: str, _table: CostTable | None
) -> tuple[NDArray[np.float64], tuple[str, ...], NDArray[np.int64], frozenset[str]]:
    found = cache.dataset(dataset)
    mode = found.tensor.modes[axis]
    rows = cache.presence(dataset, axis).T.tocsr()
    supports = np.diff(rows.indptr)
    order = np.argsort(-supports, kind="stable")
    frequent = order[:MAX_COMPARED]
    labels = tuple(mode.labels[index] for index in frequent)
    made = outside_cost(
        text,
        labels,
        tables=_tables(dataset, text, _table),
        codes=found.outside.of_mode(mode.name),
        from_data=lambda name: cosine_cost(rows[frequent]),
        where=f"the similarity of {mode.name}",
    )
    assert made.matrix is not None  # "none" is not offered here
    missing = frozenset(label for some in made.missing.values() for label in some)
    return made.matrix, labels, supports[order], missing


def _tables(dataset: str, text: str, table: CostTable | None) -> Mapping[str, CostTable]:
    if table is not None:
        return {table.digest: table}
    if TABLE not in text:
        return {}
    attached = [one for one in cache.store().costs(dataset) if one.text == text]
    return {one.digest: one for one in attached_tables(attached)}
