"""Patients that never are in memory together: generated in shards, fitted within a budget.

    python -m benchmarks.in_parts [--patients 1000000] [--memory 8GB] [--iterations 10]

Two processes, one after the other: `swift data generate` writes the shards, `swift fit` reads them
back part by part. The whole fit counts: costs, neighbourhoods, start, iterations, result. Each
case is added to ``in_parts.json`` under the number of patients.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.out_of_core import SWIFT, folder_mb, measured
from benchmarks.report import show

RESULT = RESULTS / "in_parts.json"
RANK = 40


def run(patients: int, memory: str, iterations: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / "made.swift"
        generate = ["data", "generate", "--patients", str(patients), "--seed", "1"]
        generated = measured([*SWIFT, *generate, "--out", str(made)])
        fit = ["fit", str(made), "--rank", str(RANK), "--iterations", str(iterations), "--json"]
        fit += ["--tolerance", "0", "--memory", memory, "--out", str(Path(name) / "run")]
        done = subprocess.run([*SWIFT, *fit], stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout)
        told = ("iterations", "outcome", "objective", "seconds", "cpu_seconds", "row_relation")
        return {
            "patients": patients,
            "rank": RANK,
            "memory": memory,
            "shards_mb": folder_mb(made),
            "generate": generated,
            "fit": {one: found[one] for one in told},
            "fit_peak_gb": found["peak_memory_bytes"] / 1e9,
            "model_digest": found["model_digest"],
            "load_average": os.getloadavg()[1],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=1_000_000)
    parser.add_argument("--memory", default="8GB")
    parser.add_argument("--iterations", type=int, default=10)
    chosen = parser.parse_args()
    result = run(chosen.patients, chosen.memory, chosen.iterations)
    show(f"In parts, {chosen.patients:,} patients", result)
    known = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    known[str(chosen.patients)] = result
    RESULT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
