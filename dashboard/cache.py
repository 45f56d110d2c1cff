"""Reads from the store, kept in memory under keys that are text and nothing else.

Ids are digests of all that went into a result, so a key never means two things.
What is handed out is shared by all sessions: look, do not write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.runs.reviews import Reviews
from dashboard.runs.store import Store, default_root

if TYPE_CHECKING:
    from dashboard.runs.store import DatasetCard, FittedRun
    from swiftcore.data.dataset import Dataset
    from swiftcore.evaluation.experiment import Experiment

KEPT = 8  # results held in memory at once


def store() -> Store:
    """The store of this server."""
    return _store(str(default_root()))


def reviews() -> Reviews:
    """The judgements kept in the store of this server."""
    return Reviews(store().root)


def dataset(identifier: str) -> Dataset:
    """A stored data set."""
    return _dataset(str(store().root), identifier)


def card(identifier: str) -> DatasetCard:
    """What a list says about a data set."""
    return store().card(identifier)


def fit(run: str) -> FittedRun:
    """A finished fit."""
    return _fit(str(store().root), run)


def experiment(run: str) -> Experiment:
    """A finished experiment."""
    return _experiment(str(store().root), run)


def latest_experiment(dataset_id: str, kind: str, run: str = "") -> Experiment | None:
    """The newest finished experiment of a kind, if there is one."""
    found = store().latest(dataset_id, kind, run)
    return experiment(found.id) if found else None


@st.cache_resource(show_spinner=False)
def _store(root: str) -> Store:
    return Store(root)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _dataset(root: str, identifier: str) -> Dataset:
    return _store(root).dataset(identifier)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _fit(root: str, run: str) -> FittedRun:
    return _store(root).fit(run)


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False)
def _experiment(root: str, run: str) -> Experiment:
    return _store(root).experiment(run)
