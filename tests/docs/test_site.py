"""The site builds without a warning, opens from a disk without a network, and is complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.visitor import launch
from fenced import ROOT
from playwright.sync_api import sync_playwright

import swiftcore

OURS = ("file:", "data:", "blob:", "about:")
CHARTS = 5  # on the page of the notebook


def build(folder: Path) -> str:
    """Build the site as ``make docs`` does; what went wrong."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
    }
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-W", "--keep-going"]
    done = subprocess.run(
        [*command, "docs", str(folder / "site")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def faults_on_opening(site: Path) -> Iterator[str]:
    """Requests that leave the disk, files that are missing, scripts that fail."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for path in sorted(site.rglob("*.html")):
            page, faults = browser.new_page(), []
            page.on("request", lambda sent, to=faults: to.append(f"asked for {sent.url}"))
            page.on("requestfailed", lambda sent, to=faults: to.append(f"failed: {sent.url}"))
            page.on("pageerror", lambda error, to=faults: to.append(f"error: {error}"))
            page.goto(path.as_uri(), wait_until="load")
            if path.name == "notebook.html":
                page.wait_for_function(
                    f"document.querySelectorAll('.js-plotly-plot').length === {CHARTS}"
                )
            page.close()
            allowed = tuple(f"asked for {scheme}" for scheme in OURS)
            yield from (f"{path.name} {one}" for one in faults if not one.startswith(allowed))
        browser.close()


def missing_names(site: Path) -> list[str]:
    """Public names without an entry in the API reference."""
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    return [name for name in swiftcore.__all__ if f'id="swiftcore.{name}"' not in page]


@pytest.mark.slow
def test_the_site_builds_opens_offline_and_is_complete(tmp_path: Path) -> None:
    assert build(tmp_path) == ""
    site = tmp_path / "site"
    assert list(faults_on_opening(site)) == []
    assert missing_names(site) == []
    pages = {path.name for path in site.rglob("*.html")} - {"search.html", "genindex.html"}
    index = (site / "index.html").read_text(encoding="utf-8")
    assert [name for name in sorted(pages) if not re.search(rf'href="[^"]*{name}"', index)] in (
        [],
        ["index.html"],
    )
