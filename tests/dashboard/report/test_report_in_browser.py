"""The report in a real browser: nothing requested, nothing run, axe content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright
from support.finished_run import hostile_report

from dashboard.report.html_report import render_report

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(render_report(hostile_report()), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM) if CHROMIUM.exists() else None, args=FLAGS
        )
        opened = browser.new_page(viewport={"width": 1100, "height": 900})
        opened.heard = []  # type: ignore[attr-defined]
        opened.on("request", lambda request: opened.heard.append(request.url))  # type: ignore[attr-defined]
        opened.on("console", lambda said: opened.heard.append(said.text))  # type: ignore[attr-defined]
        opened.on("dialog", lambda dialog: opened.heard.append(dialog.message))  # type: ignore[attr-defined]
        opened.goto(file.as_uri())
        yield opened
        browser.close()


def test_only_the_file_itself_is_read_and_nothing_runs(page: Page) -> None:
    assert page.heard == [page.url]  # type: ignore[attr-defined]
    assert page.locator("h1").inner_text() == "Phenotype report"


@pytest.mark.parametrize("width", [1400, 820, 390])
def test_no_width_makes_the_page_scroll_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_nothing(page: Page) -> None:
    page.set_viewport_size({"width": 1100, "height": 900})
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_it_prints_on_a_few_sheets(page: Page) -> None:
    content = page.pdf(prefer_css_page_size=True)
    assert content.startswith(b"%PDF") and 2 <= content.count(b"/Type /Page\n") <= 14
