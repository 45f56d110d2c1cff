"""One Chromium, a server on the samples, and servers of one's own for tests that change things."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.server import Server, copy_of, seeded_store
from browser.visitor import Visitor, launch

Visit = Callable[..., Visitor]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ends with this folder: two Playwrights cannot live in one process."""
    with sync_playwright() as playwright:
        opened = launch(playwright)
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with both samples and their results; copy it before changing anything."""
    return seeded_store(tmp_path_factory.mktemp("samples") / "store")


@pytest.fixture(scope="package")
def sample_server(samples: Path) -> Iterator[Server]:
    """A server whose store no test changes."""
    server = Server(copy_of(samples, samples.with_name("served")), watch=True).start()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def growing_server(samples: Path) -> Iterator[Server]:
    """A server to which tests add data sets and results; each looks only at its own."""
    server = Server(copy_of(samples, samples.with_name("growing")), watch=True).start()
    yield server
    server.stop()


@pytest.fixture
def server(samples: Path, tmp_path: Path) -> Iterator[Server]:
    """A server of one's own, on a copy of the samples."""
    server = Server(copy_of(samples, tmp_path / "store"), watch=True).start()
    yield server
    server.stop()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens tabs in contexts of their own; closes them at the end."""
    visitors: list[Visitor] = []

    def come(server: Server, width: int = 1400) -> Visitor:
        visitors.append(Visitor(browser, server.address, width))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.context.close()
