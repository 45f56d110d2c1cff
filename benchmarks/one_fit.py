"""One fit in a process of its own, so that its peak memory is its own; prints one JSON line."""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from swiftcore.cost import build_costs
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.swift.estimator import Swift


def measure(
    patients: int, features: int, rank: int, iterations: int, dtype: str, sharpness: float
) -> dict[str, float]:
    """Seconds per iteration, and the peak of memory beyond what stood before the fit."""
    ehr = generate_ehr(patients, n_diagnoses=features, n_medications=features, seed=0)
    costs = build_costs(ehr.tensor, reference=ehr.tensor)
    settings = {"start": "random", "n_restarts": 1, "tolerance": 0.0, "random_state": 0}
    model = Swift(rank, sharpness=sharpness, max_iterations=iterations, dtype=dtype, **settings)
    small = generate_ehr(60, n_diagnoses=features, n_medications=features, seed=1).tensor
    model.fit(small, build_costs(small, reference=small))  # compile before measuring
    before, peak = psutil.Process().memory_info().rss, _Peak()
    with peak:
        model.fit(ehr.tensor, costs)
    steps = np.diff([entry.seconds for entry in model.history_])
    return {
        "patients": patients,
        "features": features,
        "rank": rank,
        "entries": ehr.tensor.n_entries,
        "seconds_per_iteration": float(np.median(steps)),
        "fit_peak_mb": (peak.highest - before) / 1e6,
        "process_peak_mb": _process_peak() / 1e6,
    }


def _process_peak() -> float:
    """Highest resident memory of this process; ``getrusage`` would count the parent's."""
    status = Path("/proc/self/status").read_text()
    return next(
        float(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")
    )


class _Peak:
    """The highest resident memory while a block runs, looked at every few milliseconds."""

    def __enter__(self) -> _Peak:
        self.highest, self._running = 0, True
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._running = False
        self._thread.join()

    def _watch(self) -> None:
        process = psutil.Process()
        while self._running:
            self.highest = max(self.highest, process.memory_info().rss)
            time.sleep(0.003)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--patients", type=int, default=1000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--rank", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sharpness", type=float, default=10.0)
    json.dump(measure(**vars(parser.parse_args())), sys.stdout)
