"""How a computation in the worker tells where it stands, and hears that it shall stop."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from dashboard.store.job_state import Job

MAX_NOTES = 5  # of progress, per second


class Cancelled(Exception):
    """Somebody asked the job to end, and it does."""


class ProgressReporter:
    """Tells the job's folder how far the computation is, and the computation when to stop."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._started = time.time()
        self._last = 0.0

    def note(self, what: str, progress: Mapping[str, Any] | None = None) -> bool:
        """Leave a note; True when somebody asked to stop."""
        now = time.monotonic()
        if progress is None or now - self._last >= 1 / MAX_NOTES:
            self._last = now
            self.job.note_progress(
                {
                    "running": True,
                    "started": self._started,
                    "what": what,
                    "done": 0,
                    "total": 0,
                    "objective": None,
                    "seconds": self.seconds,
                    "seconds_left": None,
                    **(progress or {}),
                }
            )
        return self.job.asked_to_stop()

    def phase(self, what: str) -> None:
        """Say what begins now; raises Cancelled when somebody asked to stop."""
        if self.note(what):
            raise Cancelled

    @property
    def seconds(self) -> float:
        """Since the job's turn came."""
        return time.time() - self._started
