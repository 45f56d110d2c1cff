"""A Dask scheduler and its workers as processes of their own, on loopback."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import distributed
import trustme
from distributed.security import Security

from benchmarks.cluster_traffic import socket_bytes

START = 120.0  # seconds for a process to come up


class Cluster:
    """What runs, and how it is reached; workers may come and go."""

    def __init__(self, stack: ExitStack, tls: tuple[str, ...] = ()) -> None:
        self._stack, self._tls = stack, tls
        place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", *self._kind)
        self.scheduler = stack.enter_context(process("dask_scheduler", *place))
        self.address = _address(self.scheduler)
        self.workers: list[subprocess.Popen[str]] = []
        self.watcher: Any = None

    @property
    def _kind(self) -> tuple[str, ...]:
        return ("--protocol", "tls", *self._tls) if self._tls else ()

    @property
    def pids(self) -> set[int]:
        """Of the workers that live."""
        return {one.pid for one in self.workers if one.poll() is None}

    def grow(self, to: int, threads: int = 1) -> None:
        """Add workers until so many live, and wait for them."""
        usual = ("--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--nthreads", str(threads))
        for _ in range(to - len(self.pids)):
            command = ("dask_worker", self.address, *usual, *self._kind)
            self.workers.append(self._stack.enter_context(process(*command)))
            _read_on(self.workers[-1])
        self._watching().wait_for_workers(to, timeout=START)

    def bytes_moved(self) -> dict[str, int]:
        """Sent and received by each worker so far."""
        return {name: sum(both) for name, both in self._watching().run(socket_bytes).items()}

    def _watching(self) -> Any:
        if self.watcher is None:
            files = dict(zip(self._tls[::2], self._tls[1::2], strict=True))
            security: Any = Security
            with_files = security(
                tls_ca_file=files.get("--tls-ca-file"),
                tls_client_cert=files.get("--tls-cert"),
                tls_client_key=files.get("--tls-key"),
            )
            client: Any = distributed.Client
            self.watcher = self._stack.enter_context(
                client(self.address, set_as_default=False, security=with_files if files else None)
            )
        return self.watcher


@contextmanager
def cluster(workers: int, tls: tuple[str, ...] = (), threads: int = 1) -> Iterator[Cluster]:
    """A scheduler with so many workers."""
    with ExitStack() as all_of_them:
        found = Cluster(all_of_them, tls)
        found.grow(workers, threads)
        yield found


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    started = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def certificates(folder: Path) -> tuple[str, ...]:
    """An authority and a certificate of it, as flags of Dask's commands."""
    authority = trustme.CA()
    mine = authority.issue_cert("127.0.0.1")
    files = {name: folder / f"{name}.pem" for name in ("ca", "cert", "key")}
    authority.cert_pem.write_to_path(files["ca"])
    mine.cert_chain_pems[0].write_to_path(files["cert"])
    mine.private_key_pem.write_to_path(files["key"])
    flags = ("--tls-ca-file", files["ca"], "--tls-cert", files["cert"], "--tls-key", files["key"])
    return tuple(map(str, flags))


def _address(started: subprocess.Popen[str]) -> str:
    assert started.stderr is not None
    began = time.monotonic()
    for line in started.stderr:
        if found := re.search(r"Scheduler at:\s+(t\w\w://\S+)", line):
            _read_on(started)
            return found[1]
        assert time.monotonic() < began + START
    raise AssertionError("the scheduler ended")


def _read_on(started: subprocess.Popen[str]) -> None:
    """So that it never waits for somebody to read what it says."""
    assert started.stderr is not None
    threading.Thread(target=started.stderr.read, daemon=True).start()
