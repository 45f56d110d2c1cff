"""The paper's scalability figures: seconds per iteration against rows, rank and sweeps.

    python -m benchmarks.scaling [--quick] [--minutes 5]

Every method on one core and on the same synthetic records (rows x 100 x 100); rows are related as
in a usual fit: SWIFT compares every two, beyond 4,000 those of a neighbourhood.
A case that is expected to overrun the time left is skipped and said so: the direct method is slow
by design.
Only ratios of times of the same run mean anything.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import swiftcore
from benchmarks import RESULTS
from benchmarks.paper_dense import PAPER_SWEEPS, PaperDense
from benchmarks.report import show
from swiftcore.baselines.cp_als import CpAls
from swiftcore.baselines.cp_apr import CpApr
from swiftcore.baselines.cp_binary import CpBinary
from swiftcore.baselines.cp_continuous import CpContinuous
from swiftcore.baselines.cp_nmu import CpNmu
from swiftcore.baselines.direct_wasserstein import (
    DirectWasserstein,
    dense_scalings,
    relaxation,
    unfolded,
)
from swiftcore.baselines.similarity_cp import SimilarityCp
from swiftcore.baselines.supervised_cp import SupervisedCp
from swiftcore.cost import build_costs
from swiftcore.data.dataset import Dataset
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.errors import NotEnoughMemory
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.model_costs import model_costs
from swiftcore.spec import ModelSpec
from swiftcore.swift.estimator import Swift
from swiftcore.tensor import SparseTensor

Array = NDArray[np.float64]
RANK, ROWS = 10, 500  # where the other one grows
BASELINES: dict[str, Any] = {
    "cp_als": CpAls,
    "cp_nmu": CpNmu,
    "supervised_cp": SupervisedCp,
    "similarity_cp": SimilarityCp,
    "cp_continuous": CpContinuous,
    "cp_binary": CpBinary,
    "cp_apr": CpApr,
}
METHODS = ("swift", *BASELINES, "direct_wasserstein")


class Clock:
    """The time left, and what one unit of the direct method's work has taken so far."""

    def __init__(self, minutes: float) -> None:
        self.end = time.monotonic() + 60 * minutes
        self.per_unit = 2e-7  # seconds per cell, component or sweep; corrected as cases run

    @property
    def left(self) -> float:
        return self.end - time.monotonic()

    def allows(self, units: float) -> bool:
        """Whether a case may begin; it may take no more than a third of what is left."""
        return self.per_unit * units < self.left / 3

    def learn(self, units: float, seconds: float) -> None:
        self.per_unit = seconds / units


def problem(rows: int) -> tuple[SparseTensor, list[Array]]:
    """Records with the costs of every two rows; for the methods that know no others."""
    made = generate_ehr(rows, seed=0)
    return made.tensor, build_costs(made.tensor, reference=made.tensor)


def steps(key: str, rows: int, rank: int, iterations: int = 4) -> list[float]:
    """Seconds of each iteration, the first left out where there are several."""
    made = generate_ehr(rows, seed=0)
    tensor = made.tensor
    dataset = Dataset("records", tensor, made.outcome, "heart failure", "made")
    costs = model_costs(dataset, ModelSpec(rank=rank, method=key))
    if key == "swift":
        model: Any = Swift(
            rank,
            n_jobs=1,
            start="random",
            n_restarts=1,
            max_iterations=iterations,
            tolerance=0.0,
            random_state=0,
        ).fit(tensor, costs)
    else:
        model = BASELINES[key](rank, max_iterations=iterations, tolerance=0.0, random_state=0)
        model.fit(tensor, costs, labels=made.outcome)
    taken = np.diff([progress.seconds for progress in model.history_])
    return [float(second) for second in (taken[1:] if len(taken) > 1 else taken)]


def direct_step(rows: int, rank: int, clock: Clock) -> dict[str, Any]:
    """One iteration of the direct method, if there is time and memory for it."""
    units = rows * 100 * 100 * (3 * rank + 4 * PAPER_SWEEPS)
    if not clock.allows(units):
        return {"seconds": None, "why": "no time left"}
    tensor, costs = problem(rows)
    model = DirectWasserstein(rank, sweeps=PAPER_SWEEPS, max_iterations=1, random_state=0)
    began = time.perf_counter()
    try:
        model.fit(tensor, costs)
    except NotEnoughMemory as error:
        return {"seconds": None, "why": str(error)}
    clock.learn(units, time.perf_counter() - began)
    return {"seconds": model.history_[1].seconds - model.history_[0].seconds}


def measured(key: str, rows: int, rank: int, clock: Clock) -> dict[str, Any]:
    if key == "direct_wasserstein":
        found = direct_step(rows, rank, clock)
    elif clock.left < 5:
        found = {"seconds": None, "why": "no time left"}
    else:
        found = {"seconds": float(np.median(steps(key, rows, rank)))}
    return {"method": key, "rows": rows, "rank": rank, **found}


def by_rows(quick: bool, clock: Clock) -> dict[str, Any]:
    sizes = [100, 250] if quick else [100, 250, 500, 1000, 2000, 5000, 10_000]
    return {"rows": [measured(key, rows, RANK, clock) for rows in sizes for key in METHODS]}


def by_rank(quick: bool, clock: Clock) -> dict[str, Any]:
    ranks = [5, 20] if quick else [5, 10, 20, 40]
    rows = 100 if quick else 200
    return {"rows": [measured(key, rows, rank, clock) for rank in ranks for key in METHODS]}


def by_sweeps(quick: bool, clock: Clock) -> dict[str, Any]:
    """Transport of one iteration: the paper's cold sweeps, sparse and direct; ours needs few."""
    rows = 100 if quick else 200
    tensor, costs = problem(rows)
    rng = np.random.default_rng(0)
    factors = [rng.uniform(0.1, 1.0, (size, RANK)) for size in tensor.shape]
    found = []
    for sweeps in [1, 10] if quick else [1, 10, 25, 50]:
        dense = PaperDense(tensor, costs, 10.0, 1.0, sweeps)
        for name, solve in (
            ("paper", lambda dense=dense: dense.solve_transports(factors)),
            ("direct_wasserstein", lambda n=sweeps: all_columns(tensor, costs, factors, n)),
        ):
            began = time.perf_counter()
            if clock.left > 5:
                solve()
                taken = time.perf_counter() - began
                found.append({"method": name, "sweeps": sweeps, "seconds": taken})
    ours = float(np.median(steps("swift", rows, RANK)))
    found.append({"method": "swift", "sweeps": 0, "seconds": ours})
    return {"rows": found, "patients": rows}


def all_columns(
    tensor: SparseTensor, costs: list[Array], factors: list[Array], sweeps: int
) -> None:
    """The direct method's transport: cold sweeps over every column of every unfolding."""
    data = tensor.to_dense()
    model = np.einsum("ir,jr,kr->ijk", *factors, optimize=True)
    for mode, cost in enumerate(costs):
        kernel = np.exp(-10.0 * cost - 1.0)
        u, v = dense_scalings(
            unfolded(model, mode), unfolded(data, mode), kernel, relaxation(10.0, 1.0), sweeps
        )
        u *= kernel @ v


def by_iterations(quick: bool, clock: Clock) -> dict[str, Any]:
    """Seconds until the k-th iteration, from one run of each method."""
    marks = [5, 10] if quick else [5, 10, 20]
    found = []
    for key in METHODS[:-1]:
        if clock.left < 5:
            break
        taken = np.cumsum(steps(key, 100 if quick else ROWS, RANK, marks[-1] + 1))
        found += [{"method": key, "iterations": k, "seconds": float(taken[k - 1])} for k in marks]
    return {"rows": found}


SECTIONS: dict[str, Callable[[bool, Clock], dict[str, Any]]] = {
    "by_iterations": by_iterations,
    "by_sweeps": by_sweeps,
    "by_rows": by_rows,
    "by_rank": by_rank,
}


def ratios(results: dict[str, Any]) -> dict[str, float]:
    """How many times as long as SWIFT each method takes, at the largest case both have."""
    found: dict[str, float] = {}
    for section in ("by_rows", "by_rank"):
        rows = results[section]["rows"]
        ours = {(r["rows"], r["rank"]): r["seconds"] for r in rows if r["method"] == "swift"}
        for row in rows:
            base = ours.get((row["rows"], row["rank"]))
            if row["method"] != "swift" and row["seconds"] and base:
                found[f"{row['method']}, {section}"] = row["seconds"] / base
    return found


def draw(results: dict[str, Any], path: Path) -> None:
    """Four panels, one line per method, told apart by marker and dash as well."""
    import matplotlib  # heavy, only for the picture

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 4, figsize=(16, 4.2), layout="constrained")
    axes = {
        "by_rows": "rows",
        "by_rank": "rank",
        "by_sweeps": "sweeps",
        "by_iterations": "iterations",
    }
    names = [*METHODS, "paper"]
    titles = {key: method.title for key, method in CATALOGUE.items()} | {
        "direct_wasserstein": "Direct Wasserstein",
        "paper": "SWIFT as printed (dense, cold sweeps)",
    }
    for panel, (section, x) in zip(panels, axes.items(), strict=True):
        rows = [row for row in results[section]["rows"] if row["seconds"]]
        for number, name in enumerate(names):
            mine = [(row[x], row["seconds"]) for row in rows if row["method"] == name and row[x]]
            if mine:
                dash, width = ["-", "--", "-.", ":"][number % 4], 2.5 if name == "swift" else 1.2
                panel.plot(
                    *zip(*mine, strict=True),
                    label=titles[name],
                    color=f"C{number}",
                    marker="osD^v<>P*X"[number],
                    linestyle=dash,
                    linewidth=width,
                )
        panel.set(xlabel=x, ylabel="seconds per iteration", xscale="log", yscale="log")
        places = sorted({row[x] for row in rows if row[x]})
        panel.set_xticks(places, [f"{place:,}" for place in places])
        panel.minorticks_off()
        panel.tick_params(axis="x", labelsize=8)
        if section == "by_sweeps":
            ours = next(row["seconds"] for row in rows if row["method"] == "swift")
            panel.axhline(ours, color="C0", linewidth=2.5)
            panel.set_ylabel("seconds of transport (SWIFT: all)")
    panels[3].set_ylabel("seconds until then")
    handles = {}
    for panel in panels:
        lines, labels = panel.get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=float, default=5.0)
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / ("scaling_quick.json" if chosen.quick else "scaling.json")
    with threadpool_limits(1):
        for key in METHODS[:-1]:
            steps(key, 50, 2, 2)  # compiles, outside all measurements
        clock = Clock(chosen.minutes)
        results: dict[str, Any] = {
            "about": {
                "version": swiftcore.__version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "cores": os.cpu_count(),
                "machine": platform.machine(),
                "data": "generate_ehr(rows, seed=0), rows x 100 x 100",
                "threads": 1,
            }
        }
        for name, section in SECTIONS.items():
            results[name] = section(chosen.quick, clock)
            show(name, results[name])
            path.write_text(json.dumps(results, indent=1, default=float) + "\n")
    results["times_swift"] = ratios(results)
    show("times_swift", results["times_swift"])
    path.write_text(json.dumps(results, indent=1, default=float) + "\n")
    draw(results, path.with_suffix(".svg"))
    print(f"\nWritten to {path}")


if __name__ == "__main__":
    main()
