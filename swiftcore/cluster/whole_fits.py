"""Whole fits on the workers of a cluster: one task each, for fits that do not come in parts.

A fit whose rows all exchange mass cannot be cut, but several of them (those behind a consensus)
are computed side by side, one on each worker. What they have in common is sent only once.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

from swiftcore.fit_job import FitJob

PAUSE = 0.2  # seconds between two looks at a fit
Worker = tuple[str, int]


def run_there(
    spec: Any, tensor: Any, costs: Any, labels: Any, begin: Mapping[str, Any]
) -> tuple[Any, Worker]:
    """A fit in the process of a worker, and which process that was."""
    model = FitJob(spec, tensor, costs, labels).run(1, begin=begin)
    return model, (socket.gethostname(), os.getpid())


class WholeFits:
    """Sends fits to the workers of a cluster and waits for them; may be asked from threads.

    Parameters
    ----------
    client : distributed.Client
    stop : callable
        Whether somebody asked to stop.

    Attributes
    ----------
    workers : set of (host, process id)
        Who has computed.
    """

    def __init__(self, client: Any, stop: Callable[[], bool] = lambda: False) -> None:
        self._client, self._stop = client, stop
        self._sent: dict[int, tuple[Any, Any]] = {}
        self.workers: set[Worker] = set()

    @property
    def n_workers(self) -> int:
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def job(self, job: FitJob) -> FitJob:
        """The same fit, to be computed there."""
        return replace(job, elsewhere=self.run)

    def run(self, job: FitJob, begin: Mapping[str, Any]) -> Any:
        """The fitted estimator.

        Raises
        ------
        KeyboardInterrupt
            When somebody asked to stop.
        """
        future = self._client.submit(
            run_there,
            job.spec,
            self._scattered(job.tensor),
            self._scattered(job.costs),
            job.labels,
            dict(begin),
            key=f"swift-fit-{uuid4().hex}",
        )
        while not future.done():
            if self._stop():
                future.cancel()
                raise KeyboardInterrupt
            _wait(future)
        model, worker = future.result()
        self.workers.add(worker)
        return model

    def _scattered(self, value: Any) -> Any:
        """A value that many fits share, sent once; it is held here so that its id stays its own."""
        if id(value) not in self._sent:
            sent = self._client.scatter([value], broadcast=True, hash=False)[0]
            self._sent[id(value)] = (value, sent)
        return self._sent[id(value)][1]


def _wait(future: Any) -> None:
    import distributed

    wait: Any = distributed.wait  # it has no types
    with suppress(TimeoutError):
        wait(future, timeout=PAUSE)
