"""Reads from the store, kept in memory under keys that are text and nothing else.

Ids are digests of all that went into a result, so a key never means two things.
What is handed out is shared by all sessions: look, do not write. A reviewer in the middle of a
round is handed fits, data and judgements without what must stay hidden, whatever page asks.

The list of runs changes by itself, so it is kept no longer than one drawing takes. A fragment
that is drawn by itself, and a callback, list the store anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.fit_view.blind import blind_data, blind_fit
from dashboard.fit_view.phenotype_tables import presence as presence_of
from dashboard.fit_view.row_map import RowMap, row_map
from dashboard.fit_view.row_risk import RiskModel, risk_model
from dashboard.fit_view.summary import FEATURES_READ
from dashboard.session import state
from dashboard.store.cards import NEW_ROWS, RunCard, newest_sound, select_runs
from dashboard.store.keeping import note_use
from dashboard.store.mapped import mapped_array, mapped_dataset, mapped_fit, mapped_projection
from dashboard.store.review_file import ReviewsUnavailable
from dashboard.store.reviews import Reviews
from dashboard.store.rounds import Judged, Rounds
from dashboard.store.store import Store, default_root
from swiftcore.definitions.define import Definition, define
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes
from swiftcore.phenotypes.shares import row_shares

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    from dashboard.store.cards import DatasetCard
    from dashboard.store.results import FittedRun, Projection
    from swiftcore.data.dataset import Dataset
    from swiftcore.evaluation.experiments.result import Experiment

KEPT = 8  # results held in memory at once
# During a drawing a list: empty until the runs are asked for, then with one listing of them.
_listing: ContextVar[list[list[RunCard]] | None] = ContextVar("listing", default=None)


def store() -> Store:
    """The store of this server."""
    return _store(str(default_root()))


def reviews() -> Reviews:
    """The judgements kept in the store of this server."""
    return _reviews(str(store().root))


def rounds() -> Rounds:
    """The review rounds kept in the store of this server."""
    return Rounds(reviews())


def is_blind(run: str) -> bool:
    """Whether the person at this screen may not see the outcome of a fit, nor what others said.

    So it is in the middle of a review round on that fit, and on the chosen one: phenotypes of
    two fits of the same data may be the same.
    """
    asked = {run, state.current_run()} - {""}
    return any(rounds().is_open(one, state.reviewer()) for one in asked)


def judged(run: str) -> Judged:
    """What the person at this screen may see of what was said of a run.

    Nothing while the file cannot be read, as is said apart.
    """
    blind_for = state.reviewer() if is_blind(run) else ""
    try:
        return rounds().judged(run, blind_for)
    except ReviewsUnavailable:
        return Judged(blind_for=blind_for)


def reviews_fault(run: str) -> ReviewsUnavailable | None:
    """Why the judgements of a run cannot be read."""
    try:
        reviews().latest(run)
    except ReviewsUnavailable as error:
        return error
    return None


def dataset(identifier: str) -> Dataset:
    """A stored data set; without its outcome for a reviewer in the middle of a round."""
    read = _blind_dataset if is_blind(state.current_run()) else _dataset
    return read(str(store().root), identifier)


def card(identifier: str) -> DatasetCard:
    """What a list says about a data set."""
    return store().card(identifier)


def datasets() -> dict[str, DatasetCard]:
    """The data sets to choose from, newest first; new rows described by a fit are none."""
    cards = store().datasets()
    return {card.id: card for card in cards if card.role != NEW_ROWS}


def fit(run: str) -> FittedRun:
    """A finished fit; without its links to the outcome for a reviewer in the middle of a round."""
    note_use(store().root, run)
    found = _fit(str(store().root), run)
    return blind_fit(found) if is_blind(run) else found


def experiment(run: str) -> Experiment:
    """A finished experiment."""
    note_use(store().root, run)
    return _experiment(str(store().root), run)


def projection(run: str) -> Projection:
    """Finished memberships of new rows."""
    note_use(store().root, run)
    return _projection(str(store().root), run)


@contextmanager
def one_listing() -> Iterator[None]:
    """Within it the runs are listed once, however many parts of a screen ask for them.

    Whoever changes a run while drawing calls ``st.rerun``, which draws from a new list.
    """
    if _listing.get() is not None:
        yield
        return
    token = _listing.set([])
    try:
        yield
    finally:
        _listing.reset(token)


def runs(dataset_id: str | None = None, kind: str | None = None) -> list[RunCard]:
    """Runs and jobs, newest first, perhaps of one data set or one kind."""
    listing = _listing.get()
    if listing is None:
        return store().runs(dataset_id, kind)
    if not listing:
        listing.append(store().runs())
    return select_runs(listing[0], dataset_id, kind)


def latest(dataset_id: str, kind: str, run: str = "") -> RunCard | None:
    """The newest sound result of a kind; with ``run``, of those that belong to that fit."""
    return newest_sound(runs(dataset_id), kind, run)


def latest_experiment(dataset_id: str, kind: str, run: str = "") -> Experiment | None:
    """The newest finished experiment of a kind, if there is one."""
    found = latest(dataset_id, kind, run)
    return experiment(found.id) if found else None


def phenotypes(run: str, frequency_weight: float = 1.0) -> list[Phenotype]:
    """The phenotypes of a fit, the largest first, each with its top features."""
    return _phenotypes(str(store().root), run, f"{frequency_weight:.2f}")


def shares(run: str) -> NDArray[np.float64]:
    """Rows x phenotypes of a fit: which part of each row is which phenotype."""
    return _shares(str(store().root), run)


def plane(run: str) -> RowMap:
    """The rows of a fit on a plane, perhaps a part of them."""
    return _plane(str(store().root), run)


def risk(run: str, dataset_id: str) -> RiskModel | None:
    """The model behind the links of a fit to its outcome, if there is one."""
    return _risk(str(store().root), run, dataset_id)


def presence(dataset_id: str, axis: int) -> sparse.csr_array:
    """Which row of a data set has which feature of a mode."""
    return _presence(str(store().root), dataset_id, str(axis))


def definition(
    run: str, dataset_id: str, phenotype: str, features: tuple[tuple[str, ...], ...]
) -> Definition:
    """The best balanced rule over some features of a phenotype; raises SwiftError without one."""
    return _definition(str(store().root), run, dataset_id, phenotype, features)


@st.cache_resource(show_spinner=False)
def _store(root: str) -> Store:
    return Store(root)


@st.cache_resource(show_spinner=False)
def _reviews(root: str) -> Reviews:
    found = Reviews(root)
    if found.copies.is_behind():  # what an earlier version wrote has no copy yet
        found.keep_copy()
    return found


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _dataset(root: str, identifier: str) -> Dataset:
    found = _store(root)
    return mapped_dataset(found.dataset(identifier), found.temporary)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _blind_dataset(root: str, identifier: str) -> Dataset:
    return blind_data(_dataset(root, identifier))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _fit(root: str, run: str) -> FittedRun:
    found = _store(root)
    return mapped_fit(found.fit(run), found.temporary)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _projection(root: str, run: str) -> Projection:
    found = _store(root)
    return mapped_projection(found.projection(run), found.temporary)


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False)
def _experiment(root: str, run: str) -> Experiment:
    return _store(root).experiment(run)


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False)
def _phenotypes(root: str, run: str, frequency_weight: str) -> list[Phenotype]:
    fitted = _fit(root, run)
    return describe_phenotypes(
        fitted.factors,
        fitted.modes,
        FEATURES_READ,
        frequency_weight=float(frequency_weight),
        agreement=fitted.agreement,
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _shares(root: str, run: str) -> NDArray[np.float64]:
    return mapped_array(row_shares(_fit(root, run).factors), _store(root).temporary)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _plane(root: str, run: str) -> RowMap:
    return row_map(_shares(root, run))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _risk(root: str, run: str, dataset_id: str) -> RiskModel | None:
    fitted, outcome = _fit(root, run), _dataset(root, dataset_id).outcome
    if fitted.links is None or outcome is None:
        return None
    return risk_model(fitted.factors[0], outcome, fitted.links)


@st.cache_resource(max_entries=2 * KEPT, show_spinner=False)
def _presence(root: str, dataset_id: str, axis: str) -> sparse.csr_array:
    return presence_of(_dataset(root, dataset_id).tensor, int(axis))


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False)
def _definition(
    root: str, run: str, dataset_id: str, phenotype: str, features: tuple[tuple[str, ...], ...]
) -> Definition:
    chosen = next(one for one in phenotypes(run) if one.identifier == phenotype)
    return define(chosen, _dataset(root, dataset_id), features)
