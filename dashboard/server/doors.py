"""Who is let in: whoever holds the token of this very run, asking from its own pages.

Another program or user of this machine can reach the port, and a page served from another port
is the *same site* to a browser, so neither the machine nor the site says who asks. A random
token does. It stands in the address that opens the dashboard and is exchanged for a cookie, which
every request and every websocket must show.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.websockets import WebSocketClose

from dashboard.server.front_page import PAGE_PATHS, front_page, safe_headers
from dashboard.text.link import browser_cookie

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
CLOSED_PATHS = ("/_stcore/metrics",)
ASKED_BY_PAGES = "/_stcore/"
PARAMETER = "token"  # of the address that opens the dashboard
OWN_SITE = ("same-origin", "none")  # from our own page, or typed by the person
POLICY_VIOLATION = 1008  # the code a refused websocket is closed with
NOT_KEPT = {"cache-control": "no-store"}


@dataclass(frozen=True)
class Entrance:
    """Where a server answers and the token that opens it; without a token it is open to all."""

    port: int
    token: str

    @classmethod
    def with_new_token(cls, port: int) -> Entrance:
        """One that nobody can guess."""
        return cls(port, secrets.token_urlsafe(32))

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.port}/" + (f"?{PARAMETER}={self.token}" if self.token else "")

    @property
    def cookie(self) -> str:
        """Cookies do not know ports; their names do, so that two servers do not take turns."""
        return f"swift-{self.port}"

    def is_own(self, host: str) -> bool:
        """Whether a Host header names this server, and nothing else."""
        port = f":{self.port}"
        return host in {f"{name}{port}" for name in NAMES} or (self.port == 80 and host in NAMES)

    def opens(self, given: str) -> bool:
        """Whether this is the token; how long the answer takes does not tell how wrong it was."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_known(self, headers: Headers) -> bool:
        """Whether the cookie holds the token. Other ports may add cookies of its name."""
        pairs = (pair.partition("=") for pair in headers.get("cookie", "").split(";"))
        values = [value.strip() for name, _, value in pairs if name.strip() == self.cookie]
        return not self.token or any(self.opens(value) for value in values)


class ClosedDoors:
    """Lets in who may, and tells the browser to fetch nothing from elsewhere."""

    stand = False  # whether this process has any: the pages are not shown without

    def __init__(self, app: ASGIApp, entrance: Entrance) -> None:
        ClosedDoors.stand = True
        self.app = app
        self.entrance = entrance
        self.page = front_page()
        safe = safe_headers(self.page)
        self.headers = [(name.encode(), value.encode()) for name, value in safe.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, answer it, or refuse it."""
        if scope["type"] == "http":
            answer = self._answer(scope) or self.app
            await answer(scope, receive, self._with_headers(send))
        elif scope["type"] == "websocket" and not self._lets_socket_in(scope):
            await WebSocketClose(POLICY_VIOLATION)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        return send_with_headers

    def _answer(self, scope: Scope) -> Response | None:
        """What to say at the door; None if the pages shall answer."""
        headers = Headers(scope=scope)
        if refusal := self._stranger(headers):
            return _words(refusal, 403)
        is_reading = scope["method"] in ("GET", "HEAD")
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == PARAMETER]
        if self.entrance.token and given and is_reading:
            rest = [(name, value) for name, value in query if name != PARAMETER]
            return self._exchange(scope, given, rest)
        if not self.entrance.is_known(headers):
            return self._ask_for_token(scope["path"])
        if scope["path"].startswith(CLOSED_PATHS):
            return PlainTextResponse("Not found.", 404)
        if scope["path"] in PAGE_PATHS and is_reading:
            return HTMLResponse(self.page, headers={"cache-control": "no-cache"})
        return None

    def _stranger(self, headers: Headers) -> str:
        """Why a request does not come from a page of this server or from the person; else ''."""
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or not self.entrance.is_own(host):
            return (
                "This server answers under its own address only. Open the address that stands "
                "in the terminal where the dashboard was started."
            )
        foreign = any(origin != f"http://{host}" for origin in headers.getlist("origin"))
        if foreign or any(site not in OWN_SITE for site in headers.getlist("sec-fetch-site")):
            return (
                "The dashboard is not opened from another page. Copy the address that stands in "
                "the terminal where it was started into the address bar of the browser."
            )
        return ""

    def _lets_socket_in(self, scope: Scope) -> bool:
        """A browser names the page that opens a websocket; nobody else has business here."""
        headers = Headers(scope=scope)
        host, origins = headers.get("host", ""), headers.getlist("origin")
        own = len(headers.getlist("host")) == 1 and self.entrance.is_own(host)
        return own and origins == [f"http://{host}"] and self.entrance.is_known(headers)

    def _exchange(self, scope: Scope, given: list[str], rest: list[tuple[str, str]]) -> Response:
        """The cookie for the token, and the same page without it in the address.

        A second cookie tells browsers apart, so that a reload finds the reviewer's name again.
        """
        if not all(self.entrance.opens(token) for token in given):
            return self._ask_for_token(scope["path"])
        query = f"?{urlencode(rest)}" if rest else ""
        there = f"/{quote(scope['path'].lstrip('/'))}{query}"  # never another server, as in //name
        answer = RedirectResponse(there, 303, headers=NOT_KEPT)
        answer.set_cookie(
            self.entrance.cookie, self.entrance.token, httponly=True, samesite="strict"
        )
        browser = browser_cookie(self.entrance.port)
        if browser not in HTTPConnection(scope).cookies:
            answer.set_cookie(browser, secrets.token_hex(16), httponly=True, samesite="strict")
        return answer

    def _ask_for_token(self, path: str) -> Response:
        text = (
            "The dashboard opens only with the token of the running server. Open the address "
            "that stands in the terminal where it was started. It is also in the file "
            f"servers/{self.entrance.port}/address of the data folder. An address of an earlier "
            "start does not work any more."
        )
        if path.startswith(ASKED_BY_PAGES):  # an open page shows what it is told if that is JSON
            return JSONResponse(text, 401, headers=NOT_KEPT)
        return _words(text, 401)


def _words(text: str, status: int) -> Response:
    return PlainTextResponse(f"{text}\n", status, headers=NOT_KEPT)
