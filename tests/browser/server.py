"""A real server process on a store of its own; killed and started again like a real one."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from browser.watching import outbound, watched
from dashboard.jobs import jobs
from dashboard.jobs.samples import RANKS, seed_samples
from dashboard.privacy.inbox import server_place
from dashboard.server.folder import ADDRESS
from dashboard.store.cards import RunState, newest_sound
from dashboard.store.request import Request
from dashboard.store.store import Store

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 600.0  # seconds; the machine may be busy, and a worker steps back for all others
QUICK = {"max_iterations": 25, "n_restarts": 1, "tolerance": 1e-4}


class Server:
    """``swift dashboard`` on a folder; ended by its process id, perhaps with a watcher.

    ``settings`` are variables of its environment.
    """

    def __init__(self, root: Path, watch: bool = False, **settings: str) -> None:
        self.root = root
        self.watch = watch
        self.trace = root.with_suffix(".trace")
        self.settings = settings
        self.log = root.with_suffix(".log")
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What opens it: where it answers, with the token of this start."""
        return (server_place(self.root, self.port) / ADDRESS).read_text().strip()

    @property
    def cookie(self) -> str:
        """What a browser shows with every request, once it was opened."""
        return f"swift-{self.port}={self.address.partition('token=')[2]}"

    @property
    def store(self) -> Store:
        """What it keeps, seen from outside."""
        return Store(self.root)

    def start(self) -> Server:
        """Start, and wait until it answers."""
        command = [
            sys.executable,
            "-m",
            "dashboard.launch",
            "--no-browser",
            "--port",
            str(self.port),
            "--data-dir",
            str(self.root),
        ]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                watched(command, self.trace) if self.watch else command,
                cwd=REPOSITORY,
                env={**os.environ, **self.settings},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None, self.log.read_text(errors="replace")
            assert time.monotonic() < until, "the server does not answer"
            time.sleep(0.2)
        return self

    def _answers(self) -> bool:
        try:
            known = {"Cookie": self.cookie}
            asked = urllib.request.Request(f"{self.url}/_stcore/health", headers=known)
            with urllib.request.urlopen(asked, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        """As by ``kill -9``; jobs go on."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server, and what it still computes; nothing of it connected elsewhere."""
        self._end(signal.SIGTERM)
        store = self.store
        for run in jobs.active(store.runs()):
            jobs.cancel(store, run.id)
        if self.trace.exists():
            assert outbound(self.trace.read_text()) == []

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None:
            os.kill(self.process.pid, how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def wait_for(self, state: RunState, run: str) -> None:
        """Wait until a run stands as said."""
        until = time.monotonic() + PATIENCE
        while (now := self.store.run(run)).state is not state:
            assert now.state.active, f"{now.state.value} {now.message}"
            assert time.monotonic() < until, f"still {now.state.value}"
            time.sleep(0.3)


def free_port() -> int:
    """A port nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def seeded_store(root: Path) -> Path:
    """A store with both samples, each with a finished fit, whether it ships or not."""
    store = Store(root)
    seed_samples(store)
    for card in store.datasets():
        if newest_sound(store.runs(card.id), "fit") is None:
            run = jobs.start(store, Request("fit", card.id, {"rank": RANKS[card.name], **QUICK}))
            Server(root).wait_for(RunState.DONE, run)
    return root


def copy_of(root: Path, target: Path) -> Path:
    """A store of one's own to change."""
    return Path(shutil.copytree(root, target))
