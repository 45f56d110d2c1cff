"""One fit over 1, 2 and 4 worker processes of this machine: seconds an iteration, told and found.

    python -m benchmarks.workers [--patients 32000] [--iterations 8] [--workers 2 4]

What is told comes from parts measured by themselves: the CPU seconds of an iteration in one worker
that holds all rows, and the seconds of an order that computes nothing but sends and answers as much
as a sweep does. Workers share the cores: n of them on c cores compute as long as the one with most
entries, or as all of them take on c cores, whichever is longer. Beside it stand the CPU seconds in
one process without any cluster. Bytes are counted by the kernel, sent and received by each worker,
between the second iteration and the last.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import RESULTS
from benchmarks.cluster_traffic import socket_bytes
from benchmarks.neighbourhoods import patients
from benchmarks.report import show
from swiftcore import ModelSpec
from swiftcore.cluster.connection import connected
from swiftcore.cluster.dask_team import DaskTeam
from swiftcore.cluster_fit import fit_on_cluster
from swiftcore.data.dataset import Dataset
from swiftcore.parts_fit import Means, fit_in_parts
from swiftcore.progress import FitProgress
from swiftcore.row_parts import Prepared
from swiftcore.swift.parts.engine import Team
from swiftcore.swift.parts.row_part import PartState, PartSums, RowPart
from swiftcore.transport.sweep import Sweeper

RESULT = RESULTS / "workers.json"
RANK, FEATURES = 40, 200
BAR = 200_000  # bytes per worker and iteration
ORDERS = 2  # of an iteration: the sweep, and to carry the step on
IDLE_ROUNDS = 20
FIRST = 2  # iteration from which is counted


@dataclass(frozen=True, eq=False)
class Idle:
    """An order that is as large as a sweep, and whose answer is, but that computes nothing."""

    features: np.ndarray[Any, np.dtype[np.float32]]

    def carry_out(
        self, part: RowPart, sweeper: Sweeper, state: PartState
    ) -> tuple[PartState, PartSums]:
        return state, PartSums.nothing(FEATURES, RANK)


class Marks:
    """A callback that notes time and, from the workers, CPU time and bytes, first and last."""

    def __init__(self, client: Any, last: int) -> None:
        self._client, self._wanted = client, (FIRST, last)
        self.clock: list[float] = []
        self.workers: list[dict[str, tuple[float, int]]] = []

    def __call__(self, now: FitProgress) -> bool:
        if now.iteration in self._wanted:
            self.clock.append(time.perf_counter())  # before asking at the end ...
            cpu = self._client.run(time.process_time)
            moved = self._client.run(socket_bytes)
            self.workers.append({one: (cpu[one], sum(moved[one])) for one in cpu})
            if now.iteration == FIRST:
                self.clock[0] = time.perf_counter()  # ... and after it at the beginning
        return False

    def per_iteration(self) -> dict[str, Any]:
        count = self._wanted[1] - self._wanted[0]
        first, last = self.workers
        return {
            "measured_seconds": (self.clock[1] - self.clock[0]) / count,
            "cpu_seconds_of_each": [(last[one][0] - first[one][0]) / count for one in first],
            "bytes_of_each": [(last[one][1] - first[one][1]) / count for one in first],
        }


def one_process(data: Dataset, spec: ModelSpec) -> tuple[float, str]:
    """CPU seconds of an iteration on one thread, without a cluster; and the bits."""
    cpu: list[float] = []

    def note(now: FitProgress) -> bool:
        cpu.append(time.process_time())
        return False

    found = fit_in_parts(data, spec, Means(n_jobs=1), callback=note)
    return float(np.mean(np.diff(cpu[FIRST:]))), found.digest


def with_workers(data: Dataset, spec: ModelSpec, count: int) -> dict[str, Any]:
    """A fit over so many processes, and what an order costs them by itself."""
    with connected(f"local:{count}") as client:
        address = client.scheduler.address
        marks = Marks(client, spec.max_iterations)
        fit_on_cluster(data, spec, address)  # compiled and warm
        found = fit_on_cluster(data, spec, address, callback=marks)
        parts = idle_seconds(data, spec, client)
    return {"workers": count, "digest": found.model.digest, **marks.per_iteration(), **parts}


def idle_seconds(data: Dataset, spec: ModelSpec, client: Any) -> dict[str, Any]:
    """Seconds of an order that computes nothing, and the share of the entries on each worker."""
    found: dict[str, Any] = {}

    def team(prepared: Prepared, folder: Any, room: float) -> Team:
        held = DaskTeam(client, prepared.parts, prepared.shared)
        idle, taken = Idle(np.zeros((FEATURES, RANK), np.float32)), []
        for _ in range(IDLE_ROUNDS):
            began = time.perf_counter()
            held.run(idle)  # type: ignore[arg-type]  # no order of a fit
            taken.append(time.perf_counter() - began)
        found["idle_seconds"] = float(np.median(taken[1:]))
        entries = [sum(len(prepared.parts[one].values) for one in group) for group in held._groups]
        found["share_of_each"] = [one / sum(entries) for one in entries]
        raise _EnoughError

    try:
        fit_in_parts(data, spec, Means(n_jobs=1), make_team=team)
    except _EnoughError:
        return found
    raise AssertionError("no team was asked for")


class _EnoughError(Exception):
    """What was to be measured is."""


def told(case: dict[str, Any], compute: float, cores: int) -> dict[str, float]:
    """Seconds of an iteration from what was measured alone, on these cores and on one each."""
    most = max(case["share_of_each"])
    shared = 1 / min(cores, case["workers"])
    orders = ORDERS * case["idle_seconds"]
    return {
        "told_seconds": compute * max(most, shared) + orders,
        "told_seconds_with_a_core_each": compute * most + orders,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=32_000)
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--workers", type=int, nargs="*", default=[2, 4])
    chosen = parser.parse_args()
    cores = os.cpu_count() or 1
    spec = ModelSpec(rank=RANK, start="random", n_restarts=1, tolerance=0.0)
    spec = ModelSpec.of({**spec.plain(), "max_iterations": chosen.iterations})
    data = patients(chosen.patients)
    one_process(data, ModelSpec.of({**spec.plain(), "max_iterations": FIRST + 1}))  # compiled
    alone, digest = one_process(data, spec)
    cases = []
    for count in sorted({1, *chosen.workers}):
        case = with_workers(data, spec, count)
        assert case.pop("digest") == digest, f"{count} workers have other bits"
        cases.append(case)
        (compute,) = cases[0]["cpu_seconds_of_each"]
        case |= told(case, compute, cores)
        case["measured_over_told"] = case["measured_seconds"] / case["told_seconds"]
        print(json.dumps(case), flush=True)
    result = {
        "patients": chosen.patients,
        "rank": RANK,
        "cores": cores,
        "cpu_seconds_in_one_process": alone,
        "bar_bytes": BAR,
        "most_bytes": max(max(case["bytes_of_each"]) for case in cases),
        "cases": cases,
        "load_average": os.getloadavg()[0],
    }
    show("Workers", result)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
