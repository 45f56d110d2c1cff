"""Progress where nobody watches a line move: into a file, and onto a screen that is a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.markup import escape

from swiftcore.evaluation.experiments.result import ExperimentProgress
from swiftcore.progress import duration

SHOWN_TIMES = 20  # lines on a screen that is a file, for a whole experiment; failures besides


class ProgressLog:
    """One line with a time stamp per finished part, written at once.

    Parameters
    ----------
    path : Path
        Lines are added to it: an experiment that goes on keeps its beginning.
    screen : Console
        Gets a line every twentieth of the way if it is no terminal, where a bar would be lost.
    """

    def __init__(self, path: Path, screen: Console) -> None:
        self._path, self._screen, self._shown = path, screen, -1

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a", encoding="utf-8", errors="backslashreplace")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def note(self, words: str) -> None:
        """Write a line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        self._file.write(f"{stamp} {' '.join(words.split())}\n")
        self._file.flush()

    def __call__(self, at: ExperimentProgress) -> None:
        words = f"{at.done}/{at.total} {at.what}"
        if at.failed:
            words += f" failed: {at.failed}"
        words += f"; {duration(round(at.seconds_left))} left"
        self.note(words)
        reached = SHOWN_TIMES * at.done // at.total
        if not self._screen.is_terminal and (at.failed or reached > self._shown):
            self._screen.print(escape(words), highlight=False, soft_wrap=True)
        self._shown = max(self._shown, reached)
