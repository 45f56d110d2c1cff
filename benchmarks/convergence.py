"""How many iterations fits need until they converge, on the samples and five real data sets.

    python -m benchmarks.convergence

A fit of the usual spec at two ranks each; none should end at its limit. ``USUAL_ITERATIONS``
in ``swiftcore.progress``, by which times are estimated, comes from here. Prints the table and
writes its JSON.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np

from benchmarks import RESULTS
from benchmarks.public_data import SHARED, load
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.samples import load_sample
from swiftcore.evaluation.protocol.preparation import choose_features
from swiftcore.fitting import fit_dataset
from swiftcore.spec import ModelSpec

SAMPLES = ("heart_failure", "news")
FOLDERS = {"synthea": "synthea_1k", "mimic3": "mimic3_demo", "gibleed": "gibleed_omop"}
DATA = (*SAMPLES, "eicu", "bbc", *FOLDERS)
RANKS = (10, 20)
FEATURES = 100  # of the texts and of eICU, as in the evidence


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    chosen = parser.parse_args(arguments)
    path = RESULTS / "convergence.json"
    lines = json.loads(path.read_text()) if path.exists() else []
    lines = [line for line in lines if line["data"] not in chosen.data]
    for name in chosen.data:
        dataset = _dataset(name)
        for rank in chosen.ranks:
            fitted = fit_dataset(dataset, ModelSpec(rank=rank))
            size = " x ".join(map(str, dataset.tensor.shape))
            iterations, outcome = len(fitted.history) - 1, fitted.outcome.name
            lines.append(
                {
                    "data": name,
                    "size": size,
                    "rank": rank,
                    "iterations": iterations,
                    "outcome": outcome,
                }
            )
            print(f"{name:14} {size:18} R = {rank:2}  {iterations:4} {outcome}", flush=True)
            path.write_text(json.dumps(lines, indent=1) + "\n")
    limited = sum(line["outcome"] != "CONVERGED" for line in lines)
    print(f"{limited} of {len(lines)} did not converge")


def _dataset(name: str) -> Dataset:
    if name in SAMPLES:
        return load_sample(name)
    if name in FOLDERS:
        return build_path(SHARED / FOLDERS[name], BuildOptions(name=name))
    found = load(name)[0]
    every = np.arange(found.tensor.shape[0])
    return replace(found, tensor=choose_features(found, every, FEATURES))


if __name__ == "__main__":
    main()
