"""How long a person waits, and how far the page jumps: first open, and switches between pages.

Cold: a new store, a new server process and an empty browser each time. Times depend on the
machine and on what else it does, so the load average stands beside them. Jumps are Chromium's
layout shifts: the cumulative score leaves out what moves within half a second of a click, so for
switches the sum of all shifts is told too.
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
SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver(list => window.shifts.push(...list.getEntries().map(
    each => ({value: each.value, asked: each.hadRecentInput})
  ))).observe({type: 'layout-shift', buffered: true});
}"""
TAKE = "() => window.shifts.splice(0)"
FIRST_PAGE = {"list": LIST, "card": CARD, "chart": CHART}


def take_shifts(visitor: Visitor, what: str) -> dict[str, float]:
    """How far the page jumped since it was last asked: cumulative score, and all shifts."""
    found = visitor.page.evaluate(TAKE)
    score = sum(one["value"] for one in found if not one["asked"])
    return {f"{what}: score": score, f"{what}: all": sum(one["value"] for one in found)}


def measure(browser, root: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds until list, card and charts of the first page and for each switch; layout shifts."""
    server = Server(seeded_store(root))
    began = time.perf_counter()
    server.start()
    seconds = {"server answers": time.perf_counter() - began}
    visitor = Visitor(browser, server.address)
    visitor.page.add_init_script(f"({SHIFTS})()")
    try:
        began = time.perf_counter()
        visitor.page.goto(server.address, wait_until="commit")
        for what, condition in FIRST_PAGE.items():
            visitor.page.wait_for_function(condition, timeout=PATIENCE, polling=20)
            seconds[f"first page: {what}"] = time.perf_counter() - began
        visitor.still()
        shifts = take_shifts(visitor, "first page")
        for title in (*PAGES[1:], PAGES[0]):
            link = visitor.page.get_by_test_id("stTopNavLink").filter(has_text=title)
            began = time.perf_counter()
            link.first.click()
            visitor.page.wait_for_function(DRAWN, arg=title, timeout=PATIENCE, polling=20)
            seconds[f"switch to {title}"] = time.perf_counter() - began
            visitor.still()
            shifts |= take_shifts(visitor, f"switch to {title}")
    finally:
        visitor.context.close()
        server.stop()
    return seconds, shifts


def print_table(title: str, unit: str, runs: list[dict[str, float]], digits: int) -> dict:
    """Median and largest of each number, as a table; the medians."""
    table = Table("", f"median{unit}", f"largest{unit}", title=title)
    medians = {
        name: round(statistics.median(run[name] for run in runs), digits) for name in runs[0]
    }
    for name, median in medians.items():
        largest = max(run[name] for run in runs)
        table.add_row(name, f"{median:.{digits}f}", f"{largest:.{digits}f}")
    Console().print(table)
    return medians


def main() -> int:
    """Measure, print a table, write the numbers."""
    runs = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        for number in range(REPEATS):
            browser = launch(playwright)
            runs.append(measure(browser, Path(folder) / f"store{number}"))
            browser.close()
    load, (seconds, shifts) = os.getloadavg(), (list(part) for part in zip(*runs, strict=True))
    title = f"{REPEATS} cold starts, load {load[0]:.1f} on {os.cpu_count()} cores"
    medians = print_table(title, ", s", seconds, 2)
    jumps = print_table("Layout shifts (good: at most 0.1)", "", shifts, 3)
    about = {
        "load_average": [round(value, 2) for value in load],
        "cores": os.cpu_count(),
        "repeats": REPEATS,
        "median_seconds": medians,
        "seconds": [{name: round(value, 3) for name, value in run.items()} for run in seconds],
        "median_layout_shift": jumps,
        "layout_shift": [{name: round(value, 4) for name, value in run.items()} for run in shifts],
    }
    RESULT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
