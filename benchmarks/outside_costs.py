"""Does it help to know from outside which diagnoses are close? Five costs on two data sets.

    python -m benchmarks.outside_costs --quick          # small: to see that it runs
    python -m benchmarks.outside_costs --jobs 2

Only the cost of the diagnoses differs (rows and medications: cosine): a hierarchy (CCS for the
eICU demo, whose diagnoses are CCS groups; ICD-9 for the MIMIC-III demo), half of it with half
cosine, cosine, one-minus-identity, random. Per cost: the score by the leak-free protocol with
the sharpness chosen on validation rows; the share of phenotypes that come back with other seeds
(similarity of at least 0.8); and the clinicians' criterion, the share of phenotypes whose five
strongest diagnoses lie in at most two CCS chapters. A diagnosis without a chapter counts as one
of its own. Finished parts are kept in ``runs/``. Prints a table and writes its JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import RESULTS
from benchmarks.evidence import report
from benchmarks.public_data import ROOT, SHARED, load
from swiftcore.cost.outside.hierarchy import code_paths
from swiftcore.cost.outside.matching import named_features
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions
from swiftcore.evaluation.experiments.checkpoints import Checkpoint, Task, compute_checkpoints
from swiftcore.evaluation.experiments.trial import Trial, run_trial
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.protocol.folds import make_folds, read_labels
from swiftcore.fitting import fit_dataset
from swiftcore.phenotypes.matching import FOUND_FROM, match
from swiftcore.spec import ModelSpec
from swiftcore.tensor import Mode

DIAGNOSES = 1  # the mode whose cost differs
FEATURES = 100
TOP, MOST_CHAPTERS = 5, 2
HIERARCHIES = {"eicu": "ccs", "mimic3_demo": "icd"}
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    ranks: tuple[int, ...] = (10, 20)
    sharpness: tuple[float, ...] = (2.0, 10.0)
    seeds: int = 4  # fits of all rows
    repeats: int = 1  # how often five folds are drawn
    max_iterations: int = 500


QUICK = Plan((5,), (10.0,), 2, 1, 30)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", choices=list(HIERARCHIES), default=list(HIERARCHIES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1, help="how often five folds are drawn")
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs")
    chosen = parser.parse_args(arguments)
    plan = replace(QUICK if chosen.quick else Plan(), repeats=chosen.repeats)
    lines = [line for name in chosen.data for line in compare(name, plan, chosen.jobs)]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"outside_costs{'_quick' if chosen.quick else ''}.json"
    path.write_text(json.dumps({"plan": vars(plan), "costs": lines}, indent=1) + "\n")
    print(f"{'data':12}{'R':>4}  {'cost':20}{'score':>8}{'sd':>7}{'again':>8}{'chapters':>10}")
    for line in lines:
        print(
            f"{line['data']:12}{line['rank']:4}  {line['cost']:20}{line['score']:8.3f}"
            f"{line['sd']:7.3f}{line['found_again']:8.2f}{line['few_chapters']:10.2f}"
        )


def compare(name: str, plan: Plan, jobs: int) -> list[dict[str, Any]]:
    """One line per rank and cost."""
    dataset = load("eicu")[0] if name == "eicu" else mimic()
    mode = dataset.tensor.modes[DIAGNOSES].name
    hierarchy = HIERARCHIES[name]
    blend = f"0.5*{hierarchy}+0.5*cosine"
    texts = (hierarchy, blend, "cosine", "one-minus-identity", "random")
    changes = {
        (text, sharpness): {
            "sharpness": sharpness,
            "max_iterations": plan.max_iterations,
            "mode_costs": {mode: text},
        }
        for text in texts
        for sharpness in plan.sharpness
    }
    lines = []
    for rank in plan.ranks:
        scores = _scores(dataset, rank, changes, plan, jobs)
        for text in texts:
            own = [one for one in scores if one["text"] == text]
            usual = max(plan.sharpness, key=[one["sharpness"] for one in own].count)
            spec = ModelSpec(rank=rank, **changes[text, usual])
            seeds = _seeds(dataset, spec, plan.seeds, jobs)
            found = [one["score"] for one in own]
            lines.append(
                {
                    "data": name,
                    "rank": rank,
                    "cost": text,
                    "score": float(np.mean(found)),
                    "sd": float(np.std(found)),
                    "folds": found,
                    "sharpness": usual,
                    "found_again": found_again(seeds),
                    "few_chapters": few_chapters(seeds, chapters(dataset)),
                }
            )
    return lines


def mimic() -> Dataset:
    """Death in hospital in the MIMIC-III demo, diagnoses by ICD-9."""
    options = BuildOptions(outcome="death", values="binary", name="mimic3_demo")
    return build_path(SHARED / "mimic3_demo", options)


def _scores(
    dataset: Dataset, rank: int, changes: dict[Any, dict[str, Any]], plan: Plan, jobs: int
) -> list[dict[str, Any]]:
    """For every cost and fold, the test score of the sharpness that validation rows chose."""
    labels = read_labels(dataset)
    folds = make_folds(dataset, labels, repeats=plan.repeats)
    tasks, places = [], []
    for (text, sharpness), change in changes.items():
        setting = json.dumps(change, sort_keys=True)
        for number, fold in enumerate(folds):
            trial = Trial("swift", rank, setting, number // 5, number % 5, features=FEATURES)
            arguments = (dataset, labels, fold, CATALOGUE["swift"], trial)
            key = trial.key(dataset.tensor.digest(), 5, CATALOGUE["swift"])
            tasks.append(Task(key, trial.words, arguments))
            places.append((text, number, sharpness))
    parts = compute_checkpoints(tasks, run_trial, _folder(dataset), jobs, report)
    best: dict[tuple[str, int], tuple[list[float], float, float]] = {}
    for (text, number, sharpness), part in zip(places, parts, strict=True):
        offer = (part["merit"], part["score"], sharpness)
        best[text, number] = max(best.get((text, number), offer), offer)
    return [
        {"text": text, "score": score, "sharpness": sharpness}
        for (text, _), (_, score, sharpness) in best.items()
    ]


def _seeds(dataset: Dataset, spec: ModelSpec, seeds: int, jobs: int) -> list[list[Array]]:
    """Feature profiles of fits of all rows with several seeds."""
    tasks = []
    for seed in range(seeds):
        named = json.dumps([dataset.tensor.digest(), seed, spec.to_json()], sort_keys=True)
        key = hashlib.sha256(named.encode()).hexdigest()
        tasks.append(Task(key, f"seed {seed}", (dataset, spec, seed)))
    parts = compute_checkpoints(tasks, profiles, _folder(dataset), jobs, report)
    return [[np.array(factor) for factor in part["features"]] for part in parts]


def profiles(dataset: Dataset, spec: ModelSpec, seed: int) -> Checkpoint:
    """The feature profiles of one fit, as plain values."""
    own = ModelSpec.of({**spec.plain(), "seed": seed})
    factors = fit_dataset(dataset, own, n_jobs=1).factors
    return {"features": [np.round(factor, 9).tolist() for factor in factors[1:]]}


def found_again(seeds: list[list[Array]]) -> float:
    """Share of components with a partner in another fit, over all pairs of fits."""
    pairs = [
        match(seeds[one], seeds[other]) >= FOUND_FROM
        for one in range(len(seeds))
        for other in range(one)
    ]
    return float(np.mean(pairs))


def chapters(dataset: Dataset) -> list[str]:
    """The CCS chapter of every diagnosis; one without gets a chapter of its own."""
    mode: Mode = dataset.tensor.modes[DIAGNOSES]
    paths = code_paths(named_features(mode.labels, dataset.outside.of_mode(mode.name)), "ccs")
    return [path[0] if path else label for path, label in zip(paths, mode.labels, strict=True)]


def few_chapters(seeds: list[list[Array]], chapter_of: list[str]) -> float:
    """Share of components whose strongest diagnoses lie in at most two chapters, over fits."""
    narrow = [
        len({chapter_of[place] for place in np.argsort(-column, kind="stable")[:TOP]})
        <= MOST_CHAPTERS
        for features in seeds
        for column in features[DIAGNOSES - 1].T
    ]
    return float(np.mean(narrow))


def _folder(dataset: Dataset) -> Any:
    return ROOT / "runs" / "outside_costs" / dataset.name


if __name__ == "__main__":
    main()
