"""A browser tab without a browser: speaks Streamlit's protocol over a real websocket."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

PATIENCE = 60.0  # seconds; the machine may be busy
WHOLE = ForwardMsg.FINISHED_SUCCESSFULLY
FRAGMENT = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


class PageSession:
    """One session on the server: opens pages, answers refresh timers, remembers errors.

    Parameters
    ----------
    url : str
        Of the server, ``http://127.0.0.1:...``.
    headers : mapping, optional
        What a browser would send besides, such as the cookie.
    """

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self.errors: list[str] = []
        self.timers: dict[str, float] = {}  # fragment to its interval in seconds
        self.pages: dict[str, str] = {}
        self._due: dict[str, float] = {}
        self._page = ""
        self._until_closed = ExitStack()
        opened = connect(
            f"{url.replace('http', 'ws', 1)}/_stcore/stream",
            origin=url,  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
            additional_headers=dict(headers or {}),
            max_size=None,
            open_timeout=PATIENCE,
        )
        self._socket = self._until_closed.enter_context(opened)

    def open(self, name: str = "") -> float:
        """Draw a page from top to bottom; the seconds it took."""
        began = time.perf_counter()
        message = BackMsg()
        message.rerun_script.page_name = name
        message.rerun_script.query_string = ""
        self._socket.send(message.SerializeToString())
        self._read_until(WHOLE)
        return time.perf_counter() - began

    def idle(self, seconds: float) -> int:
        """Sit there as an open tab does: refresh what asked for it; how often that was."""
        until, refreshed = time.monotonic() + seconds, 0
        while (now := time.monotonic()) < until:
            fragment = min(self._due, key=self._due.__getitem__, default="")
            wait = min(until, self._due.get(fragment, until)) - now
            if wait > 0:
                self._listen(wait)
                continue
            self._due[fragment] = now + self.timers[fragment]
            message = BackMsg()
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
            message.rerun_script.page_script_hash = self._page
            self._socket.send(message.SerializeToString())
            self._read_until(FRAGMENT, WHOLE)
            refreshed += 1
        return refreshed

    def close(self) -> None:
        """Leave."""
        self._until_closed.close()

    def _listen(self, seconds: float) -> None:
        try:
            self._note(self._socket.recv(timeout=seconds))
        except TimeoutError:
            return

    def _read_until(self, *ends: Any) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            message = self._note(self._socket.recv(timeout=max(0.01, until - time.monotonic())))
            if message.WhichOneof("type") == "script_finished" and message.script_finished in ends:
                return

    def _note(self, raw: str | bytes) -> ForwardMsg:
        message = ForwardMsg()
        message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
        match message.WhichOneof("type"):
            case "new_session":
                self._page = message.new_session.page_script_hash
                if not message.metadata.run.fragment_ids:  # a whole drawing sets its own timers
                    self.timers.clear()
                    self._due.clear()
            case "auto_rerun":
                rerun = message.auto_rerun
                self.timers[rerun.fragment_id] = rerun.interval
                self._due[rerun.fragment_id] = time.monotonic() + rerun.interval
            case "stop_auto_rerun":
                for fragment in message.stop_auto_rerun.fragment_ids:
                    self.timers.pop(fragment, None)
                    self._due.pop(fragment, None)
            case "delta":
                self._note_error(message)
        return message

    def _note_error(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "alert" and element.alert.format == element.alert.ERROR:
            self.errors.append(element.alert.body)
