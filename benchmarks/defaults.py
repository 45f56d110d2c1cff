"""Which settings the shipped defaults are: chosen on validation rows alone.

    python -m benchmarks.defaults

Every data set votes: the BBC development articles, eICU, Synthea and both samples. On each,
settings are tried on the training rows of a few folds and judged by the log loss of the lasso
on the validation rows; **test rows are never looked at**. The setting that is least behind the
best of its data set and rank wins, on average over the data sets, each counted once. Finished
parts are kept in ``runs/``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import RESULTS
from benchmarks.public_data import ROOT, SHARED, load
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.samples import load_sample
from swiftcore.evaluation.experiments.trial import PROJECTION_STEPS, choose_lasso
from swiftcore.evaluation.protocol.folds import make_folds, read_labels
from swiftcore.evaluation.protocol.preparation import prepare
from swiftcore.fitting import fit_dataset
from swiftcore.progress import FitOutcome
from swiftcore.spec import SETTINGS, ModelSpec

FEATURES = 100
JUDGED = ("train", "validation")
DATA = ("bbc", "eicu", "synthea", "heart_failure", "news")
RANKS = (10, 20)
FOLDS = 3  # of five
GRID = {
    "sharpness": (2.0, 5.0, 10.0),
    "entry_values": SETTINGS["entry_values"].choices,
    "row_mass": SETTINGS["row_mass"].choices,
    "feature_weighting": ("none", "rarity"),
}
KEPT = ROOT / "runs" / "defaults"


def dataset_of(name: str) -> Dataset:
    """A data set that may vote."""
    if name == "synthea":
        return build_path(SHARED / "synthea_1k", BuildOptions(outcome="death", name=name))
    if name in ("heart_failure", "news"):
        return load_sample(name)
    return load(name)[0]


def settings_for(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """The grid; where every entry is 1 there is nothing to count."""
    binary = bool((dataset.tensor.values == 1).all())
    for values in product(*GRID.values()):
        setting = dict(zip(GRID, values, strict=True))
        if not (binary and setting["entry_values"] != "counts"):
            yield setting


def judged(name: str, dataset: Dataset, setting: dict[str, Any], rank: int, fold: int) -> Any:
    """Log loss and score on the validation rows of one fold; kept on disk."""
    words = "_".join([name, *map(str, setting.values()), str(rank), str(fold)]).replace(" ", "-")
    path = KEPT / f"{words}.json"
    if path.exists():
        return json.loads(path.read_text())
    labels = read_labels(dataset)
    parts = make_folds(dataset, labels)[fold]
    prepared = prepare(dataset, labels, parts, features=FEATURES)
    spec = ModelSpec(rank=rank, **setting)
    fitted = fit_dataset(prepared.training, spec, n_jobs=1)
    memberships = {
        part: fitted.transform(prepared.tensors[part], max_iterations=PROJECTION_STEPS)
        for part in JUDGED
    }
    choice = choose_lasso(memberships, prepared.codes, len(prepared.classes))
    found = {
        "loss": choice.loss,
        "score": choice.score,
        "iterations": len(fitted.history) - 1,
        "converged": fitted.outcome is FitOutcome.CONVERGED,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=DATA)
    parser.add_argument("--ranks", nargs="+", type=int, default=list(RANKS))
    chosen = parser.parse_args(arguments)
    rows = []
    for name in chosen.data:
        dataset = dataset_of(name)
        for fold, rank, setting in product(range(FOLDS), chosen.ranks, list(settings_for(dataset))):
            found = judged(name, dataset, setting, rank, fold)
            rows.append({"data": name, "rank": rank, "fold": fold, **setting, **found})
            sys.stderr.write(f"{name} {rank} {fold} {setting}: {found['loss']:.4f}\n")
    report(pd.DataFrame(rows))


def report(found: pd.DataFrame) -> None:
    """How far every setting is behind the best, and what was best where."""
    found = _spread_over_values(found)
    means = found.groupby(["data", "rank", *GRID], as_index=False)[["loss", "score"]].mean()
    best = means.groupby(["data", "rank"])["loss"].transform("min")
    means["behind"] = means["loss"] - best
    own = means.groupby([*GRID, "data"], as_index=False)["behind"].mean()
    table = own.groupby(list(GRID))["behind"].agg(["mean", "max"])
    table["best_of"] = means[means["behind"] == 0].groupby(list(GRID)).size()
    table = table.fillna({"best_of": 0}).sort_values("mean").reset_index()
    print(table.to_string(float_format="%.3f"))
    kept = {
        "settings": json.loads(table.to_json(orient="records")),
        "validation": json.loads(means.to_json(orient="records")),
        "converged": float(np.mean(found["converged"])),
    }
    (RESULTS / "defaults.json").write_text(json.dumps(kept, indent=1) + "\n")


def _spread_over_values(found: pd.DataFrame) -> pd.DataFrame:
    """Where every entry is 1, what an entry counts makes no difference: all choices tie."""
    parts = [found]
    for _, own in found.groupby("data"):
        if set(own["entry_values"]) == {"counts"}:
            others = [value for value in GRID["entry_values"] if value != "counts"]
            parts += [own.assign(entry_values=value) for value in others]
    return pd.concat(parts, ignore_index=True)


if __name__ == "__main__":
    main()
