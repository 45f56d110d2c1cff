"""Nobody gets a byte without the token of this very start; who has it gets everything."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from browser.server import Server, copy_of
from support.open_session import BOUNDARY, open_session

pytestmark = pytest.mark.slow
REFUSED = (401, 403)
SAID_AT_THE_DOOR = (
    b"The dashboard ",
    b'"The dashboard ',
    b"This server answers under its own address only.",
)
BODY = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n'
    f"Content-Type: text/csv\r\n\r\npatient,dx\n1,a\n\r\n--{BOUNDARY}--\r\n"
)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Target:
    """Something worth having, that is there for who may have it."""

    method: str
    path: str
    status: int
    headers: dict[str, str]
    body: str = ""
    cookie: str = ""


HANDSHAKE = Target(
    "GET",
    "/_stcore/stream",
    101,
    {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "c29tZSByYW5kb20gYnl0ZQ==",
    },
)


@pytest.fixture(scope="module")
def old_cookie() -> list[str]:
    return []


@pytest.fixture(scope="module")
def server(
    fitted_root: Path, tmp_path_factory: pytest.TempPathFactory, old_cookie: list[str]
) -> Iterator[Server]:
    """A server that was killed and started again: there is a token of the earlier start."""
    server = Server(copy_of(fitted_root, tmp_path_factory.mktemp("doors") / "store")).start()
    old_cookie.append(server.cookie)
    server.kill()
    server.start()
    yield server
    server.stop()


def ask(server: Server, target: Target, headers: dict[str, str] | None = None) -> Answer:
    """One request with these headers, over a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    said = {**target.headers, **(headers or {})}
    if cookies := [each for each in (target.cookie, said.get("Cookie", "")) if each]:
        said["Cookie"] = "; ".join(cookies)
    connection.request(target.method, target.path, target.body or None, said)
    got = connection.getresponse()
    answer = Answer(got.status, {name.lower(): text for name, text in got.getheaders()}, got.read())
    connection.close()
    return answer


def get(path: str, status: int = 200) -> Target:
    return Target("GET", path, status, {})


@pytest.fixture(scope="module")
def session(server: Server) -> Iterator[list[Target]]:
    """What somebody with the token reaches while a page is open."""
    with open_session(server) as page:
        media = re.search(rb"/media/[0-9a-f]{20,}\.\w+", page.said)
        assert media is not None
        form = {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "X-Xsrftoken": page.xsrf,
        }
        upload = page.path("00000000-0000-4000-8000-000000000000")
        yield [
            get("/review?data=x"),
            get("/_stcore/health"),
            get("/_stcore/host-config"),
            get(f"/static/js/{_script()}"),
            get(media[0].decode()),
            Target("PUT", upload, 204, form, BODY, f"_streamlit_xsrf={page.xsrf}"),
        ]


def _script() -> str:
    import streamlit

    return next((Path(streamlit.__file__).parent / "static/static/js").glob("index.*.js")).name


def friend(server: Server) -> dict[str, str]:
    """What our own page sends."""
    return {"Cookie": server.cookie, "Origin": server.url}


def strangers(server: Server, old: str) -> dict[str, dict[str, str]]:
    """Everybody who shall not get in, by the headers they send."""
    own, port, known = server.url, server.port, server.cookie
    return {
        "no token": {},
        "right Origin, no token": {"Origin": own},
        "wrong token": {"Cookie": f"swift-{port}=guess"},
        "old token": {"Cookie": old, "Origin": own},
        "empty token": {"Cookie": f"swift-{port}="},
        "cookie of another port": {"Cookie": known.replace(str(port), str(port + 1), 1)},
        "page on another port": {"Cookie": known, "Origin": "http://127.0.0.1:9931"},
        "page on another port, by name": {"Cookie": known, "Origin": "http://localhost:9931"},
        "own page under the other name": {"Cookie": known, "Origin": f"http://localhost:{port}"},
        "page without an origin": {"Cookie": known, "Origin": "null"},
        "page with TLS": {"Cookie": known, "Origin": own.replace("http", "https")},
        "rebound name": {"Cookie": known, "Host": f"evil.example:{port}"},
        "rebound name with its origin": {
            "Cookie": known,
            "Host": f"evil.example:{port}",
            "Origin": f"http://evil.example:{port}",
        },
        "name as port": {"Cookie": known, "Host": "localhost:evil.com"},
        "no port": {"Cookie": known, "Host": "127.0.0.1"},
        "port of another": {"Cookie": known, "Host": f"127.0.0.1:{port + 1}"},
        "user before the host": {"Cookie": known, "Host": f"evil.example@127.0.0.1:{port}"},
    }


def test_who_has_the_token_gets_everything(server: Server, session: list[Target]) -> None:
    assert ask(server, HANDSHAKE, friend(server)).status == 101
    for target in session:
        answer = ask(server, target, friend(server))
        assert answer.status == target.status, (target, answer)
        assert answer.body or target.method == "PUT"
        by_name = {"Cookie": server.cookie, "Host": f"localhost:{server.port}"}
        assert ask(server, target, by_name).status == target.status


def test_nobody_else_gets_a_byte(
    server: Server, session: list[Target], old_cookie: list[str]
) -> None:
    attempts = let_in = 0
    foreign = {"Cookie": server.cookie, "Sec-Fetch-Site": "cross-site"}
    by_http = strangers(server, old_cookie[0]) | {
        "link on another site": foreign,
        "picture on a page of another port": {**foreign, "Sec-Fetch-Site": "same-site"},
    }
    for headers in by_http.values():
        for target in session:
            answer = ask(server, target, headers)
            refused = answer.status in REFUSED and answer.body.startswith(SAID_AT_THE_DOOR)
            attempts, let_in = attempts + 1, let_in + (not refused)
            assert "set-cookie" not in answer.headers
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert answer.headers["cross-origin-opener-policy"] == "same-origin"
            assert "camera=()" in answer.headers["permissions-policy"]
    by_socket = strangers(server, old_cookie[0]) | {"no Origin": {"Cookie": server.cookie}}
    for headers in by_socket.values():
        answer = ask(server, HANDSHAKE, headers)
        refused = answer.status == 403 and not answer.body
        attempts, let_in = attempts + 1, let_in + (not refused)
    assert attempts >= 40 and let_in == 0, (let_in, attempts)


@pytest.mark.parametrize("path", ["/", "/review", "/_stcore/health"])
def test_a_wrong_token_in_the_address_is_refused(
    server: Server, old_cookie: list[str], path: str
) -> None:
    old = old_cookie[0].partition("=")[2]
    right = server.cookie.partition("=")[2]
    for query in (f"token={old}", "token=", "token=guess", f"token={right}&token={old}"):
        answer = ask(server, get(f"{path}?{query}"))
        assert answer.status == 401 and b"in the terminal" in answer.body
        assert "set-cookie" not in answer.headers
    known = ask(server, get(f"{path}?token={old}"), {"Cookie": server.cookie})
    assert known.status == 401


def test_the_token_is_exchanged_for_a_cookie(server: Server) -> None:
    token = server.cookie.partition("=")[2]
    known = {"Cookie": f"swift-{server.port}-browser=known"}
    answer = ask(server, get(f"/review?run=a%26b&token={token}&p="), known)
    assert answer.status == 303 and answer.headers["location"] == "/review?run=a%26b&p="
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"swift-{server.port}={token.lower()};")
    assert "httponly" in cookie and "samesite=strict" in cookie and "domain" not in cookie
    fresh = (
        ask(server, get(f"/?token={token}")).headers["set-cookie"].lower()
    )  # of the two, the last
    assert re.match(rf"swift-{server.port}-browser=[0-9a-f]{{32}};", fresh), fresh
    assert "httponly" in fresh and "samesite=strict" in fresh and token.lower() not in fresh
    for hostile in ("//evil.example/x", "/\\evil.example"):
        answer = ask(server, get(f"{hostile}?token={token}"))
        assert re.match(r"/[^/\\]", answer.headers["location"]), answer.headers["location"]
    clicked = ask(server, get(f"/?token={token}"), {"Sec-Fetch-Site": "cross-site"})
    assert clicked.status == 403 and "set-cookie" not in clicked.headers


def test_the_token_stands_in_no_log(server: Server) -> None:
    """Each start has printed its own once, and nothing printed another address."""
    log = server.log.read_text()
    assert log.count(server.cookie.partition("=")[2]) == 1
    assert len(re.findall(r"https?://", log)) == 2, log
