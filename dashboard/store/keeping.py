"""Which runs a person wants kept, and when each was last looked at: small marks beside the store.

They lie outside the sealed folders of the runs, which never change.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from dashboard.store.cards import RunCard
from dashboard.store.private_folder import make_private

KEPT, USED = "kept", "used"  # folders of empty files, each named by its run
EVERY = 60.0  # seconds between two notes of the same use


def is_kept(root: Path, run_id: str) -> bool:
    """Whether a person said that a run stays."""
    return (root / KEPT / run_id).exists()


def set_kept(root: Path, run_id: str, kept: bool) -> None:
    """Note that a run stays, or may go again."""
    mark = make_private(root / KEPT) / run_id
    if kept:
        mark.touch(mode=0o600)
    else:
        mark.unlink(missing_ok=True)


def note_use(root: Path, run_id: str) -> None:
    """Somebody looks at a run; not worth an error where nothing can be written."""
    mark = root / USED / run_id
    with contextlib.suppress(OSError):
        if not mark.exists():
            make_private(mark.parent)
            mark.touch(mode=0o600)
        elif time.time() - mark.stat().st_mtime > EVERY:
            os.utime(mark)


def last_use(root: Path, card: RunCard) -> float:
    """When a run was looked at, else when it was made; seconds since 1970."""
    made = card.ended or card.created
    try:
        return max(made, (root / USED / card.id).stat().st_mtime)
    except OSError:
        return made
