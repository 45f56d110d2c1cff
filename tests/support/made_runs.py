"""Real results without waiting for a process: computed here, then published as a worker does."""

from __future__ import annotations

import time
from typing import Any

from dashboard.jobs.progress_reporter import ProgressReporter
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset


class Unfollowed(ProgressReporter):
    """Nobody watches and nobody stops it."""

    def __init__(self) -> None:
        pass

    def note(self, what: str, progress: Any = None) -> bool:
        return False


def computed(store: Store, request: Request) -> str:
    """The run id of a request, computed in this process."""
    from dashboard.jobs.compute import compute

    newest = max((run.created for run in store.runs()), default=time.time())
    return store.publish_run(request, compute(store, request, Unfollowed()), newest + 1, 1.0)


def fitted(store: Store, dataset: Dataset, *, synthetic: bool = False, **settings: Any) -> str:
    """The run id of a fit of a data set that is put into the store first."""
    identifier = store.add_dataset(dataset, synthetic=synthetic)
    return computed(store, Request("fit", identifier, {"rank": 3, **settings}))
