"""A browser session without a browser: the websocket, and uploads as a page sends them."""

from __future__ import annotations

import http.client
import io
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from browser.server import Server
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

BOUNDARY = "a-line-between"
BLOCK = 1 << 20


@dataclass(frozen=True)
class Session:
    """An open page: its id, what the server said first, and the cookie against forged uploads."""

    server: Server
    identifier: str
    said: bytes
    xsrf: str

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Cookie": f"{self.server.cookie}; _streamlit_xsrf={self.xsrf}",
            "Origin": self.server.url,
            "X-Xsrftoken": self.xsrf,
        }

    def path(self, upload: str) -> str:
        return f"/_stcore/upload_file/{self.identifier}/{upload}"

    def send(self, file: BinaryIO, size: int, upload: str = "") -> tuple[int, str]:
        """Upload a file; the status and what was said."""
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n'
            "Content-Type: text/csv\r\n\r\n"
        ).encode()
        tail = f"\r\n--{BOUNDARY}--\r\n".encode()
        headers = {
            **self.headers,
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Content-Length": str(len(head) + size + len(tail)),
        }
        blocks = iter(lambda: file.read(BLOCK), b"")
        body = (piece for part in ([head], blocks, [tail]) for piece in part)
        return self.ask("PUT", self.path(upload or str(uuid.uuid4())), body, headers)

    def send_bytes(self, content: bytes, upload: str = "") -> tuple[int, str]:
        return self.send(io.BytesIO(content), len(content), upload)

    def take_back(self, upload: str) -> int:
        return self.ask("DELETE", self.path(upload), None, self.headers)[0]

    def ask(self, method: str, path: str, body: object, headers: dict[str, str]) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        connection.request(method, path, body, headers)  # type: ignore[arg-type]
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        return answer.status, said


@contextmanager
def open_session(server: Server, page: str = "data") -> Iterator[Session]:
    """Open a page and keep it open."""
    stream = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    known = {"Cookie": server.cookie, "Origin": server.url}
    with connect(stream, additional_headers=known, close_timeout=1, max_size=None) as socket:
        asked = BackMsg()
        asked.rerun_script.page_name = page
        socket.send(asked.SerializeToString())
        said, identifier, ended = b"", "", False
        while not (identifier and ended):
            got = socket.recv(timeout=60)
            assert isinstance(got, bytes)
            message = ForwardMsg.FromString(got)
            said += got
            identifier = message.new_session.initialize.session_id or identifier
            ended = message.WhichOneof("type") == "script_finished"
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/_stcore/health", headers=known)
        cookie = str(connection.getresponse().headers["set-cookie"])
        connection.close()
        yield Session(server, identifier, said, cookie.partition("=")[2].partition(";")[0])
