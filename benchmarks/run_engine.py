"""The engine beside everything it is compared with, in one run: table, JSON, picture.

    python -m benchmarks.run_engine [--quick] [--only speed growth ...]

Machines are shared and noisy, so every claim is a ratio of two times of the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swiftcore
from benchmarks.direct_wasserstein import fit_direct_wasserstein
from benchmarks.floor import arithmetic_floor
from benchmarks.paper_dense import fit_paper_dense
from benchmarks.peers import run_cp_als, run_cp_apr, run_gcp, run_nn_parafac
from swiftcore.cost import build_costs
from swiftcore.data.synthetic import generate_ehr
from swiftcore.factorization import Swift
from swiftcore.tensor import SparseTensor

Array = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
RANK = 40


def problem(patients: int = 1000) -> tuple[SparseTensor, list[Array]]:
    tensor = generate_ehr(patients, seed=0).tensor
    return tensor, build_costs(tensor, reference=tensor)


def start_factors(tensor: SparseTensor, rank: int, seed: int = 0) -> list[Array]:
    """The same random start for everyone, of the data's mass."""
    rng = np.random.default_rng(seed)
    factors = [rng.uniform(0.1, 1.0, (size, rank)) for size in tensor.shape]
    for mode in range(1, tensor.n_modes):
        factors[mode] /= factors[mode].sum(axis=0)
    factors[0] *= tensor.values.sum() / factors[0].sum()
    return factors


def exact_objective(tensor: SparseTensor, costs: Sequence[Array], factors: list[Array]) -> float:
    """The objective of given factors with converged transport, in float64."""
    model = Swift(factors[0].shape[1], max_iterations=0, dtype="float64")
    return model.fit(tensor, costs, initial_factors=factors).objective_


def engine_steps(
    tensor: SparseTensor,
    costs: Sequence[Array],
    start: list[Array],
    iterations: int,
    **settings: Any,
) -> tuple[Swift, Array]:
    model = Swift(start[0].shape[1], tolerance=0.0, max_iterations=iterations, **settings)
    model.fit(tensor, costs, initial_factors=start)
    return model, np.diff([entry.seconds for entry in model.history_])


def speed(quick: bool) -> dict[str, Any]:
    """One outer iteration against the paper's dense-column SWIFT, same start, same count."""
    tensor, costs = problem()
    start = start_factors(tensor, RANK)
    iterations = 2 if quick else 4
    rows: list[dict[str, Any]] = []
    for dtype in ("float32", "float64"):
        engine_steps(tensor, costs, start, 2, dtype=dtype)
        many, steps = engine_steps(tensor, costs, start, 50, dtype=dtype)
        few, _ = engine_steps(tensor, costs, start, iterations, dtype=dtype)
        _, plain_steps = engine_steps(tensor, costs, start, 20, dtype=dtype, momentum=0.0)
        rows.append(
            {
                "method": f"swiftcore {dtype}",
                "seconds_per_iteration": float(np.median(steps)),
                "plain_step_seconds": float(np.median(plain_steps)),
                "fifty_iterations_seconds": many.history_[-1].seconds,
                "objective": exact_objective(tensor, costs, few.factors_),
                "iterations": iterations,
                "floor": arithmetic_floor(tensor, RANK, dtype, os.cpu_count() or 1),
            }
        )
    for dtype, threads in (("float64", 1), ("float64", 2), ("float32", 2)):
        factors, seconds = fit_paper_dense(
            tensor, costs, start, 10.0, 1.0, iterations, dtype=dtype, threads=threads
        )
        rows.append(
            {
                "method": f"paper dense {dtype}, "
                + ("BLAS on all cores" if threads == 1 else f"{threads} column threads"),
                "seconds_per_iteration": float(np.median(seconds)),
                "objective": exact_objective(
                    tensor, costs, [np.asarray(factor, float) for factor in factors]
                ),
                "iterations": iterations,
            }
        )
    for row in rows:
        for mine in rows[:2]:
            ratio = row["seconds_per_iteration"] / mine["seconds_per_iteration"]
            row[f"times slower than {mine['method']}"] = ratio
    for row in rows[:2]:
        row["share_of_floor"] = row["floor"]["total"] / row["plain_step_seconds"]
    return {"shape": tensor.shape, "entries": tensor.n_entries, "rank": RANK, "rows": rows}


def convergence(quick: bool) -> dict[str, Any]:
    """Seconds to a given objective for each start and acceleration."""
    tensor, costs = problem()
    most = 60 if quick else 300
    rows: list[dict[str, Any]] = []
    for start in ("random", "kl"):
        for momentum in (0.0, 0.8):
            model = Swift(RANK, start=start, n_restarts=1 if start == "random" else 4,
                          momentum=momentum, max_iterations=most, random_state=0)  # fmt: skip
            begin = time.perf_counter()
            model.fit(tensor, costs)
            total = time.perf_counter() - begin
            lead = total - model.history_[-1].seconds  # making the start
            rows.append(
                {
                    "start": start, "momentum": momentum, "iterations": model.n_iterations_,
                    "outcome": model.outcome_.name, "seconds": total,
                    "objective": model.objective_,
                    "trace": [(lead + e.seconds, e.objective) for e in model.history_],
                }
            )  # fmt: skip
    best = min(row["objective"] for row in rows)
    for row in rows:
        for share in (0.05, 0.02, 0.01):
            row[f"seconds to {share:.0%} above best"] = next(
                (s for s, objective in row["trace"] if objective <= best * (1 + share)), None
            )
    return {"shape": tensor.shape, "rank": RANK, "best": best, "rows": rows}


def direct(quick: bool) -> dict[str, Any]:
    """Against the direct Wasserstein factorization of the paper's appendix."""
    rows = []
    cases = [(100, 5), (200, 20)] if quick else [(100, 5), (200, 20), (500, 10), (500, 20)]
    for patients, rank in cases:
        tensor, costs = problem(patients)
        start = start_factors(tensor, rank)
        engine_steps(tensor, costs, start, 2)
        _, steps = engine_steps(tensor, costs, start, 30)
        _, seconds = fit_direct_wasserstein(
            tensor, costs, start, 10.0, 1.0, 1, memory_budget=16_000_000_000
        )
        rows.append(
            {
                "shape": tensor.shape, "rank": rank, "direct_seconds": seconds[0],
                "swiftcore_seconds": float(np.median(steps)),
                "ratio": seconds[0] / float(np.median(steps)),
            }
        )  # fmt: skip
    return {"rows": rows}


def peers(quick: bool) -> dict[str, Any]:
    """Beside the baselines' libraries: per iteration, and to each one's own convergence."""
    tensor, costs = problem()
    rows: list[dict[str, Any]] = []
    model = Swift(RANK, max_iterations=500, tolerance=1e-4, random_state=0).fit(tensor, costs)
    begin = time.perf_counter()
    model.fit(tensor, costs)
    rows.append(
        {
            "method": "swiftcore Swift", "iterations": model.n_iterations_,
            "seconds_per_iteration": float(
                np.median(np.diff([e.seconds for e in model.history_]))
            ),
            "seconds": time.perf_counter() - begin, "converged": model.outcome_.name,
        }
    )  # fmt: skip
    limit = 20 if quick else 100
    for run in (
        lambda: run_cp_als(tensor, RANK, max_iterations=limit),
        lambda: run_cp_apr(tensor, RANK, max_iterations=limit, max_seconds=60.0),
        lambda: run_gcp(tensor, RANK, max_epochs=3 if quick else 10),
        lambda: run_nn_parafac(tensor, RANK, max_iterations=limit),
    ):
        result = run()
        rows.append(
            {
                "method": result.method, "iterations": result.iterations,
                "seconds_per_iteration": result.seconds_per_iteration,
                "seconds": result.seconds, "converged": result.converged,
            }
        )  # fmt: skip
    return {"shape": tensor.shape, "rank": RANK, "rows": rows}


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
        "largest_over_1000": by_size[-1]["seconds_per_iteration"]
        / by_size[0]["seconds_per_iteration"],
    }


def _exponent(rows: Sequence[dict[str, Any]], x: str, y: str) -> float:
    slope, _ = np.polyfit(np.log([row[x] for row in rows]), np.log([row[y] for row in rows]), 1)
    return float(slope)


def memory(quick: bool) -> dict[str, Any]:
    """The estimate before a fit against its measured peak, on six shapes."""
    cases: list[dict[str, Any]] = [
        {"patients": 1000, "rank": 40}, {"patients": 3000, "rank": 20},
        {"patients": 3000, "rank": 20, "dtype": "float64"}, {"patients": 6000, "rank": 10},
        {"patients": 8000, "rank": 40},
        {"patients": 2000, "rank": 80, "sharpness": 200.0},
    ]  # fmt: skip
    rows = [child(iterations=2, **case) for case in (cases[:2] if quick else cases)]
    for row in rows:
        row["estimate_over_peak"] = row["estimate_mb"] / row["fit_peak_mb"]
    return {"rows": rows}


SECTIONS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "speed": speed, "convergence": convergence, "direct": direct, "peers": peers,
    "growth": growth, "memory": memory,
}  # fmt: skip


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / ("engine_quick.json" if chosen.quick else "engine.json")
    results = json.loads(path.read_text()) if path.exists() else {}
    results["about"] = {
        "version": swiftcore.__version__, "python": platform.python_version(),
        "numpy": np.__version__, "cores": os.cpu_count(), "machine": platform.machine(),
    }  # fmt: skip
    for name in chosen.only:
        results[name] = SECTIONS[name](chosen.quick)
        show(name, results[name])
        path.write_text(json.dumps(results, indent=1, default=float) + "\n")
    draw(results, path.with_suffix(".svg"))
    print(f"\nWritten to {path}")


if __name__ == "__main__":
    main()
