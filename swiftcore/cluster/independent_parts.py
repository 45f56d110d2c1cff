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

from swiftcore.cluster.connection import connected
from swiftcore.cluster.crew import Crew


class Helpers(Crew):
    """Workers that compute parts of experiments."""

    def run(
        self, function: Callable[..., Any], calls: Mapping[int, tuple[Any, ...]], lost: Any
    ) -> Iterator[tuple[int, Any]]:
        """``function(*call)`` for every call, with its number, in the order in which they end.

        What calls share is sent once. ``lost`` stands for the result of a call that took down
        every worker that tried it.
        """
        import distributed

        seen = Counter(id(value) for call in calls.values() for value in call)
        numbers = {
            self.submit(
                function, *(self.sent(value) if seen[id(value)] > 1 else value for value in call)
            ): number
            for number, call in calls.items()
        }
        for future in self.as_they_end(numbers):
            try:
                result = self.taken(future)
            except distributed.KilledWorker:
                result = lost
            yield numbers.pop(future), result


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
