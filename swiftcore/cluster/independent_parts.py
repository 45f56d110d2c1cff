"""Independent parts of an experiment on the workers of a cluster, one task each.

joblib's Dask backend would do, but it waits for ever once a part has taken so many workers down
that the scheduler gives it up; here such a part comes back with its reason, as on one machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from joblib import parallel_config
from threadpoolctl import ThreadpoolController

from swiftcore.cluster.connection import Worker, check_packages, connected, here, packages
from swiftcore.cluster.sent_once import SentOnce


class Helpers:
    """Workers that compute parts of experiments.

    Parameters
    ----------
    client : distributed.Client

    Attributes
    ----------
    workers : set of (host, process id)
        Who has computed.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.workers: set[Worker] = set()

    @property
    def count(self) -> int:
        """How many parts are computed at once."""
        return max(1, int(sum(self._client.nthreads().values())))

    def run(
        self, function: Callable[..., Any], calls: Mapping[int, tuple[Any, ...]], lost: Any
    ) -> Iterator[tuple[int, Any]]:
        """``function(*call)`` for every call, with its number, in the order in which they end.

        What calls share is sent once. ``lost`` stands for the result of a call that took down
        every worker that tried it.
        """
        import distributed

        as_completed: Any = distributed.as_completed  # no types
        own, sent = packages(), SentOnce(self._client)
        seen = Counter(id(value) for call in calls.values() for value in call)
        waiting = {
            self._client.submit(
                there,
                own,
                function,
                *(sent(value) if seen[id(value)] > 1 else value for value in call),
                key=f"swift-part-{number}-{uuid4().hex}",
            ): number
            for number, call in calls.items()
        }
        try:
            for future in as_completed(list(waiting), loop=self._client.loop):
                try:
                    result, worker = future.result()
                except distributed.KilledWorker:
                    result = lost
                else:
                    self.workers.add(worker)
                yield waiting.pop(future), result
        finally:
            self._client.cancel(list(waiting))


def there(
    wanted: Mapping[str, str], function: Callable[..., Any], *arguments: Any
) -> tuple[Any, Worker]:
    """A call in the process of a worker, on one of its threads, and which process that was."""
    check_packages(wanted)
    with ThreadpoolController().limit(limits=1), parallel_config("sequential"):
        return function(*arguments), here()


_HELPERS: ContextVar[Helpers | None] = ContextVar("helpers", default=None)


def helpers() -> Helpers | None:
    """The workers of a surrounding :func:`experiments_on`; None: there are none."""
    return _HELPERS.get()


@contextmanager
def experiments_on(address: str) -> Iterator[Helpers]:
    """Within it, experiments compute their parts on a cluster; the numbers are the same.

    Parameters
    ----------
    address : str
        As in :func:`swiftcore.cluster_fit.fit_on_cluster`.
    """
    with connected(address) as client:
        team = Helpers(client)
        token = _HELPERS.set(team)
        try:
            yield team
        finally:
            _HELPERS.reset(token)
