"""Fits on request, in a process whose ``swiftcore`` may be that of another commit.

Run as a file, with the folder that holds ``swiftcore`` in PYTHONPATH. A line of JSON comes in for
every fit, and one goes out with what it took. Only names that every commit has are used.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import swiftcore
from swiftcore import SparseTensor, Swift, build_costs


def timed_fit(data: str, fixed_rows: bool, settings: dict[str, Any]) -> dict[str, Any]:
    """Fit the problem in a file from its start, and measure."""
    with np.load(data) as file:
        tensor = SparseTensor.from_coordinates(file["places"], file["values"], file["shape"])
        start = [file[f"start_{mode}"] for mode in range(tensor.n_modes)]
    costs: list[Any] = build_costs(tensor, reference=tensor)
    if fixed_rows:
        costs[0] = None
    model = Swift(start[0].shape[1], tolerance=0.0, n_jobs=1, **settings)
    before = _resident("VmRSS")
    _forget_peak()
    cpu, wall = time.process_time(), time.perf_counter()
    model.fit(tensor, costs, initial_factors=start)
    seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    per_iteration = {name: spent / model.n_iterations_ for name, spent in seconds.items()}
    digest = hashlib.sha256(b"".join(factor.tobytes() for factor in model.factors_)).hexdigest()
    peak = (_resident("VmHWM") - before) / 1e6
    return {**per_iteration, "peak_mb": peak, "objective": model.objective_, "digest": digest}


def _resident(field: str) -> float:
    """Resident bytes of this process: now (VmRSS), or the most there have been (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _forget_peak() -> None:
    """Let the highest resident memory be counted anew from now on."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    print(json.dumps({"swiftcore": swiftcore.__file__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(timed_fit(**json.loads(line))), flush=True)
