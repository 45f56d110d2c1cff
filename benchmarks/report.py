"""Results as lines on the screen and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def show(name: str, result: dict[str, Any]) -> None:
    print(f"\n## {name}")
    for key, value in result.items():
        if not isinstance(value, list):
            print(f"{key}: {value}")
            continue
        for row in value:
            shown = {k: v for k, v in row.items() if k != "trace"}
            print("  " + "; ".join(f"{k}: {_short(v)}" for k, v in shown.items()))


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_short(v)}" for k, v in value.items()) + "}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def draw(results: dict[str, Any], path: Path) -> None:
    """Objective against seconds, and growth, as one picture."""
    import matplotlib  # heavy, only for the picture

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for row in results.get("convergence", {}).get("rows", []):
        seconds, objective = np.array(row["trace"]).T
        best = results["convergence"]["best"]
        label = f"{row['start']}, momentum {row['momentum']}"
        left.plot(seconds, objective / best - 1, label=label)
    left.set(xlabel="seconds", ylabel="objective above the best", yscale="log", xscale="log")
    left.legend()
    rows = results.get("growth", {}).get("by_patients", [])
    if rows:
        right.plot([r["patients"] for r in rows], [r["seconds_per_iteration"] for r in rows], "o-")
        right.set(xlabel="patients", ylabel="seconds per iteration", xscale="log", yscale="log")
    figure.savefig(path)
