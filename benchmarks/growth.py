"""How time and memory of a fit grow, each fit in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np


def child(**settings: Any) -> dict[str, Any]:
    """One fit in a process of its own."""
    words = [f"--{name}={value}" for name, value in settings.items()]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_fit", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def growth(quick: bool) -> dict[str, Any]:
    """Time and memory per iteration against patients and rank, with fitted exponents."""
    sizes = [1000, 2000] if quick else [1000, 2000, 5000, 10000]
    ranks = [5, 20, 80] if quick else [5, 10, 20, 40, 80]
    by_size = [child(patients=size, iterations=5) for size in sizes]
    by_rank = [child(rank=rank, iterations=10) for rank in ranks]
    return {
        "by_patients": by_size,
        "by_rank": by_rank,
        "time_exponent_patients": _exponent(by_size, "patients", "seconds_per_iteration"),
        "memory_exponent_patients": _exponent(by_size, "patients", "fit_peak_mb"),
        "time_exponent_rank": _exponent(by_rank, "rank", "seconds_per_iteration"),
        "memory_exponent_rank": _exponent(by_rank, "rank", "fit_peak_mb"),
        "largest_over_1000": by_size[-1]["seconds_per_iteration"]
        / by_size[0]["seconds_per_iteration"],
    }


def _exponent(rows: Sequence[dict[str, Any]], x: str, y: str) -> float:
    slope, _ = np.polyfit(np.log([row[x] for row in rows]), np.log([row[y] for row in rows]), 1)
    return float(slope)
