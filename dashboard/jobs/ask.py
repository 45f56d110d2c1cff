"""From a terminal to a store: keep the data, ask, watch, and get the answer the pages show.

The answer comes from the store's own worker, which waits for its turn like any other, so that a
dashboard may run meanwhile and the result is the one that it would have computed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from dashboard.jobs import jobs
from dashboard.store.cards import NEW_ROWS, DatasetCard, RunCard, RunState
from dashboard.store.dataset_files import dataset_id
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.errors import SwiftError, refuse

LOOK = 0.2  # seconds between two looks at a job
Watch = Callable[[RunCard], bool]
"""Gets a run that is under way now and then; returns True to stop it."""


class NoAnswer(SwiftError):
    """The computation ended without a result."""


@dataclass(frozen=True)
class Answer:
    """A finished run, and whether it was there before anybody asked."""

    run: str
    from_store: bool


def keep_data(store: Store, dataset: Dataset, *, synthetic: bool) -> str:
    """The id of the data in the store, where they may have another name; added if they are new."""
    for card in store.datasets():
        if _is_same(card, dataset):
            return card.id
    return store.add_dataset(dataset, synthetic=synthetic)


def ask(store: Store, request: Request, watch: Watch) -> Answer | None:
    """The answer to a request, stored or computed now; None if it was stopped.

    What somebody else has started is only watched: it goes on when this is stopped.

    Raises
    ------
    NoAnswer
        If the computation failed, with its reason.
    SwiftError
        If it cannot be started; see :func:`dashboard.jobs.jobs.start`.
    """
    run_id = request.key()
    if store.is_finished(run_id):
        return Answer(run_id, from_store=True)
    job = store.job(run_id)
    mine = not (job.exists and job.state().state.active)
    jobs.start(store, request)
    while (card := store.run(run_id)).state.active:
        if watch(card):
            card = jobs.cancel(store, run_id) if mine else card
            break
        time.sleep(LOOK)
    if card.state is RunState.DONE:
        return Answer(run_id, from_store=False)
    if card.state.active or card.state is RunState.CANCELLED:
        return None
    raise refuse(
        "run-failed",
        "The computation ended without a result",
        f"run {run_id[:8]}",
        card.message.rstrip("."),
        "Fix that, then give the same command again.",
        kind=NoAnswer,
    )


def _is_same(card: DatasetCard, dataset: Dataset) -> bool:
    sizes = (card.shape, card.entries) == (dataset.tensor.shape, dataset.tensor.n_entries)
    usable = sizes and not card.damaged and card.role != NEW_ROWS
    return usable and dataset_id(replace(dataset, name=card.name)) == card.id
