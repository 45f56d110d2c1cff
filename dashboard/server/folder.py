"""What a running server keeps for itself below the data folder, and takes along when it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from dashboard.privacy.held_folder import held, sweep_unheld
from dashboard.server.doors import Entrance
from swiftcore.runtime.atomic_file import write_atomic

SERVERS = "servers"
ADDRESS = "address"


@contextlib.contextmanager
def server_folder(root: Path, entrance: Entrance) -> Iterator[Path]:
    """The folder of a server while it runs, with its address; those of dead servers go first."""
    sweep_unheld(root / SERVERS)
    with held(root / SERVERS / str(entrance.port)) as folder:
        write_atomic(folder / ADDRESS, f"{entrance.address}\n".encode(), private=True)
        yield folder
