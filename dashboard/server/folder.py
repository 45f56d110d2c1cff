"""What a running server keeps for itself below the data folder, and takes along when it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from dashboard.privacy.held_folder import held, is_held, sweep_unheld
from dashboard.privacy.inbox import SERVERS, Inbox, inbox_of, server_place
from dashboard.server.doors import Entrance
from swiftcore.runtime.atomic_file import write_atomic

ADDRESS = "address"


def running_address(root: Path) -> str:
    """The address of a server that runs on a data folder; empty if there is none."""
    for place in sorted((root / SERVERS).glob("*")):
        if is_held(place) and (place / ADDRESS).is_file():
            return (place / ADDRESS).read_text(encoding="utf-8").strip()
    return ""


@contextlib.contextmanager
def server_folder(root: Path, entrance: Entrance) -> Iterator[Inbox]:
    """The folder of a server while it runs, with its address and its inbox.

    What killed servers have left goes first. Raises InvalidData for limits that are none.
    """
    place = server_place(root, entrance.port)
    inbox = inbox_of(root, entrance.port)
    sweep_unheld(place.parent)
    with held(place, wait=False) as folder:
        inbox.folder.mkdir(mode=0o700)
        write_atomic(folder / ADDRESS, f"{entrance.address}\n".encode(), private=True)
        yield inbox
