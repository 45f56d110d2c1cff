"""A page on another port of this machine gets nothing; who opens the printed address, everything.

The browser of the victim holds the cookie, and to it another port is the same site: it sends the
cookie along. What is refused is refused by the server.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Request, expect

from browser.conftest import Visit
from browser.server import Server
from browser.visitor import PATIENCE

# Every way a page has to ask another server for something; each ends with what it got, or ''.
HOSTILE = """
async ([server, media, upload]) => {
  const got = {};
  const within = (seconds, promise) => Promise.race(
    [promise, new Promise(done => setTimeout(() => done(''), seconds * 1000))]);
  const text = answer => answer.text();
  const tags = (name, attribute, path) => new Promise(done => {
    const tag = document.createElement(name);
    if (name === 'link') tag.rel = 'stylesheet';
    tag.onload = () => done(name === 'iframe' ? 'perhaps' : `a ${name} was loaded`);
    tag.onerror = () => done('');
    tag[attribute] = server + path;
    document.body.append(tag);
  });
  const socket = () => new Promise(done => {
    const one = new WebSocket(server.replace('http', 'ws') + '/_stcore/stream', ['streamlit']);
    one.onopen = () => done('open');
    one.onmessage = () => done('a message');
    one.onerror = () => done('');
  });
  const events = () => new Promise(done => {
    const one = new EventSource(server + '/_stcore/health', {withCredentials: true});
    one.onopen = () => { one.close(); done('open'); };
    one.onerror = () => { one.close(); done(''); };
  });
  const form = () => { const one = document.createElement('form');
    Object.assign(one, {method: 'post', action: server + '/', target: 'hidden'});
    document.body.append(one); one.submit(); return ''; };
  const body = new FormData();
  body.append('f.csv', new Blob(['patient,dx\\n']), 'f.csv');
  const paths = ['/', '/patients', '/_stcore/health', '/_stcore/host-config', media];
  const ways = {};
  for (const path of paths) {
    for (const mode of ['cors', 'no-cors']) {
      const how = {mode, credentials: 'include'};
      ways[`${mode} ${path}`] = () => fetch(server + path, how).then(text);
    }
  }
  for (const method of ['PUT', 'POST', 'DELETE', 'OPTIONS']) {
    ways[`${method} upload`] = () => fetch(server + upload, {method, body:
      method === 'OPTIONS' ? undefined : body, credentials: 'include'}).then(() => 'answered');
  }
  ways['no-cors upload'] = () => fetch(server + upload, {method: 'POST', mode: 'no-cors', body,
    credentials: 'include'}).then(text);
  ways['picture'] = () => tags('img', 'src', '/favicon.png');
  ways['picture from media'] = () => tags('img', 'src', media);
  ways['script'] = () => tags('script', 'src', '/_stcore/health');
  ways['style'] = () => tags('link', 'href', '/static/css/x.css');
  ways['video'] = () => tags('video', 'src', media);
  ways['websocket'] = socket;
  ways['second websocket'] = socket;
  ways['events'] = events;
  ways['form'] = form;
  ways['beacon'] = () => (navigator.sendBeacon(server + upload, body), '');
  for (const [name, way] of Object.entries(ways)) {
    try { got[name] = await within(5, way()); } catch { got[name] = ''; }
  }
  return got;
}
"""


@pytest.fixture
def other_port(tmp_path: Path) -> Iterator[int]:
    """A web server that somebody else runs on this machine."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "index.html").write_text("<title>kind page</title><iframe name=hidden></iframe>")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_on_another_port_gets_nothing(
    sample_server: Server, visit: Visit, other_port: int, name: str
) -> None:
    visitor = visit(sample_server)
    visitor.enter(sample_server.address.replace("127.0.0.1", name))
    own = sample_server.url.replace("127.0.0.1", name)
    visitor.page.goto(own)  # the victim is at work
    media = visitor.page.wait_for_selector("link[rel~=icon][href*='/media/']", state="attached")
    icon = media.get_attribute("href") if media else ""
    page = visitor.context.new_page()
    frames: list[object] = []
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)),
    )
    page.goto(f"http://{name}:{other_port}/")
    assert any(one["name"] == f"swift-{sample_server.port}" for one in visitor.context.cookies(own))
    path = str(icon)[str(icon).index("/media/") :]
    got = page.evaluate(HOSTILE, [own, path, "/_stcore/upload_file/0/0"])
    assert len(got) >= 20 and not any(got.values()), got
    assert frames == []
    theirs = [one.response() for one in asked if f":{sample_server.port}" in one.url]
    assert len(theirs) >= 15 and {one.status for one in theirs if one} <= {403}
    at_home = page.evaluate(HOSTILE, [f"http://{name}:{other_port}", "/", "/"])
    assert "kind page" in at_home["cors /"]  # the ways are ways where nobody stands at the door

    with page.expect_navigation(timeout=PATIENCE):  # a click on a link
        page.evaluate("address => { location.href = address }", f"{own}/patients")
    expect(page.locator("body")).to_contain_text("not opened from another page")


def test_the_printed_address_opens_everything(sample_server: Server, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{sample_server.url}/review")
    expect(page.locator("body")).to_contain_text("Open the address that stands in the terminal")
    page.goto(sample_server.address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Phenotypes", timeout=PATIENCE)
    assert "token" not in page.url and not page.evaluate("document.cookie.includes('swift-')")
    assert page.evaluate("document.referrer") == ""
    cookies = [one for one in context.cookies() if one["name"].startswith("swift-")]
    assert len(cookies) == 2  # one opens the server, one tells this browser from others
    for cookie in cookies:
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["expires"] == -1
    page.goto(f"{sample_server.url}/review")  # typed, or a bookmark
    expect(page.get_by_role("heading", level=1)).to_have_text("Review", timeout=PATIENCE)
    context.close()


@pytest.mark.nightly  # an open page asks again after half a minute
def test_a_tab_of_an_earlier_start_says_what_to_do(server: Server, visit: Visit) -> None:
    visitor = visit(server).open()
    server.kill()
    server.start()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Open the address that stands in the terminal", timeout=PATIENCE)
    visitor.page.goto(server.address)
    visitor.still().lists("P01")
