"""What is killed in the middle, and what must hold after a restart: one scenario each.

To add one: write a function that works and says what is done, one that checks what was said
against the folder, and a line in :data:`SCENARIOS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support import killed_fits as fits
from support import killed_writers as writers
from support.killed import Life, Words


@dataclass(frozen=True)
class Scenario:
    """One kind of work.

    Attributes
    ----------
    start : callable
        Gets the folder and which life this is; a process at work.
    check : callable
        Gets the folder, after a restart, and all that was acknowledged so far.
    words : int
        The kill comes after a random number of words up to this, and some milliseconds more.
    finish : callable, optional
        Gets the folder after the last kill: what was interrupted comes to its end.
    """

    start: Callable[[Path, int], Life]
    check: Callable[[Path, Words], None]
    words: int
    finish: Callable[[Path], None] | None = None


def no_litter(root: Path) -> None:
    """After a restart: no drafts, and only what a job can still use is kept for it."""
    assert list((root / "temporary").iterdir()) == []
    assert list(root.rglob("*.tmp")) == []
    assert list((root / "uploads").glob("draft-*")) == []
    asked = {path.name for path in (root / "jobs").iterdir()}
    done = {path.name for path in (root / "runs").iterdir()}
    assert {path.name for path in (root / "parts").iterdir()} <= asked - done


SCENARIOS = {
    "fits": Scenario(fits.start_fit, fits.check_fit, 12, fits.finish_fit),
    "command": Scenario(fits.start_command, fits.check_command, 12, fits.finish_command),
    "consensus": Scenario(fits.start_consensus, fits.check_consensus, 6, fits.finish_consensus),
    "publications": Scenario(writers.start_publishing, writers.check_publications, 8),
    "reviews": Scenario(writers.start_reviewing, writers.check_reviews, 8),
    "uploads": Scenario(writers.start_uploading, writers.check_uploads, 8),
    "checkpoints": Scenario(writers.start_parts, writers.check_parts, 20),
    "backups": Scenario(writers.start_backing_up, writers.check_backup, 5, writers.finish_backup),
}
