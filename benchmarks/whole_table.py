"""How long the paper's table takes on BBC, and whether it goes on after a kill.

    python -m benchmarks.whole_table --quick      # bar: 5 minutes on 2 cores
    python -m benchmarks.whole_table              # the paper's grids; bar: 2 hours

All methods at five ranks in five folds, from nothing. The run is killed when a quarter of
the time allowed has passed or a hundred parts are finished, then started again: what was
finished must be taken as it is. Prints the table and writes ``results/whole_table.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.evidence import FEATURES
from benchmarks.public_data import load
from benchmarks.tables import PAPER, PAPER_RANKS, table
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.run import ExperimentSettings, run_experiment
from swiftcore.evaluation.methods.catalogue import usual_methods

BARS = {"quick": 5 * 60, "full": 2 * 3600}  # seconds
PARTS_BEFORE_THE_KILL = 100


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("runs/whole_table"))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    size = "quick" if chosen.quick else "full"
    folder = chosen.folder / size
    if chosen.child:
        compute(folder, chosen.quick, chosen.jobs)
        return
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} holds an earlier run; remove it: the table is timed from nothing.")
    again = [sys.executable, "-m", "benchmarks.whole_table", "--child", *sys.argv[1:]]
    result = killed_and_resumed(again, folder, BARS[size])
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "whole_table.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | {size: result}, indent=1) + "\n")
    experiment = Experiment.from_json((folder / "table.json").read_text())
    print(table(experiment, PAPER))
    print(json.dumps(result, indent=1))


def compute(folder: Path, quick: bool, jobs: int) -> None:
    """The table itself; in a process of its own, so that it can be killed."""
    dataset = load("bbc_fresh")[0]
    settings = ExperimentSettings(
        methods=usual_methods(dataset, FEATURES, quick=quick),
        ranks=PAPER_RANKS,
        quick=quick,
        features=FEATURES,
        jobs=jobs,
    )
    experiment = run_experiment("evaluation", dataset, settings, checkpoints=folder / "parts")
    (folder / "table.json").write_text(experiment.to_json())


def killed_and_resumed(command: list[str], folder: Path, bar: float) -> dict[str, Any]:
    """Seconds of both runs together, and what became of the parts finished before the kill."""
    began = time.perf_counter()
    first = subprocess.Popen(command, start_new_session=True)
    while first.poll() is None and time.perf_counter() - began < bar / 4:
        if len(_finished(folder)) >= PARTS_BEFORE_THE_KILL:
            break
        time.sleep(0.2)
    os.killpg(first.pid, signal.SIGKILL)  # the workers too
    first.wait()
    before, until_kill = _finished(folder), time.perf_counter() - began
    subprocess.run(command, check=True)
    seconds, after = time.perf_counter() - began, _finished(folder)
    return {
        "seconds": round(seconds, 1),
        "bar_seconds": bar,
        "share_of_bar": round(seconds / bar, 3),
        "killed_after_seconds": round(until_kill, 1),
        "parts": len(after),
        "finished_before_the_kill": len(before),
        "of_these_computed_again": sum(after[name] != stamp for name, stamp in before.items()),
        "cores": os.cpu_count(),
    }


def _finished(folder: Path) -> dict[str, int]:
    """When each finished part was written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "parts").glob("*.json")}


if __name__ == "__main__":
    main()
