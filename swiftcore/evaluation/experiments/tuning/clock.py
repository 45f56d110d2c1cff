"""Parts computed as long as there is time: the budget is looked at between fits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from swiftcore.errors import refuse
from swiftcore.evaluation.experiments.checkpoints import (
    Checkpoint,
    Stopped,
    Task,
    compute_checkpoints,
    team_size,
)
from swiftcore.evaluation.experiments.result import ExperimentCallback, ExperimentProgress


class TimedParts:
    """Computes parts until a share of the budget is spent, and says how far it is.

    Parts found in the folder count with the time they took, so that a search that is asked for
    again ends where it ended, and one that was interrupted has the rest of its time.

    Parameters
    ----------
    seconds : float
        The budget; infinite if there is none.
    folder : Path, optional
        Where finished parts are kept.
    jobs : int
        Fits side by side; the budget is overrun by one round of them at most.
    progress : callable, optional
        Called after every round; when it returns True, :class:`Stopped` is raised.
    """

    def __init__(
        self,
        seconds: float,
        folder: Path | None,
        jobs: int,
        progress: ExperimentCallback | None,
    ) -> None:
        self.seconds = seconds
        self.planned = 0
        self.done = 0
        self._folder, self._jobs, self._progress = folder, jobs, progress
        self._team = max(1, team_size(jobs))
        self._began = time.monotonic()
        self._work = 0.0

    @property
    def spent(self) -> float:
        """Seconds of the budget that are gone."""
        return float(max(time.monotonic() - self._began, self._work / self._team))

    def run(
        self, tasks: Sequence[Task], compute: Callable[..., Checkpoint], share: float
    ) -> list[Checkpoint]:
        """The results of the first tasks; the rest is left when that share of time is spent."""
        found: list[Checkpoint] = []
        for first in range(0, len(tasks), self._team):
            if self.done and self.spent >= share * self.seconds:
                break
            batch = tasks[first : first + self._team]
            parts = compute_checkpoints(batch, compute, self._folder, self._jobs)
            parts = [{"seconds": 0.0, **part} for part in parts]  # of one that was killed: unknown
            found += parts
            self.done += len(parts)
            self._work += sum(part["seconds"] for part in parts)
            self._report(batch[-1].words)
        return found

    def _report(self, words: str) -> None:
        spent, planned = self.spent, max(self.planned, self.done)
        left = min(spent / self.done * (planned - self.done), max(0.0, self.seconds - spent))
        stands = ExperimentProgress(self.done, planned, words, spent, left)
        if self._progress is not None and self._progress(stands) and left > 0:
            raise refuse(
                "stopped",
                "The search was stopped",
                "tune",
                f"{self.done} fits done",
                "Start it again: it goes on where it was stopped.",
                kind=Stopped,
            )
