"""Neither the server, nor what it starts, nor a page connects to anything but this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from browser.conftest import Visit
from browser.server import Server, copy_of
from browser.tables import from_files_to_phenotypes, write_events
from browser.visitor import PAGES
from browser.watching import outbound, watched, why_unwatched


@pytest.fixture(autouse=True)
def needs_strace() -> None:
    if reason := why_unwatched():
        pytest.skip(f"connections are not watched: {reason}")


def test_the_watcher_sees_a_connection_and_a_look_up(tmp_path: Path) -> None:
    """Also those of a child, to addresses that nobody has (RFC 5737, RFC 3849)."""
    program = (
        "import os, socket\n"
        "child = os.fork()\n"
        "for family, there in ((2, '192.0.2.1'), (10, '2001:db8::1'), (2, '127.0.0.1')):\n"
        "    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):\n"
        "        one = socket.socket(family, kind); one.setblocking(False)\n"
        "        one.connect_ex((there, 9))\n"
        "child and os.waitpid(child, 0)\n"
    )
    trace = tmp_path / "trace"
    subprocess.run(watched([sys.executable, "-c", program], trace), timeout=60, check=True)
    found = outbound(trace.read_text())
    assert len(found) == 8 and socket.has_ipv6, trace.read_text()


@pytest.mark.nightly  # the servers of all other browser tests are watched in every run
def test_the_whole_way_connects_to_nothing(samples: Path, tmp_path: Path, visit: Visit) -> None:
    """Upload, guarded reading, a fit in its worker, every page; start and end included."""
    server = Server(copy_of(samples, tmp_path / "store"), watch=True).start()
    visitor = visit(server)
    from_files_to_phenotypes(visitor, 2, write_events(tmp_path / "own.csv"))
    for name in PAGES:
        visitor.go_to(name)
    visitor.is_well()  # nor did the page ask anybody else
    server.stop()
    assert outbound(server.trace.read_text()) == []
