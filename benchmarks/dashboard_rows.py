"""What every page costs with very many patients: CPU seconds of the server, and its memory.

    python -m benchmarks.dashboard_rows [--patients 100000] [--store DIR]

Patients come from ``swift data generate``, with ages, sexes, clinics and dates; a short fit is made
of them by a job, as a person would have it. Then a real server shows every page and every tab in
Chromium, once to warm up and once to be measured. A store given by name is kept, and used again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks import RESULTS
from benchmarks.load import cpu_of
from dashboard.jobs import jobs
from dashboard.store.cards import RunState
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))  # the same server and browser as the tests
from browser.server import Server  # noqa: E402
from browser.visitor import PAGES, Visitor, launch  # noqa: E402

RESULT = RESULTS / "dashboard_rows.json"
FIT = {"rank": 8, "max_iterations": 10, "n_restarts": 1}
BUILD = BuildOptions(join="visit", values="binary", outcome_column="heart_failure")
BARS = {"CPU s": 1.0, "GB": 1.0}
Row = dict[str, Any]


def filled_store(root: Path, patients: int) -> Path:
    """A store with one data set of so many patients and one finished fit of it."""
    store = Store(root)
    if any(run.state is RunState.DONE for run in store.runs(kind="fit")):
        return root
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        made = ["generate", "--patients", str(patients), "--out", f"{folder}/cohort.swift"]
        swift = [sys.executable, "-m", "swiftcore.cli", "data", *made, "--tables", str(tables)]
        subprocess.run(swift, check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        dataset = store.add_dataset(build_path(tables, BUILD), synthetic=True)
    run = jobs.start(store, Request("fit", dataset, FIT))
    while (card := store.run(run)).state.active:
        time.sleep(1)
    assert card.state is RunState.DONE, card.message
    return root


def measured(server: Server, visitor: Visitor) -> Iterator[Row]:
    """One line for each page and each tab on it."""
    cpu = cpu_of(server)

    def spent(what: str, act: Callable[[], object]) -> Row:
        began, started = cpu(), time.perf_counter()
        act()
        seconds = time.perf_counter() - started
        found = {"what": what, "found": round(cpu() - began, 3), "unit": "CPU s"}
        return {**found, "seconds": round(seconds, 2), "server_gb": resident(server)}

    for title in (*PAGES[1:], PAGES[0]):
        yield spent(f"page {title}", lambda title=title: visitor.go_to(title))
        tabs = [name.strip() for name in visitor.page.get_by_role("tab").all_inner_texts()]
        for name in tabs[1:]:
            yield spent(f"{title}, tab {name}", lambda name=name: visitor.open_tab(name))
        visitor.is_well()


def resident(server: Server) -> float:
    """Gigabytes that the server holds now; pages of mapped files count too."""
    assert server.process is not None
    return round(psutil.Process(server.process.pid).memory_info().rss / 1e9, 3)


def peak(server: Server) -> float:
    """The most it ever held, in gigabytes, as the kernel noted it."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return round(int(kilobytes) * 1024 / 1e9, 3)


def measure(root: Path) -> list[Row]:
    """The first open, then every page twice; the second time counts."""
    server = Server(root).start()
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            visitor, cpu = Visitor(browser, server.address), cpu_of(server)
            began = cpu()
            visitor.open()
            first = {"what": "first open of the server", "found": round(cpu() - began, 3)}
            cold = list(measured(server, visitor))
            warm = list(measured(server, visitor))
            browser.close()
        most = {"what": "most memory the server ever held", "found": peak(server), "unit": "GB"}
    finally:
        server.stop()
    rows = [{**row, "first_time": before["found"]} for row, before in zip(warm, cold, strict=True)]
    return [{**first, "unit": "CPU s, once"}, *rows, most]


def main() -> int:
    """Measure, print a table, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--patients", type=int, default=100_000)
    parser.add_argument("--store", type=Path, help="made or used again; without it, thrown away")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(filled_store(chosen.store or Path(folder) / "store", chosen.patients))
    load = [round(value, 2) for value in os.getloadavg()]
    title = f"{chosen.patients:,} patients, load {load[0]} on {os.cpu_count()} cores"
    table = Table("", "found", "bar", "", "the first time", "server, GB", title=title)
    for row in rows:
        bar = BARS.get(row["unit"])
        row |= {"bar": bar}
        told = (f"{row['found']:g}", "" if bar is None else f"{bar:g}", row["unit"])
        extra = [str(row.get(name, "")) for name in ("first_time", "server_gb")]
        table.add_row(row["what"], *told, *extra)
    Console().print(table)
    about = {"patients": chosen.patients, "load_average": load, "cores": os.cpu_count()}
    RESULT.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
