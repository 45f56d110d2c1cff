"""How the server starts and ends: one address, said before the port answers, gone at the end."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser.server import PATIENCE, REPOSITORY, free_port
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from dashboard.store.store import Store

pytestmark = pytest.mark.slow


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def wait_until(happened: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < until, what
        time.sleep(0.1)


@contextmanager
def running(*command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_one_address_is_printed_opened_and_kept_while_the_server_runs(
    fitted_store: Store, tmp_path: Path
) -> None:
    port, opened = free_port(), tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o700)
    litter = fitted_store.root / "servers" / "1"  # of a server that was killed
    litter.mkdir(parents=True)
    (litter / "address").write_text("http://127.0.0.1:1/?token=old")
    command = ("swiftcore.cli", "dashboard", "--port", str(port))
    settings = {"SWIFT_HOME": str(fitted_store.root), "BROWSER": str(browser), "COLUMNS": "20"}
    with running(*command, **settings) as process:
        assert process.stdout is not None
        printed = process.stdout.readline()
        assert not answers(port)
        address = re.fullmatch(rf"http://127\.0\.0\.1:{port}/\?token=[\w-]{{40,}}\n", printed)
        assert address, printed
        kept = fitted_store.root / "servers" / str(port) / "address"
        assert kept.read_text() == printed and kept.stat().st_mode & 0o777 == 0o600
        assert kept.parent.stat().st_mode & 0o777 == 0o700
        assert not litter.exists()
        wait_until(opened.exists, "no browser was opened")
        assert answers(port) and opened.read_text() == printed
        process.send_signal(signal.SIGTERM)
        rest, said = process.communicate(timeout=60)
        assert process.returncode == 0 and rest == "" and "http" not in said
    assert not kept.parent.exists()


def test_without_a_token_there_is_a_warning_and_the_other_checks(fitted_store: Store) -> None:
    port = free_port()
    command = ("dashboard.launch", "--no-browser", "--no-token", "--port", str(port))
    with running(*command, SWIFT_HOME=str(fitted_store.root)) as process:
        assert process.stdout is not None and process.stderr is not None
        assert "every user and every program of this machine" in process.stderr.readline()
        assert process.stdout.readline() == f"http://127.0.0.1:{port}/\n"
        wait_until(lambda: answers(port), "the server does not answer")
        own = f"http://127.0.0.1:{port}"
        stream = f"ws://127.0.0.1:{port}/_stcore/stream"
        connect(stream, origin=own, close_timeout=1, legacy=True).close()
        for origin in (None, "http://127.0.0.1:9931", f"http://localhost:{port}"):
            with pytest.raises(InvalidStatus, match="HTTP 403"):
                connect(stream, origin=origin, legacy=True)


def test_streamlit_alone_shows_nothing(fitted_store: Store) -> None:
    port = free_port()
    command = ("streamlit", "run", "dashboard/app.py", "--server.headless=true")
    settings = {"SWIFT_HOME": str(fitted_store.root)}
    with running(*command, f"--server.port={port}", **settings):
        wait_until(lambda: answers(port), "the server does not answer")
        asked, seen = BackMsg(), b""
        asked.rerun_script.page_name = ""
        stream = f"ws://127.0.0.1:{port}/_stcore/stream"
        with connect(stream, close_timeout=1) as browser:
            browser.send(asked.SerializeToString())
            while b"Start it with" not in seen:
                said = browser.recv(timeout=60)
                seen += said if isinstance(said, bytes) else said.encode()
        assert fitted_store.datasets()[0].name.encode() not in seen


def test_a_result_is_opened_in_a_new_server_if_none_runs(fitted_store: Store, fit_id: str) -> None:
    command = ("swiftcore.cli", "open", fit_id[:8], "--no-browser")
    with running(*command, SWIFT_HOME=str(fitted_store.root)) as process:
        assert process.stdout is not None
        printed = process.stdout.readline()
        found = re.fullmatch(
            rf"http://127\.0\.0\.1:(\d+)/\?token=[\w-]{{40,}}"
            rf"&data={fitted_store.run(fit_id).dataset}&run={fit_id}\n",
            printed,
        )
        assert found, printed
        wait_until(lambda: answers(int(found[1])), "the server does not answer")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
