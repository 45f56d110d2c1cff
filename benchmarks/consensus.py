"""Do phenotypes come back with other seeds: single fits beside a consensus of many.

    python -m benchmarks.consensus bbc --ranks 10 20 --sharpness 2
    python -m benchmarks.consensus eicu --ranks 10 20
    python -m benchmarks.consensus heart_failure --ranks 20 --sets 1      # CPU seconds

Five consensus models from disjoint seeds are made of each; every one is compared with the next,
the last with the first: five pairs that share no seed. A component is found again from a
congruence (product of the cosines of its profiles) of 0.8 on. Single fits are those with the
first seed of each set and of the next four. What is finished is kept in ``runs/``.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import RESULTS
from benchmarks.public_data import NAMES, ROOT, load
from swiftcore.data.dataset import Dataset
from swiftcore.data.samples import load_sample
from swiftcore.evaluation.protocol.preparation import choose_features
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.phenotypes.matching import FOUND_FROM, match, similarity
from swiftcore.spec import ModelSpec
from swiftcore.swift.checkpoint import FitCheckpoint

FEATURES = 100
SAMPLES = ("heart_failure", "news")
SINGLE = 5  # single fits per set
Features = list[NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What is compared of one model."""

    features: Features
    objective: float
    seconds: float  # of all cores
    converged: bool


def main(arguments: list[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    dataset, lines = _dataset(chosen.data), []
    for rank in chosen.ranks:
        spec = ModelSpec(
            rank=rank, sharpness=chosen.sharpness, entry_values=chosen.values, row_mass=chosen.rows
        )
        lines.append(_measured(dataset, spec, chosen))
        print("\n".join(f"{name:32} {value}" for name, value in lines[-1].items()), "\n")
    path = RESULTS / f"consensus_{chosen.data}.json"
    path.write_text(json.dumps(lines, indent=1) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=[*NAMES, *SAMPLES])
    parser.add_argument("--ranks", nargs="+", type=int, default=[10, 20])
    parser.add_argument("--sharpness", type=float, default=ModelSpec().sharpness)
    parser.add_argument("--values", default=ModelSpec().entry_values)
    parser.add_argument("--rows", default=ModelSpec().row_mass)
    parser.add_argument("--fits", type=int, default=20, help="of each consensus")
    parser.add_argument("--sets", type=int, default=5, help="of disjoint seeds")
    parser.add_argument("--jobs", type=int, default=2)
    return parser


def _dataset(name: str) -> Dataset:
    if name in SAMPLES:
        return load_sample(name)
    found = load(name)[0]
    every = np.arange(found.tensor.shape[0])
    return replace(found, tensor=choose_features(found, every, FEATURES))


def _measured(dataset: Dataset, spec: ModelSpec, chosen: argparse.Namespace) -> dict[str, Any]:
    firsts = range(0, chosen.sets * chosen.fits, chosen.fits)
    single = [
        [_kept(dataset, replace(spec, seed=first + i), chosen.jobs) for i in range(SINGLE)]
        for first in firsts
    ]
    agreed = [
        _kept(dataset, replace(spec, seed=first, consensus=chosen.fits), chosen.jobs)
        for first in firsts
    ]
    alone = [fit for group in single for fit in group]
    pairs = [
        share_found(single[one][i], single[two][i])
        for one, two in _ring(len(agreed))
        for i in range(SINGLE)
    ]
    cpu = float(np.mean([fit.seconds for fit in agreed]))
    return {
        "data": dataset.name,
        "spec": spec.title(),
        "fits per consensus": chosen.fits,
        "pairs": len(_ring(len(agreed))),
        "single, found again": _mean(pairs),
        "consensus, found again": _mean(
            [share_found(agreed[one], agreed[two]) for one, two in _ring(len(agreed))]
        ),
        "single, mean objective": _mean([fit.objective for fit in alone], 1),
        "single, lowest objective": round(min(fit.objective for fit in alone), 1),
        "consensus, highest objective": round(max(fit.objective for fit in agreed), 1),
        "two of one result, most alike": round(max(_most_alike(fit.features) for fit in agreed), 3),
        "consensus, not converged": sum(not fit.converged for fit in agreed),
        "consensus, CPU seconds": round(cpu, 1),
        "as single fits": round(cpu / float(np.mean([fit.seconds for fit in alone])), 1),
    }


def _ring(count: int) -> list[tuple[int, int]]:
    """Every one with the next, the last with the first; two make one pair."""
    return [(one, (one + 1) % count) for one in range(count if count > 2 else count - 1)]


def share_found(one: Fitted, other: Fitted) -> float:
    """Share of the components of the one that the other has too."""
    return float((match(one.features, other.features) >= FOUND_FROM).mean())


def _most_alike(features: Features) -> float:
    return float((similarity(features, features) - np.eye(features[0].shape[1])).max())


def _mean(values: Sequence[float], digits: int = 3) -> float | None:
    return round(float(np.mean(values)), digits) if len(values) else None


def _kept(dataset: Dataset, spec: ModelSpec, jobs: int) -> Fitted:
    folder = ROOT / "runs" / "consensus" / dataset.name / spec.title().replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    model, spent = folder / "model.npz", folder / "seconds.json"
    if not spent.exists():
        before = _cpu()
        fitted = fit_dataset(
            dataset, spec, n_jobs=jobs, checkpoint=FitCheckpoint(folder / "state.npz")
        )
        fitted.save(model)
        spent.write_text(json.dumps(_cpu() - before))
        FitCheckpoint(folder / "state.npz").remove()
    found = FittedModel.load(model)
    converged = found.outcome.name == "CONVERGED"
    seconds = json.loads(Path(spent).read_text())
    return Fitted(found.factors[1:], found.history[-1].objective, seconds, converged)


def _cpu() -> float:
    return sum(os.times()[:2])


if __name__ == "__main__":
    main()
