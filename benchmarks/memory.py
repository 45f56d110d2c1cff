"""The memory that a fit was said to need beside what it took, through the dashboard's path.

    python -m benchmarks.memory [--missing]

Every fit is asked for like one on the page Runs: made-up data in a store of their own, and a
worker in a process of its own. Its peak is the kernel's high-water mark of resident memory,
read until the process is gone. Of experiments, which fit in several processes, it is the highest
sum of what each has for itself, and the files of the program once. With ``--missing`` only fits
that are not in ``memory.json`` yet are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

from benchmarks import RESULTS
from dashboard.jobs import jobs
from dashboard.store.cards import RunState
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.runtime.memory import family, held_memory
from swiftcore.tensor import SparseTensor

RESULT = RESULTS / "memory.json"
MEGABYTE = 1e6
LOOK_EVERY = 0.02  # seconds
MOST_SECONDS = 900.0
TOLERANCE = 0.25
BRIEF = {"max_iterations": 2, "tolerance": 0.0}  # the peak comes early
NO_ROW_COST = {"row_relation": "none"}
DENSE, NEAR = {"row_relation": "dense"}, {"row_relation": "neighbourhoods"}


@dataclass(frozen=True)
class Case:
    """A fit of made-up data.

    Attributes
    ----------
    shape : tuple of int
    entries : int
        Drawn; those that fall on the same place are one.
    settings : mapping
        Of the fit, beside the usual ones.
    words : int
        Of a text data set; 0: it has none.
    """

    shape: tuple[int, ...]
    entries: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    words: int = 0

    @property
    def title(self) -> str:
        size = " x ".join(f"{size:,}" for size in self.shape)
        changed = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        words = f", {self.words:,} words" if self.words else ""
        return f"{size}, {self.entries:,} drawn{words}{', ' + changed if changed else ''}"

    def dataset(self) -> Dataset:
        """Rows that have some features more often than others, and an outcome."""
        rng = np.random.default_rng(sum(self.shape) + self.entries)
        rows = rng.integers(0, self.shape[0], self.entries)
        others = [
            np.minimum((rng.random(self.entries) ** 2 * size).astype(int), size - 1)
            for size in self.shape[1:]
        ]
        tensor = SparseTensor.from_coordinates(
            np.column_stack([rows, *others]), np.ones(self.entries), self.shape
        )
        outcome = rng.random(self.shape[0]) < 0.3
        counts = None
        if self.words:
            counts = sparse.random_array(
                (self.shape[0], self.words), density=100 / self.words, format="csr", rng=rng
            )
            counts.data = np.ceil(5 * counts.data)
        words = tuple(f"word {index}" for index in range(self.words))
        return Dataset("made up", tensor, outcome, "fever", "Made up.", None, counts, words)


CASES = (
    Case((100, 20, 20), 1_000),
    Case((500, 100, 100), 10_000),
    Case((1_000, 100, 100), 50_000, {"rank": 40}),
    Case((1_000, 200, 200), 300_000, {"dtype": "float64"}),
    Case((2_000, 150, 120), 60_000, NO_ROW_COST),
    Case((3_000, 60, 40), 60_000),
    Case((3_000, 60, 40), 60_000, {"costs": "random"}),
    Case((3_000, 60, 40), 60_000, {"costs": "one-minus-identity", "dtype": "float64", **NEAR}),
    Case((2_225, 400, 400), 400_000, {"rank": 10}, words=9_000),
    Case((2_000, 1_500), 100_000, {"rank": 15}),
    Case((4_000, 3_000), 200_000, {"rank": 8}),
    Case((600, 30, 25, 12), 40_000),
    Case((5_000, 40, 30, 8), 200_000, {"rank": 30}),
    Case((1_500, 80, 60), 30_000, {"sharpness": 1000.0, **NEAR}),
    Case((800, 60, 50), 15_000, {"sharpness": 500.0, "dtype": "float64"}),
    Case((4_000, 20, 10), 40_000, {"sharpness": 200.0, **NO_ROW_COST}),
    Case((5_000, 50, 40), 100_000),
    Case((5_000, 50, 40), 100_000, {"dtype": "float64", **DENSE}),
    Case((6_000, 20, 20), 800_000, {"rank": 5}),
    Case((8_000, 30, 20), 80_000, {"rank": 10}),
    Case((8_000, 30, 20), 80_000, {"dtype": "float64", "rank": 60}),
    Case((8_000, 30, 20), 80_000, {"costs": "random", "rank": 4, **DENSE}),
    Case((10_000, 200, 150), 500_000, {**NO_ROW_COST, "rank": 50}),
    Case((10_000, 30, 15), 100_000, DENSE),
    Case((12_000, 20, 10), 60_000, {"rank": 5}),
    Case((13_000, 25, 15), 100_000),
    Case((14_000, 20, 10), 60_000, {"dtype": "float64", "rank": 6}),
    Case((14_000, 600, 500), 1_000_000, {**NO_ROW_COST, "dtype": "float64"}),
    Case((50_000, 300, 200), 2_000_000, {**NO_ROW_COST, "rank": 20}),
    Case((14_000, 3_000, 40), 700_000, {**NO_ROW_COST, "rank": 12}),
)


def measure_fit(case: Case, folder: Path) -> dict[str, Any]:
    """What a fit was said to need and what its worker took at most."""
    store = Store(folder / "store")
    request = Request("fit", store.add_dataset(case.dataset()), {**BRIEF, **case.settings})
    return measure(case.title, store, request)


def measure_others(folder: Path) -> Iterator[dict[str, Any]]:
    """The same for what is computed in several processes, and for new rows."""
    store = Store(folder / "store")
    dataset = store.add_dataset(Case((1_500, 40, 30), 30_000).dataset())
    fit = Request("fit", dataset, {"rank": 6, "max_iterations": 10})
    yield measure("the fit of these", store, fit)
    few = {"ranks": [6], "folds": 3}
    yield measure("stability", store, Request("stability", dataset, few, fit.key()))
    compared = {**few, "methods": ["swift", "cp_als", "cp_apr", "forest_indicators"]}
    yield measure("evaluation", store, Request("evaluation", dataset, compared))
    new = store.add_dataset(Case((6_000, 40, 30), 200_000).dataset())
    yield measure("new rows", store, Request("projection", new, {}, fit.key()))


def measure(title: str, store: Store, request: Request) -> dict[str, Any]:
    """What a computation was said to need and what its processes took at most."""
    said, began = jobs.estimate(store, request).bytes, time.monotonic()
    took = _peak(store, jobs.start(store, request), began + MOST_SECONDS)
    card = store.run(request.key())
    if card.state is not RunState.DONE:
        raise RuntimeError(f"{title}: {card.message}")
    row = {
        "case": title,
        "entries": store.card(request.dataset).entries,
        "said_mb": round(said / MEGABYTE, 1),
        "took_mb": round(took / MEGABYTE, 1),
        "ratio": round(said / took, 3),
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(row), flush=True)
    return row


def _peak(store: Store, run_id: str, until: float) -> float:
    """The most that the worker and its children held at once."""
    highest, job = 0.0, store.job(run_id)
    while (pid := job.pid()) is not None:
        if time.monotonic() > until:
            jobs.cancel(store, run_id)
            raise RuntimeError("it took too long")
        team = [] if pid == os.getpid() else family(pid)
        if len(team) == 1:
            highest = max(highest, _resident(pid, "VmHWM"))
        else:
            files = max((_resident(one, "RssFile") for one in team), default=0.0)
            highest = max(highest, files + held_memory(team))
        time.sleep(LOOK_EVERY)
    return highest


def _resident(pid: int, field: str) -> float:
    """A number of the kernel about a process, in bytes; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith(field)), 0.0)


def main() -> int:
    """Measure, print a table and write it down; 1 if any fit is out by more than a quarter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missing", action="store_true")
    kept = json.loads(RESULT.read_text()) if parser.parse_args().missing else {}
    known = {row["case"]: row for row in kept.get("fits", ())}
    found: dict[str, list[dict[str, Any]]] = {"fits": [], "others": kept.get("others", [])}
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            found["fits"].append(known.get(case.title) or measure_fit(case, Path(folder)))
    if not found["others"]:
        with tempfile.TemporaryDirectory() as folder:
            found["others"] += measure_others(Path(folder))
    table = Table("computation", "said, MB", "took, MB", "ratio", "seconds")
    for row in (*found["fits"], *found["others"]):
        numbers = (row["said_mb"], row["took_mb"], row["seconds"])
        said, took, seconds = (f"{number:,.0f}" for number in numbers)
        table.add_row(row["case"], said, took, f"{row['ratio']:.2f}", seconds)
    Console(width=150).print(table)
    about = {"cores": os.cpu_count(), "python": platform.python_version(), **found}
    RESULT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return int(any(abs(row["ratio"] - 1) > TOLERANCE for row in found["fits"]))


if __name__ == "__main__":
    sys.exit(main())
