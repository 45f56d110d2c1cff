"""Whole fits on the workers of a cluster: one task each, for fits that do not come in parts.

A fit whose rows all exchange mass cannot be cut, but several of them (those behind a consensus)
are computed side by side, one on each thread of a worker. What they have in common is sent only
once; the worker tells of every iteration and looks now and then whether it is to stop.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from swiftcore.cluster.connection import alive
from swiftcore.cluster.crew import PAUSE, Crew
from swiftcore.fit_job import FitJob
from swiftcore.progress import FitProgress, ProgressCallback


@dataclass
class _Reports:
    """In a worker: tells of iterations, and whether somebody asked to stop.

    The topic is the key of the task as well.
    """

    topic: str
    looked: float = field(default_factory=time.monotonic)
    stop: bool = False

    def __call__(self, progress: FitProgress) -> bool:
        import distributed

        dask: Any = distributed  # no types
        worker = dask.get_worker()
        worker.log_event(self.topic, {"progress": asdict(progress)})
        task = worker.state.tasks.get(self.topic)
        if task is None or task.state == "cancelled":  # nobody is there any more
            return True
        if time.monotonic() > self.looked + PAUSE:
            self.stop = dask.Event(self.topic).is_set()
            self.looked = time.monotonic()
        return self.stop


def run_job(job: tuple[Any, ...], begin: Mapping[str, Any], topic: str) -> Any:
    """A fit, in the process of a worker."""
    return FitJob(*job).run(1, begin=begin, callback=_Reports(topic))


class WholeFits(Crew):
    """Sends fits to the workers of a cluster and waits for them."""

    def job(self, job: FitJob) -> FitJob:
        """The same fit, to be computed there."""
        return replace(job, elsewhere=self.run)

    def run(self, job: FitJob, begin: Mapping[str, Any], callback: ProgressCallback | None) -> Any:
        """The fitted estimator; when the callback asks to stop, as far as it came."""
        import distributed

        dask: Any = distributed  # no types
        topic, said = f"swift-fit-{uuid4().hex}", _Said(callback)
        asked = dask.Event(topic, client=self.client)
        self.client.subscribe_topic(topic, said.hear)
        made_of = (job.spec, self.sent(job.tensor), self.sent(job.costs), job.labels)
        future = self.submit(run_job, made_of, dict(begin), topic, key=topic)

        def meanwhile() -> None:
            if said.tell():
                asked.set()

        try:
            model = self.taken(self.wait(future, meanwhile))
        finally:
            if alive(self.client):
                self.client.unsubscribe_topic(topic)
        said.tell()
        return model


class _Said:
    """What a worker has told of its fit; of a fit begun anew after a loss only what is new."""

    def __init__(self, callback: ProgressCallback | None) -> None:
        self._callback, self._last = callback, -1
        self._heard: SimpleQueue[Mapping[str, Any]] = SimpleQueue()

    def hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """Called by the client's own thread."""
        self._heard.put(event[1]["progress"])

    def tell(self) -> bool:
        """Pass on what was heard; whether somebody wants the fit to stop."""
        stop = False
        with suppress(Empty):
            while True:
                progress = FitProgress(**self._heard.get_nowait())
                if progress.iteration > self._last and self._callback is not None:
                    stop = bool(self._callback(progress)) or stop
                self._last = max(self._last, progress.iteration)
        return stop
