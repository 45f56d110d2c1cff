"""``swift dashboard``: the server, bound to this machine and closed to the outside."""

from __future__ import annotations

import argparse
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
import tomllib
import webbrowser
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from starlette.middleware import Middleware

from dashboard.jobs.samples import seed_samples
from dashboard.privacy.inbox import Inbox
from dashboard.server.doors import HOST, ClosedDoors, Entrance
from dashboard.server.folder import server_folder
from dashboard.server.incoming import IncomingFiles, sweeping
from dashboard.store.budget import DEFAULT_LIMIT, LIMIT_SETTING, store_limit
from dashboard.store.store import Store, default_root
from dashboard.text.link import Link
from swiftcore.errors import SwiftError

APP = Path(__file__).with_name("app.py")
SETTINGS = Path(__file__).with_name(".streamlit") / "config.toml"
FIRST_PAGE = (
    "dashboard.views.phenotypes",
    "dashboard.widgets.sidebar",
    "dashboard.charts.phenotypes",
)
PORT = 8501
PATIENCE = 60.0  # seconds until the port answers, on a busy machine
COLLECT_EVERY = 60.0  # seconds
FIRST = Link()
screen = Console(stderr=True)


def main(argv: Sequence[str] | None = None, link: Link = FIRST) -> int:
    """Serve until Ctrl-C, with a link to open first; 0, or 2 with the reason on the screen."""
    chosen = _parser().parse_args(argv)
    if chosen.data_dir is not None:
        os.environ["SWIFT_HOME"] = str(chosen.data_dir.expanduser().resolve())
    if chosen.store_limit:
        os.environ[LIMIT_SETTING] = chosen.store_limit
    if not is_free(chosen.port):
        screen.print(
            f"Port {chosen.port} is in use by another program. Choose another one, "
            f"for example: swift dashboard --port {chosen.port + 1}"
        )
        return 2
    entrance = Entrance.with_new_token(chosen.port) if chosen.token else Entrance(chosen.port, "")
    with contextlib.ExitStack() as until_the_end:
        until_the_end.enter_context(_any_end_like_ctrl_c())
        try:
            store_limit()
            seed_samples(Store(default_root()))
            inbox = until_the_end.enter_context(server_folder(default_root(), entrance))
        except SwiftError as error:
            screen.print(str(error), markup=False)
            return 2
        except OSError as error:
            screen.print(
                f"The data folder {default_root()} cannot be used: {error.strerror}. "
                "Choose another one with --data-dir.",
                markup=False,
            )
            return 2
        _serve(entrance, inbox, link, chosen.browser)
    screen.print("The dashboard has ended. Running jobs go on and are found again next time.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="swift dashboard", description="Open the dashboard in the browser."
    )
    parser.add_argument("--port", type=_port, default=PORT, help=f"default {PORT}")
    where = "where data and results are kept (default $SWIFT_HOME, or ~/.swift-phenotyping)"
    parser.add_argument("--data-dir", type=Path, default=None, help=where)
    limit = f"room for data and results (default {DEFAULT_LIMIT}); old results make way"
    parser.add_argument("--store-limit", metavar="SIZE", default="", help=limit)
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="serve without opening a browser"
    )
    open_to_all = "let in every user and program of this machine, without a token"
    parser.add_argument("--no-token", dest="token", action="store_false", help=open_to_all)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("give a whole number from 1 to 65535")
    return int(text)


def is_free(port: int) -> bool:
    """Whether no program answers there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


@contextlib.contextmanager
def _any_end_like_ctrl_c() -> Iterator[None]:
    """Let what ends the server pass through here, so that nothing stays behind."""
    for end in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(end) is signal.SIG_DFL:  # nohup keeps what it asked for
            signal.signal(end, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        yield


def _serve(entrance: Entrance, inbox: Inbox, link: Link, browser: bool) -> None:
    address = link.at(entrance.address)
    _announce(address, open_to_all=not entrance.token)
    from streamlit.starlette import App  # a second of imports; the address need not wait for it

    for name in FIRST_PAGE:  # so that the first person does not wait for imports
        import_module(name)
    gc.freeze()  # what every page needs is no garbage, and need not be looked through
    threading.Thread(target=_collect_garbage, daemon=True).start()
    if browser:
        threading.Thread(target=open_browser, args=(address,), daemon=True).start()
    # Its greeting would be a second address, without the token.
    logging.getLogger("uvicorn.error").addFilter(lambda said: said.levelno > logging.INFO)
    pages = StreamlitPages()
    layers = [
        Middleware(ClosedDoors, entrance=entrance),
        Middleware(IncomingFiles, inbox=inbox, pages=pages),
    ]
    app = App(APP, middleware=layers, lifespan=lambda _: sweeping(inbox, pages))
    app.run(config=settings(entrance.port, inbox.limits.file))


def _collect_garbage() -> None:
    """Once a minute, and not after every refresh of every tab as Streamlit would."""
    while True:
        time.sleep(COLLECT_EVERY)
        gc.collect()


class StreamlitPages:
    """What Streamlit knows of uploads, once it runs."""

    def notes(self, session: str, upload: str) -> bool:
        """Whether a file was handed over and not taken back."""
        return bool(self._runtime().uploaded_file_mgr.get_files(session, [upload]))

    def is_open(self, session: str) -> bool:
        """Whether a browser shows the page at this moment."""
        return bool(self._runtime().is_active_session(session))

    def _runtime(self) -> Any:
        from streamlit.runtime import get_instance  # as late as its server

        return get_instance()


def _announce(address: str, *, open_to_all: bool) -> None:
    """The address, alone on its line and never broken, so that it can be copied or read."""
    if open_to_all:
        screen.print(
            "Without a token every user and every program of this machine can open the "
            "dashboard and see all its data.",
            style="bold red",
        )
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


def open_browser(address: str) -> None:
    """Show an address in the person's browser as soon as its port answers."""
    until, port = time.monotonic() + PATIENCE, urlsplit(address).port
    while time.monotonic() < until:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            webbrowser.open(address)
            return


def settings(port: int, max_megabytes: int) -> dict[str, Any]:
    """Streamlit's options, flat, with the port and the size of a file that pages refuse."""
    flat = _flat(tomllib.loads(SETTINGS.read_text(encoding="utf-8")))
    return flat | {
        "server.port": port,
        "browser.serverPort": port,
        "server.headless": True,
        "server.maxUploadSize": max_megabytes,
    }


def _flat(sections: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Sections within sections under names with dots."""
    found: dict[str, Any] = {}
    for name, value in sections.items():
        inner = (
            _flat(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
        )
        found |= inner
    return found


if __name__ == "__main__":
    sys.exit(main())
