"""``swift dashboard``: the server, bound to this machine and closed to the outside."""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import os
import re
import socket
import sys
import threading
import tomllib
import webbrowser
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse

from dashboard.jobs.samples import seed_samples
from dashboard.store.budget import DEFAULT_LIMIT, LIMIT_SETTING, store_limit
from dashboard.store.store import Store, default_root
from dashboard.text.wording import PAGES
from swiftcore.errors import SwiftError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
LOOPBACK = {"127.0.0.1", "localhost"}
CLOSED_PATHS = ("/_stcore/metrics",)
APP = Path(__file__).with_name("app.py")
SETTINGS = Path(__file__).with_name(".streamlit") / "config.toml"
# Streamlit writes inline styles; scripts, fonts, images and sockets come from here only.
POLICY = (
    "default-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
)
# Without this, a page opened by its link looks for the server under its own path first.
WHERE = '<script>window.__streamlit={BACKEND_BASE_URL:location.origin+"/"}</script>'
PAGE_PATHS = {"/", *(f"/{name}" for name in PAGES)}
FIRST_PAGE = (
    "dashboard.views.phenotypes",
    "dashboard.widgets.sidebar",
    "dashboard.charts.phenotypes",
)
screen = Console(stderr=True)


class ClosedDoors:
    """Answers only to loopback names, and tells the browser to fetch nothing from elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.page = front_page()
        safe = safe_headers(self.page)
        self.headers = [(name.encode(), value.encode()) for name, value in safe.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        if not _is_loopback(scope):
            refusal = PlainTextResponse("This server answers to this machine only.", 403)
            await refusal(scope, receive, send_with_headers)
        elif scope["path"].startswith(CLOSED_PATHS):
            await PlainTextResponse("Not found.", 404)(scope, receive, send_with_headers)
        elif scope["path"] in PAGE_PATHS and scope["method"] in ("GET", "HEAD"):
            page = HTMLResponse(self.page, headers={"cache-control": "no-cache"})
            await page(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C; returns 0, or 2 with the reason on the screen."""
    chosen = _parser().parse_args(argv)
    if chosen.data_dir is not None:
        os.environ["SWIFT_HOME"] = str(chosen.data_dir.expanduser().resolve())
    if chosen.store_limit:
        os.environ[LIMIT_SETTING] = chosen.store_limit
    if not _is_free(chosen.port):
        screen.print(
            f"Port {chosen.port} is in use by another program. Choose another one, "
            f"for example: swift dashboard --port {chosen.port + 1}"
        )
        return 2
    try:
        store_limit()
        seed_samples(Store(default_root()))
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
    with contextlib.suppress(KeyboardInterrupt):
        _serve(chosen.port, chosen.browser)
    screen.print("The dashboard has ended. Running jobs go on and are found again next time.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="swift dashboard", description="Open the dashboard in the browser."
    )
    parser.add_argument("--port", type=_port, default=8501, help="default 8501")
    where = "where data and results are kept (default ~/.swift-phenotyping)"
    parser.add_argument("--data-dir", type=Path, default=None, help=where)
    limit = f"room for data and results (default {DEFAULT_LIMIT}); old results make way"
    parser.add_argument("--store-limit", metavar="SIZE", default="", help=limit)
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="serve without opening a browser"
    )
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("give a whole number from 1 to 65535")
    return int(text)


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _serve(port: int, browser: bool) -> None:
    from streamlit.starlette import App  # a second of imports; a refusal need not wait for it

    for name in FIRST_PAGE:  # so that the first person does not wait for imports
        import_module(name)
    if browser:
        opener = threading.Timer(1.5, webbrowser.open, [f"http://{HOST}:{port}"])
        opener.daemon = True
        opener.start()
    App(APP, middleware=[Middleware(ClosedDoors)]).run(config=settings(port))


def settings(port: int) -> dict[str, Any]:
    """Streamlit's options, flat, with the port."""
    sections = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    flat = {
        f"{section}.{name}": value
        for section, values in sections.items()
        for name, value in values.items()
    }
    return flat | {"server.port": port, "browser.serverPort": port, "server.headless": True}


def front_page() -> str:
    """Streamlit's page, with the address of its server."""
    path = Path(str(files("streamlit"))) / "static" / "index.html"
    return path.read_text(encoding="utf-8").replace("<head>", f"<head>{WHERE}", 1)


def safe_headers(page: str) -> dict[str, str]:
    """What every answer carries; the few inline scripts of the page are named by digest."""
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in inline]
    scripts = " ".join(
        ["script-src 'self' 'wasm-unsafe-eval'", *(f"'sha256-{digest}'" for digest in digests)]
    )
    return {
        "content-security-policy": "; ".join([*POLICY, scripts]),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


def _is_loopback(scope: Scope) -> bool:
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    return host.rsplit(":", 1)[0] in LOOPBACK


if __name__ == "__main__":
    sys.exit(main())
