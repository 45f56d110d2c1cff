"""What the dashboard costs under load: lists, idle tabs, large data, many people at once.

    python -m benchmarks.load [--minutes 10]

Each number is CPU seconds of the server, or time a person waits, beside its bar; the load average
stands with them, because other work on the machine makes people wait longer.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks import RESULTS
from dashboard.jobs import jobs
from dashboard.store.cards import RunState
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.data.synthetic.ehr import generate_ehr

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))  # the same server and browser as the tests
from browser.server import Server, seeded_store  # noqa: E402
from browser.visitor import Visitor, launch  # noqa: E402
from support.crowd import LONG_FIT, PAGES, wander  # noqa: E402
from support.page_session import PageSession  # noqa: E402

RESULT = RESULTS / "load.json"
RUNS, PATIENTS, IDLE = 1000, 50_000, 30.0
Row = dict[str, Any]


def row(what: str, found: float, bar: float, unit: str) -> Row:
    """One line of the table."""
    return {"what": what, "found": round(found, 4), "bar": bar, "unit": unit}


def listing(root: Path) -> list[Row]:
    """How long it takes to know what is running, among many finished runs."""
    store = Store(root)
    fit = next(run for run in store.runs(kind="fit") if run.state is RunState.DONE)
    folder = root / "runs" / fit.id
    files = {name: (folder / name).read_bytes() for name in ("model.npz", "links.json")}
    for seed in range(1, RUNS - len(store.runs()) + 1):
        request = Request("fit", fit.dataset, {"rank": 12, "seed": seed})
        store.publish_run(request, files, time.time(), 1.0)
    began = time.process_time()
    first = len(store.runs())
    once = time.process_time() - began
    began = time.process_time()
    for _ in range(100):
        jobs.active(store.runs())
    each = (time.process_time() - began) / 100
    return [
        row(f"jobs.active at {first} runs", 1e3 * each, 5.0, "CPU ms"),
        row(f"first listing of {first} runs", once, np.inf, "CPU s"),
    ]


def idle_tabs(server: Server) -> list[Row]:
    """What an open tab costs while a fit runs and nobody touches it."""
    cpu, session, rows = cpu_of(server), PageSession(server.url, {"Cookie": server.cookie}), []
    for name in PAGES:
        session.open(name)
        session.idle(2.0)
        began = cpu()
        session.idle(IDLE)
        used = 100 * (cpu() - began) / IDLE
        rows.append(row(f"idle tab, page {name or 'phenotypes'}", used, 1.0, "% of a core"))
    session.close()
    return rows


def large_data(root: Path) -> list[Row]:
    """What a drawing of the page Data costs, with many patients."""
    made, store = generate_ehr(PATIENTS), Store(root)
    dataset = Dataset("many patients", made.tensor, made.outcome, made.outcome_name, "Synthetic.")
    store.add_dataset(dataset, synthetic=True)
    server = Server(root).start()
    try:
        cpu, session, spent = cpu_of(server), PageSession(server.url, {"Cookie": server.cookie}), []
        for _ in range(6):
            began = cpu()
            session.open("data")
            spent.append(cpu() - began)
        assert not session.errors, session.errors
    finally:
        server.stop()
    return [
        row(f"page Data, {PATIENTS:,} patients, first drawing", spent[0], 0.5, "CPU s"),
        row(f"page Data, {PATIENTS:,} patients, later ones", max(spent[1:]), 0.5, "CPU s"),
    ]


def crowd(server: Server, minutes: float) -> list[Row]:
    """Twenty people, six of them in Chromium, then fifty, while a fit runs."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        visitors = [Visitor(browser, server.address).open() for _ in range(6)]
        sessions = [PageSession(server.url, {"Cookie": server.cookie}) for _ in range(14)]
        twenty = wander(sessions, visitors, 60 * minutes)
        browser.close()
    more = [PageSession(server.url, {"Cookie": server.cookie}) for _ in range(36)]
    fifty = wander([*sessions, *more], [], 60.0)
    for session in (*sessions, *more):
        session.close()
    return [
        row(f"20 sessions, {len(twenty.switches)} switches: p95", twenty.slowest(), 2.0, "s"),
        row(f"20 sessions, {minutes:g} min: errors", len(twenty.errors), 0, ""),
        row(f"50 sessions, {len(fifty.switches)} switches: p95", fifty.slowest(), np.inf, "s"),
        row("50 sessions, 1 min: errors", len(fifty.errors), 0, ""),
    ]


def cpu_of(server: Server) -> Callable[[], float]:
    """The CPU seconds of the server so far; its workers are not counted."""
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    return lambda: float(sum(process.cpu_times()[:2]))


def main() -> int:
    """Measure, print a table, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="of the crowd; default 10")
    minutes, rows = parser.parse_args().minutes, []
    with tempfile.TemporaryDirectory() as folder:
        rows += large_data(Path(folder) / "large")
        rows += listing(seeded_store(Path(folder) / "many"))
        server = Server(seeded_store(Path(folder) / "busy")).start()
        try:
            dataset = next(card.id for card in server.store.datasets() if card.classes)
            run = jobs.start(server.store, Request("fit", dataset, LONG_FIT))
            rows += idle_tabs(server)
            rows += crowd(server, minutes)
            assert server.store.run(run).state is RunState.RUNNING
        finally:
            server.stop()
    load = [round(value, 2) for value in os.getloadavg()]
    table = Table("", "found", "bar", "", title=f"load {load[0]} on {os.cpu_count()} cores")
    for each in rows:
        bar = "" if each["bar"] == np.inf else f"{each['bar']:g}"
        table.add_row(each["what"], f"{each['found']:g}", bar, each["unit"])
        each["bar"] = None if each["bar"] == np.inf else each["bar"]
    Console().print(table)
    about = {"load_average": load, "cores": os.cpu_count(), "rows": rows}
    RESULT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
