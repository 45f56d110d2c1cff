"""Uploads go to the disk on their way to Streamlit, which would hold them in memory.

The pages' server gets the same request with an empty file: it checks who uploads, notes the name
and tells the page. The content waits in the inbox under the id of the upload.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Protocol

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse

from dashboard.privacy.inbox import FILE_FULL, Arrival, Inbox

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOADS = "/_stcore/upload_file/"
ONE_UPLOAD = re.compile(rf"{UPLOADS}([0-9a-f-]{{36}})/([0-9a-f-]{{36}})")
BLOCK = 1024 * 1024  # bytes written at once, in a thread: the disk must not stop the server
MAX_HEAD = 64 * 1024
NOTED = 204  # how Streamlit says that it has a file
LENGTHS = (b"content-length", b"transfer-encoding")
SWEEP_SECONDS = 20.0
PATIENCE_SECONDS = 120.0  # a page that lost its server may come back


class Pages(Protocol):
    """What the server of the pages knows of uploads."""

    def notes(self, session: str, upload: str) -> bool:
        """Whether a file was handed over and not taken back."""

    def is_open(self, session: str) -> bool:
        """Whether a browser shows the page at this moment."""


class IncomingFiles:
    """Takes the content out of every upload and writes it into the inbox."""

    def __init__(self, app: ASGIApp, inbox: Inbox, pages: Pages) -> None:
        self.app = app
        self.inbox = inbox
        self.pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on everything else, and what is left of an upload."""
        if scope["type"] != "http" or not scope["path"].startswith(UPLOADS):
            await self.app(scope, receive, send)
            return
        if scope["method"] == "PUT":
            await self._take_in(scope, receive, send)
        else:  # it may have been taken back
            await self.app(scope, receive, _after(self._sweep, send))

    def _sweep(self, _: int) -> None:
        self.inbox.keep_only(self.pages.notes)

    async def _take_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = ONE_UPLOAD.fullmatch(scope["path"])
        if found is None:
            await PlainTextResponse("Not found.", 404)(scope, receive, send)
            return
        arrival = Arrival(self.inbox, found[1], found[2])
        try:
            part = OnePart(Headers(scope=scope).get("content-type", ""))
            await _receive(Request(scope, receive), part, arrival)
            if arrival.code == FILE_FULL:  # pages say so before they send it
                words = str(self.inbox.refusal(FILE_FULL))
                await PlainTextResponse(words, 413)(scope, receive, send)
            else:
                body = part.with_content(arrival.code.encode())
                await self._hand_on(scope, body, send, arrival)
        except ClientDisconnect:
            pass  # nobody is left to be told
        except FormParserError:
            arrival.discard()  # before anybody hears of it
            await PlainTextResponse("One file is expected.", 400)(scope, receive, send)
        finally:
            arrival.discard()

    async def _hand_on(self, scope: Scope, body: bytes, send: Send, arrival: Arrival) -> None:
        """Let Streamlit note the upload; only then is the content kept, before the page hears it.

        A page shows only the number of an upload's failure. So a refusal is handed on in place
        of the content, and the page says it in words.
        """
        headers = [pair for pair in scope["headers"] if pair[0] not in LENGTHS]
        headers.append((b"content-length", str(len(body)).encode()))

        async def receive_body() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        def accept_if_noted(status: int) -> None:
            return arrival.accept() if status == NOTED else arrival.discard()

        there = {**scope, "headers": headers}
        await self.app(there, receive_body, _after(accept_if_noted, send))


def _after(work: Callable[[int], None], send: Send) -> Send:
    """Send an answer only when something is done, which may depend on its status."""

    async def send_then(message: Message) -> None:
        if message["type"] == "http.response.start":
            await run_in_threadpool(work, message["status"])
        await send(message)

    return send_then


class OnePart:
    """A form with one file, read piece by piece."""

    def __init__(self, content_type: str) -> None:
        self.boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        self.parser = MultipartParser(
            self.boundary,
            {
                "on_part_begin": self._begin,
                "on_headers_finished": self._end_head,
                "on_part_data": self._add,
            },
        )
        self.head = b""
        self.content = bytearray()
        self.parts = 0
        self.in_head = True

    def feed(self, chunk: bytes) -> None:
        """Read a piece; what it holds of the file is added to the content."""
        if self.in_head:
            self.head += chunk
        self.parser.write(chunk)
        if self.parts > 1 or (self.in_head and len(self.head) > MAX_HEAD):
            raise FormParserError

    def with_content(self, content: bytes) -> bytes:
        """The same form, with something else for a file."""
        if self.in_head:
            raise FormParserError
        head = self.head.partition(b"\r\n\r\n")[0]
        return b"%b\r\n\r\n%b\r\n--%b--\r\n" % (head, content, self.boundary)

    def _begin(self) -> None:
        self.parts += 1

    def _end_head(self) -> None:
        self.in_head = False

    def _add(self, data: bytes, start: int, end: int) -> None:
        self.content += data[start:end]


async def _receive(request: Request, part: OnePart, arrival: Arrival) -> None:
    """Write the file as it comes.

    What is refused is read on all the same, as far as one file may go: a browser listens only
    when it has said everything.
    """
    async for chunk in request.stream():
        part.feed(chunk)
        if len(part.content) >= BLOCK or not chunk:  # the last one is empty
            block = bytes(part.content)
            part.content.clear()
            await run_in_threadpool(arrival.write, block)
        if arrival.code == FILE_FULL:
            return


@contextlib.asynccontextmanager
async def sweeping(
    inbox: Inbox, pages: Pages, every: float = SWEEP_SECONDS, patience: float = PATIENCE_SECONDS
) -> AsyncIterator[None]:
    """Remove from time to time the files of pages that were closed and did not come back."""
    last_open: dict[str, float] = {}

    def is_wanted(session: str, upload: str) -> bool:
        now = time.monotonic()
        if pages.is_open(session):
            last_open[session] = now
        return pages.notes(session, upload) and now - last_open.setdefault(session, now) < patience

    async def sweep() -> None:
        while True:
            await asyncio.sleep(every)
            await run_in_threadpool(inbox.keep_only, is_wanted)

    task = asyncio.create_task(sweep())
    try:
        yield
    finally:
        task.cancel()
