"""Many sessions at once while a fit runs: nobody sees an error, and the server does not grow."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import psutil
import pytest
from playwright.sync_api import Browser
from support.crowd import LONG_FIT, wander
from support.page_session import PageSession

from browser.server import Server
from browser.visitor import Visitor
from dashboard.jobs import jobs
from dashboard.store.cards import RunState
from dashboard.store.request import Request

HIDE = "Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s})"
MAX_SLOPE = 20e6  # bytes an hour


@pytest.fixture
def busy(server: Server) -> Iterator[Server]:
    """A server that is computing."""
    dataset = next(card.id for card in server.store.datasets() if card.classes)
    run = jobs.start(server.store, Request("fit", dataset, LONG_FIT))
    yield server
    assert server.store.run(run).state is RunState.RUNNING


def crowd(server: Server, browser: Browser, pages: int, sessions: int, seconds: float) -> None:
    visitors = [Visitor(browser, server.address).open() for _ in range(pages)]
    others = [PageSession(server.url, {"Cookie": server.cookie}) for _ in range(sessions)]
    walk = wander(others, visitors, seconds)
    for visitor in visitors:
        visitor.context.close()
    for other in others:
        other.close()
    assert walk.errors == []
    assert len(walk.switches) >= pages + sessions


def test_several_people_while_a_fit_runs(busy: Server, browser: Browser) -> None:
    crowd(busy, browser, pages=1, sessions=7, seconds=4.0)


@pytest.mark.nightly
def test_twenty_people_for_ten_minutes(busy: Server, browser: Browser) -> None:
    crowd(busy, browser, pages=6, sessions=14, seconds=600.0)


@pytest.mark.nightly
def test_fifty_people(busy: Server, browser: Browser) -> None:
    crowd(busy, browser, pages=6, sessions=44, seconds=120.0)


@pytest.mark.nightly
def test_the_server_does_not_grow(busy: Server) -> None:
    """Thirty minutes of people coming and going; the slope over the last twenty-five counts."""
    assert busy.process is not None
    process = psutil.Process(busy.process.pid)
    began, times, sizes = time.monotonic(), [], []
    while (now := time.monotonic() - began) < 1800:
        people = [PageSession(busy.url, {"Cookie": busy.cookie}) for _ in range(4)]
        walk = wander(people, [], 20.0, seed=int(now))
        for person in people:
            person.close()
        assert walk.errors == []
        times.append(now)
        sizes.append(process.memory_info().rss)
    settled = np.array(times) > 300
    slope = np.polyfit(np.array(times)[settled] / 3600, np.array(sizes)[settled], 1)[0]
    assert slope <= MAX_SLOPE, f"{slope / 1e6:.0f} MB an hour"


def test_a_hidden_tab_asks_seldom(busy: Server, browser: Browser) -> None:
    visitor = Visitor(browser, busy.address)
    sent: list[object] = []
    visitor.page.on(
        "websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame))
    )
    visitor.open()
    counts = []
    for hidden in ("false", "true"):
        visitor.page.evaluate(HIDE % hidden)
        sent.clear()
        visitor.page.wait_for_timeout(5000)
        counts.append(len(sent))
    visitor.context.close()
    seen, unseen = counts
    assert unseen <= 1 < seen
