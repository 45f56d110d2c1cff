"""The engine beside everything it is compared with, in one run: table, JSON, picture.

    python -m benchmarks.run_engine [--quick] [--only speed growth ...]

Machines are shared and noisy, so every claim is a ratio of two times of the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swiftcore
from benchmarks import RESULTS
from benchmarks.direct_wasserstein import fit_direct_wasserstein
from benchmarks.floor import arithmetic_floor
from benchmarks.growth import growth
from benchmarks.paper_dense import fit_paper_dense
from benchmarks.peers import run_cp_als, run_cp_apr, run_gcp, run_nn_parafac
from benchmarks.report import draw, show
from swiftcore.cost import build_costs
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.runtime.workers import Workers
from swiftcore.swift.estimator import Swift
from swiftcore.swift.factor_update import update_factors
from swiftcore.tensor import SparseTensor
from swiftcore.transport.problem import TransportSettings, describe_problem
from swiftcore.transport.sweep import Sweeper, cold_state, stack_factors

Array = NDArray[np.float64]
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
    described = describe_problem(tensor, costs, TransportSettings(dtype="float64"))
    inner = [factors[0] / described.scale, *factors[1:]]
    with Workers() as workers:
        sweeper, states = Sweeper(described, workers), cold_state(described)
        for _ in range(200):
            sweeper.sweep(states, stack_factors(inner, "float64"), gather=False)
            value = sweeper.value(states, inner)
            if value.gap <= 1e-9 * abs(value.objective):
                return value.objective
    raise RuntimeError(f"the transport did not converge: gap {value.gap}")


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


def profile(quick: bool) -> dict[str, Any]:
    """Where the time of one iteration goes: transport, numerators, the rest."""
    tensor, costs = problem()
    start = start_factors(tensor, RANK)
    rows = [
        _profile_row(tensor, costs, start, TransportSettings(sharpness=sharpness, dtype=dtype))
        for sharpness in (10.0, 100.0, 1000.0)
        for dtype in ("float32", "float64")
    ]
    return {"note": "converged plans: a sharp sweep is one Newton evaluation", "rows": rows}


def _profile_row(
    tensor: SparseTensor, costs: list[Array], start: list[Array], setting: TransportSettings
) -> dict[str, Any]:
    described, stacked = (
        describe_problem(tensor, costs, setting),
        stack_factors(start, setting.dtype),
    )
    with Workers() as workers:
        sweeper, states = Sweeper(described, workers), cold_state(described)
        for _ in range(3):
            numerators = sweeper.sweep(states, stacked)
        assert numerators is not None
        return {
            "sharpness": setting.sharpness,
            "dtype": setting.dtype,
            "transport": _seconds(lambda: sweeper.sweep(states, stacked, gather=False)),
            "with_numerators": _seconds(lambda: sweeper.sweep(states, stacked)),
            "objective": _seconds(lambda: sweeper.value(states, start)),
            "factors": _seconds(lambda: update_factors(start, numerators, range(3))),
        }


def _seconds(run: Callable[[], object], repeats: int = 9) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def convergence(quick: bool) -> dict[str, Any]:
    """Seconds to a given objective for each start and acceleration."""
    tensor, costs = problem()
    most = 60 if quick else 300
    small, small_costs = problem(60)
    for start in ("random", "kl"):  # compile and import before measuring
        Swift(2, start=start, max_iterations=1).fit(small, small_costs)
    rows: list[dict[str, Any]] = []
    for start in ("random", "kl"):
        for momentum in (0.0, 0.8):
            model = Swift(
                RANK,
                start=start,
                n_restarts=1 if start == "random" else 4,
                momentum=momentum,
                max_iterations=most,
                random_state=0,
            )
            begin = time.perf_counter()
            model.fit(tensor, costs)
            total = time.perf_counter() - begin
            lead = total - model.history_[-1].seconds  # making the start
            rows.append(
                {
                    "start": start,
                    "momentum": momentum,
                    "iterations": model.n_iterations_,
                    "outcome": model.outcome_.name,
                    "seconds": total,
                    "objective": model.objective_,
                    "trace": [(lead + e.seconds, e.objective) for e in model.history_],
                }
            )
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
                "shape": tensor.shape,
                "rank": rank,
                "direct_seconds": seconds[0],
                "swiftcore_seconds": float(np.median(steps)),
                "ratio": seconds[0] / float(np.median(steps)),
            }
        )
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
            "method": "swiftcore Swift",
            "iterations": model.n_iterations_,
            "seconds_per_iteration": float(np.median(np.diff([e.seconds for e in model.history_]))),
            "seconds": time.perf_counter() - begin,
            "converged": model.outcome_.name,
        }
    )
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
                "method": result.method,
                "iterations": result.iterations,
                "seconds_per_iteration": result.seconds_per_iteration,
                "seconds": result.seconds,
                "converged": result.converged,
            }
        )
    return {"shape": tensor.shape, "rank": RANK, "rows": rows}


SECTIONS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "speed": speed,
    "profile": profile,
    "convergence": convergence,
    "direct": direct,
    "peers": peers,
    "growth": growth,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    chosen = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / ("engine_quick.json" if chosen.quick else "engine.json")
    results = json.loads(path.read_text()) if path.exists() else {}
    results["about"] = {
        "version": swiftcore.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }
    for name in chosen.only:
        results[name] = SECTIONS[name](chosen.quick)
        show(name, results[name])
        path.write_text(json.dumps(results, indent=1, default=float) + "\n")
    draw(results, path.with_suffix(".svg"))
    print(f"\nWritten to {path}")


if __name__ == "__main__":
    main()
