"""Where a fit keeps its state while it runs, so that it can go on after any end.

Light: whoever only wants to know how far a fit has come loads no compiler for it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from swiftcore.progress import FitProgress
from swiftcore.runtime.sealed_arrays import read_about

INTERVAL = 30.0  # seconds; at most this and one sweep of work are lost


@dataclass(frozen=True)
class FitCheckpoint:
    """A file for the state of one fit, written now and then and read when the fit begins.

    A state of another fit, of another version, or one that was damaged is left aside, and the
    fit begins at its start.

    Attributes
    ----------
    path : Path
    every : float
        Seconds from one writing to the next, and to the first.
    resumed : callable, optional
        Called with the history so far when the fit goes on from the file.
    """

    path: Path
    every: float = INTERVAL
    resumed: Callable[[tuple[FitProgress, ...]], None] | None = None

    def part(self, number: int) -> FitCheckpoint:
        """The file of one of several fits behind this one; nobody is told when it goes on."""
        name = f"{self.path.stem}-{number}{self.path.suffix}"
        return FitCheckpoint(self.path.with_name(name), self.every)

    def remove(self) -> None:
        """Forget the state and those of its parts: the result is safe."""
        for path in (self.path, *_parts(self.path)):
            path.unlink(missing_ok=True)
        for folder in row_folders(self.path):
            shutil.rmtree(folder, ignore_errors=True)


def kept_iteration(path: Path) -> int:
    """The iteration from which a fit would go on; 0 when that is its start."""
    iteration = read_about(path).get("iteration", 0)
    return iteration if isinstance(iteration, int) else 0


def finished_fits(path: Path) -> int:
    """How many of the fits behind a consensus are finished and kept."""
    return sum(bool(read_about(part).get("finished")) for part in _parts(path))


def row_folders(path: Path) -> list[Path]:
    """Where the rows of a fit in parts are kept beside its file."""
    return sorted(path.parent.glob(f"{escape(path.stem)}-rows-[0-9]*"))


def _parts(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{escape(path.stem)}-[0-9]*{escape(path.suffix)}"))
