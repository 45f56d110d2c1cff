"""How long a person waits: the first open of a fresh server, and a switch between pages.

Cold: a new store, a new server process and an empty browser each time. Times depend on the
machine and on what else it does, so the load average stands beside them.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks import RESULTS

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))  # the same server and browser as the tests
from browser.server import Server, seeded_store  # noqa: E402
from browser.visitor import PAGES, PATIENCE, Visitor, launch  # noqa: E402
from support.crowd import DRAWN  # noqa: E402

RESULT = RESULTS / "dashboard_open.json"
REPEATS = 3
LIST = "() => document.querySelectorAll('.phenotype-list li').length > 1"
CARD = "() => document.querySelectorAll('.phenotype-card .strength').length > 1"
CHART = """() => !!document.querySelector('[data-testid="stPlotlyChart"] .main-svg .point')"""
FIRST_PAGE = {"list": LIST, "card": CARD, "chart": CHART}


def measure(browser, root: Path) -> dict[str, float]:
    """Seconds until list, card and charts of the first page, and for each switch after it."""
    server = Server(seeded_store(root))
    began = time.perf_counter()
    server.start()
    seconds = {"server answers": time.perf_counter() - began}
    visitor = Visitor(browser, server.address)
    try:
        began = time.perf_counter()
        visitor.page.goto(server.address, wait_until="commit")
        for what, condition in FIRST_PAGE.items():
            visitor.page.wait_for_function(condition, timeout=PATIENCE, polling=20)
            seconds[f"first page: {what}"] = time.perf_counter() - began
        visitor.still()
        for title in (*PAGES[1:], PAGES[0]):
            link = visitor.page.get_by_test_id("stTopNavLink").filter(has_text=title)
            began = time.perf_counter()
            link.first.click()
            visitor.page.wait_for_function(DRAWN, arg=title, timeout=PATIENCE, polling=20)
            seconds[f"switch to {title}"] = time.perf_counter() - began
            visitor.still()
    finally:
        visitor.context.close()
        server.stop()
    return seconds


def main() -> int:
    """Measure, print a table, write the numbers."""
    runs = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        for number in range(REPEATS):
            browser = launch(playwright)
            runs.append(measure(browser, Path(folder) / f"store{number}"))
            browser.close()
    load = os.getloadavg()
    medians = {name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]}
    table = Table(
        "",
        "median, s",
        "slowest, s",
        title=f"{REPEATS} cold starts, load {load[0]:.1f} on {os.cpu_count()} cores",
    )
    for name, median in medians.items():
        table.add_row(name, f"{median:.2f}", f"{max(run[name] for run in runs):.2f}")
    Console().print(table)
    about = {
        "load_average": [round(value, 2) for value in load],
        "cores": os.cpu_count(),
        "repeats": REPEATS,
        "median_seconds": medians,
        "seconds": [{name: round(value, 3) for name, value in run.items()} for run in runs],
    }
    RESULT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
