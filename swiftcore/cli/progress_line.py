"""A progress line that Ctrl-C ends politely: once to stop, twice to leave at once."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Self

from rich.progress import Progress

from swiftcore.cli.data_argument import screen


class StoppableLine:
    """Shows progress for the length of a ``with`` block and remembers whether to stop.

    Parameters
    ----------
    progress : Progress
        What is shown.
    unit : str
        What is finished before the work stops: iteration, part.
    """

    def __init__(self, progress: Progress, unit: str) -> None:
        self.progress = progress
        self.stop = False
        self._unit = unit

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._asked_to_stop)
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()
        signal.signal(signal.SIGINT, self._before)

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True
        screen.print(f"Stopping after this {self._unit}; press Ctrl-C again to leave at once.")
