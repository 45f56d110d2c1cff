"""What neighbourhoods of rows cost and what they are worth.

    python -m benchmarks.neighbourhoods growth     CPU seconds per iteration, 1,000 to 100,000 rows
    python -m benchmarks.neighbourhoods large      100,000 rows, 50 iterations, costs and start too
    python -m benchmarks.neighbourhoods quality    beside dense, random neighbourhoods and none

Every fit of the first two runs in a process of its own. The real data sets are small, so their
neighbourhoods are also cut small: 100 rows beside the usual size, which is harder on them.
Scores are those of the lasso on validation rows; test rows are never looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks import RESULTS
from benchmarks.defaults import FEATURES, JUDGED, dataset_of
from swiftcore.cost.neighbourhoods import Neighbourhoods
from swiftcore.data.dataset import Dataset
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.evaluation.experiments.trial import PROJECTION_STEPS, choose_lasso
from swiftcore.evaluation.methods.factorizations import make_model
from swiftcore.evaluation.methods.weighting import EntryWeighting
from swiftcore.evaluation.protocol.folds import make_folds, read_labels
from swiftcore.evaluation.protocol.preparation import prepare
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.model_costs import model_costs
from swiftcore.progress import FitProgress
from swiftcore.runtime.spent import stopwatch
from swiftcore.spec import ModelSpec, row_relation
from swiftcore.swift.start import finish_kl, kl_trial
from swiftcore.tensor import SparseTensor
from swiftcore.transport.problem import TransportSettings, describe_problem

RESULT = RESULTS / "neighbourhoods.json"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
BAR = 105.0  # times the iteration of 1,000 rows, for 100,000
RANK = 40
SHARPNESS = 10.0
# name: (row relation, rows of a neighbourhood, whether rows are dealt out at random)
RELATIONS = {
    "dense": ("dense", 500, False),
    "similar 500": ("neighbourhoods", 500, False),
    "random 500": ("neighbourhoods", 500, True),
    "similar 100": ("neighbourhoods", 100, False),
    "random 100": ("neighbourhoods", 100, True),
    "none": ("none", 500, False),
}
QUALITY_RANK, SEEDS, FOLDS = 12, 3, 3


def patients(count: int) -> Dataset:
    made = generate_ehr(count, n_diagnoses=100, n_medications=100, seed=0)
    return Dataset("synthetic EHR", made.tensor, None, "", "")


def one(rows: int, relation: str, iterations: int, jobs: int, start: str) -> dict[str, Any]:
    """One fit in this process; the loops are loaded before it is measured."""
    spec = ModelSpec(rank=RANK, sharpness=SHARPNESS, row_relation=relation, tolerance=0.0)
    spec = ModelSpec.of({**spec.plain(), "max_iterations": iterations, "start": start})
    if start == "random":
        spec = ModelSpec.of({**spec.plain(), "n_restarts": 1})
    fit_dataset(patients(600), ModelSpec.of({**spec.plain(), "max_iterations": 2}), n_jobs=1)
    data, cpu = patients(rows), []

    def note(progress: FitProgress) -> bool:
        cpu.append(time.process_time())
        return False

    spent = stopwatch()
    fitted = fit_dataset(data, spec, n_jobs=jobs, callback=note)
    took, steps = spent(), np.diff(cpu)
    return {
        "rows": rows,
        "entries": data.tensor.n_entries,
        "relation": fitted.row_relation.kind,
        "iterations": len(fitted.history) - 1,
        "cpu_per_iteration": float(np.median(steps)),
        "cpu_per_iteration_quartiles": np.quantile(steps, [0.25, 0.75]).tolist(),
        "seconds": took.seconds,
        "cpu_seconds": took.cpu_seconds,
        "peak_gb": (took.peak_memory_bytes or 0) / 1e9,
        "objective": fitted.history[-1].objective,
        "model_digest": fitted.digest,
    }


def child(**settings: Any) -> dict[str, Any]:
    """The same in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.neighbourhoods", "one", json.dumps(settings)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(found), flush=True)
    return found


def growth() -> dict[str, Any]:
    """CPU seconds per iteration of one thread; the small ones again at the end, to see drift."""
    plain = {"jobs": 1, "start": "random"}
    runs = [
        child(rows=rows, relation="neighbourhoods", iterations=40 if rows <= 3_000 else 8, **plain)
        for rows in (*SIZES, SIZES[0])
    ]
    small = float(np.median([run["cpu_per_iteration"] for run in runs if run["rows"] == SIZES[0]]))
    large = next(run for run in runs if run["rows"] == SIZES[-1])["cpu_per_iteration"]
    dense = [
        child(rows=rows, relation="dense", iterations=20 if rows <= 3_000 else 5, **plain)
        for rows in (1_000, 2_000, 4_000, 6_000)
    ]
    near = [
        child(rows=rows, relation="neighbourhoods", iterations=20, **plain)
        for rows in (2_000, 4_000, 6_000)
    ]
    ratio = large / small
    return {"runs": runs, "ratio": ratio, "bar": BAR, "dense": dense, "beside_dense": near}


def large() -> dict[str, Any]:
    """100,000 rows on two cores, from the data in memory to the model."""
    return child(rows=SIZES[-1], relation="auto", iterations=50, jobs=2, start="kl")


def at_random(rows: Neighbourhoods) -> Neighbourhoods:
    """The same neighbourhoods with rows dealt out at random."""
    order = np.random.default_rng(0).permutation(len(rows.order))
    for low, high in zip(rows.starts[:-1], rows.starts[1:], strict=True):
        order[low:high].sort()
    return Neighbourhoods(order, rows.starts, rows.source)


def fit_with(
    data: Dataset,
    name: str,
    seed: int = 0,
    start: list[NDArray[np.float64]] | None = None,
    sharpness: float = 2.0,
    iterations: int = 500,
) -> FittedModel:
    """A fit with one of :data:`RELATIONS`."""
    relation, size, shuffled = RELATIONS[name]
    given = {"sharpness": sharpness, "max_iterations": iterations, "seed": seed}
    spec = ModelSpec(rank=QUALITY_RANK, row_relation=relation, **given)
    weighting = EntryWeighting.learn(data.tensor, spec, None)
    with mock.patch.object(row_relation, "NEIGHBOURHOOD", size):
        costs = model_costs(data, spec)
    assert costs is not None
    if shuffled:
        costs = [at_random(costs[0]), *costs[1:]]
    model = make_model(spec, 1)
    model.fit(weighting.apply(data.tensor), costs, initial_factors=start)
    return FittedModel(spec, model, weighting)


def cosines(one: FittedModel, other: FittedModel) -> NDArray[np.float64]:
    """(components x components), the least of all feature modes."""
    found = []
    for left, right in zip(one.factors[1:], other.factors[1:], strict=True):
        lengths = np.outer(np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0))
        found.append(left.T @ right / np.maximum(lengths, 1e-300))
    least: NDArray[np.float64] = np.min(found, axis=0)
    return least


def same_start(data: Dataset, sharpness: float) -> dict[str, float]:
    """The least cosine of a profile and its counterpart of the dense fit, from one KL start."""
    spec = ModelSpec(rank=QUALITY_RANK)
    rows = EntryWeighting.learn(data.tensor, spec, None).apply(data.tensor)
    problem = describe_problem(rows, [None] * rows.n_modes, TransportSettings())
    trial, _ = kl_trial(problem, QUALITY_RANK, np.random.default_rng(0), 0)
    start = finish_kl(problem, trial)
    start[0] = problem.in_data_units(start[0])
    given = {"start": start, "sharpness": sharpness, "iterations": 60}
    dense = fit_with(data, "dense", **given)
    return {
        name: float(np.diag(cosines(dense, fit_with(data, name, **given))).min())
        for name in RELATIONS
        if name != "dense"
    }


def scores(data: Dataset, name: str) -> list[float]:
    """On the validation rows of every fold."""
    labels, found = read_labels(data), []
    for fold in make_folds(data, labels)[:FOLDS]:
        prepared = prepare(data, labels, fold, features=FEATURES)
        fitted = fit_with(prepared.training, name)
        held = {
            part: fitted.transform(prepared.tensors[part], max_iterations=PROJECTION_STEPS)
            for part in JUDGED
        }
        found.append(float(choose_lasso(held, prepared.codes, len(prepared.classes)).score))
    return found


def stability(data: Dataset, name: str) -> float:
    """How alike the components of two seeds are, matched one to one, on average."""
    fits = [fit_with(data, name, seed) for seed in range(SEEDS)]
    alike = []
    for left, right in combinations(fits, 2):
        found = cosines(left, right)
        alike.append(found[linear_sum_assignment(-found)].mean())
    return float(np.mean(alike))


def cut(tensor: SparseTensor) -> SparseTensor:
    """The features that most rows have, as everywhere else."""
    for mode in range(1, tensor.n_modes):
        pairs = np.unique(tensor.coordinates[:, [0, mode]], axis=0)[:, 1]
        holding = np.bincount(pairs, minlength=tensor.shape[mode])
        tensor = tensor.select(mode, np.sort(np.argsort(-holding, kind="stable")[:FEATURES]))
    return tensor


def quality(names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in names:
        data = patients(1_500) if name == "synthetic" else dataset_of(name)
        small = Dataset(data.name, cut(data.tensor), None, "", "", word_counts=data.word_counts)
        found: dict[str, Any] = {"shape": small.tensor.shape}
        for sharpness in (2.0, 10.0):
            found[f"least_cosine, sharpness {sharpness:g}"] = same_start(small, sharpness)
        print(name, found, flush=True)
        found["stability"] = {one: stability(small, one) for one in RELATIONS}
        if name != "synthetic":
            every = {one: scores(data, one) for one in RELATIONS}
            found["scores"] = {one: float(np.mean(values)) for one, values in every.items()}
            found["scores_sd"] = {one: float(np.std(values)) for one, values in every.items()}
        print(name, json.dumps(found, indent=1), flush=True)
        yield name, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("growth", "large", "quality", "one"))
    parser.add_argument("settings", nargs="*")
    chosen = parser.parse_args()
    if chosen.what == "one":
        print(json.dumps(one(**json.loads(chosen.settings[0]))))
        return
    known = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    if chosen.what == "quality":
        names = chosen.settings or ["synthetic", "eicu", "bbc", "synthea"]
        for name, found in quality(names):
            known.setdefault("quality", {})[name] = found
            RESULT.write_text(json.dumps(known, indent=1) + "\n")
        return
    known[chosen.what] = growth() if chosen.what == "growth" else large()
    RESULT.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
