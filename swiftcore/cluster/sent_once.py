"""Values that several tasks share, sent to a cluster once."""

from __future__ import annotations

from typing import Any
from uuid import uuid4


def given(value: Any) -> Any:
    """A value on its way to a worker: as a task, for what is merely sent is lost with a worker."""
    return value


class SentOnce:
    """Remembers by identity what was sent; it may be used from threads.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._sent: dict[int, tuple[Any, Any]] = {}  # with the value, so that its id stays its own

    def __call__(self, value: Any) -> Any:
        """A future of the value, for the arguments of tasks."""
        if id(value) not in self._sent:
            sent = self._client.submit(given, value, key=f"swift-given-{uuid4().hex}")
            self._sent.setdefault(id(value), (value, sent))
        return self._sent[id(value)][1]
