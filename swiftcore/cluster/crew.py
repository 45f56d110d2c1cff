"""Tasks on the workers of a cluster: what everybody who sends some has in common."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from joblib import parallel_config
from threadpoolctl import ThreadpoolController

from swiftcore.cluster.address import lost
from swiftcore.cluster.connection import PATIENCE, Worker, alive, check_equipment, equipment, here
from swiftcore.cluster.sent_once import SentOnce

PAUSE = 0.2  # seconds between two looks at a task, from either side
LOOK = 1.0  # seconds between two looks at the number of workers


def make_ready(wanted: Mapping[str, str]) -> None:
    """In a worker, before it computes: compare its equipment, and hold its BLAS to one thread.

    It is held for good: the tasks of a process share it and overlap, so that the first to give
    threads back would give them to the others.
    """
    check_equipment(wanted)
    ThreadpoolController().limit(limits=1)  # every time, for OpenMP counts thread by thread


def there(
    wanted: Mapping[str, str], function: Callable[..., Any], *arguments: Any
) -> tuple[Any, Worker]:
    """A call in the process of a worker, on one of its threads, and which process that was."""
    make_ready(wanted)
    with parallel_config("sequential"):
        return function(*arguments), here()


class Crew:
    """The workers of a cluster; may be asked from threads.

    Parameters
    ----------
    client : distributed.Client

    Attributes
    ----------
    workers : set of (host, process id)
        Who has computed.
    """

    def __init__(self, client: Any) -> None:
        self.client, self.sent, self.own = client, SentOnce(client), equipment()
        self.workers: set[Worker] = set()

    @property
    def count(self) -> int:
        """How many tasks are computed at once: the threads of all workers."""
        return max(1, int(sum(self.client.nthreads().values())))

    def submit(self, function: Callable[..., Any], *arguments: Any, key: str = "") -> Any:
        """A future of a call, for :meth:`taken`."""
        key = key or f"swift-part-{uuid4().hex}"
        return self.client.submit(there, self.own, function, *arguments, key=key)

    def taken(self, future: Any) -> Any:
        """The result of a call that has ended; who computed it is noted."""
        result, worker = future.result()
        self.workers.add(worker)
        return result

    def wait(self, future: Any, meanwhile: Callable[[], None] | None = None) -> Any:
        """The same future, once it has ended."""
        [ended] = self.as_they_end([future], meanwhile)
        return ended

    def as_they_end(
        self, futures: Iterable[Any], meanwhile: Callable[[], None] | None = None
    ) -> Iterator[Any]:
        """Futures in the order in which they end; the rest are dropped with the iterator.

        Parameters
        ----------
        meanwhile : callable, optional
            Called now and then.
        """
        ended: SimpleQueue[Any] = SimpleQueue()
        absence = _Absence(self.client)
        left = {future.key: future for future in futures}
        for future in left.values():
            future.add_done_callback(ended.put)
        try:
            while left:
                try:
                    future = ended.get(timeout=PAUSE)
                except Empty:
                    absence.check()
                    if meanwhile is not None:
                        meanwhile()
                    continue
                del left[future.key]
                yield future
        finally:
            self.drop(list(left.values()))

    def drop(self, futures: Sequence[Any]) -> None:
        """Say that nobody waits for these any more, if there still is somebody to say it to."""
        if futures and alive(self.client):
            with suppress(OSError, RuntimeError):  # it dies at this moment
                self.client.cancel(futures)


class _Absence:
    """How long a cluster has had no workers: without them its tasks wait for ever."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._looked = self._seen = time.monotonic()

    def check(self) -> None:
        """Look now and then; raises ClusterLost when nobody has come for long."""
        now = time.monotonic()
        if now < self._looked + LOOK or not alive(self._client):
            return
        if self._client.scheduler_info(n_workers=0)["n_workers"]:
            self._seen = now
        elif now > self._seen + PATIENCE:
            raise lost(f"a scheduler without a worker for {PATIENCE:.0f} seconds")
        self._looked = now
