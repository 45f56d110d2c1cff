"""The paper's tables on public data: who predicts best, under noise, with which costs.

    python -m benchmarks.evidence bbc_fresh evaluation --jobs 2          # the full grids
    python -m benchmarks.evidence eicu evaluation --quick --seed 1 --repeats 3
    python -m benchmarks.evidence bbc_fresh noise --quick --ranks 10

The data are those of ``benchmarks/public_data.py``, cut to 100 features per mode in each fold.
Finished parts are kept in ``runs/``; a run that was stopped goes on there. Prints the table and
writes its JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchmarks import RESULTS
from benchmarks.public_data import NAMES, ROOT, load
from benchmarks.tables import PAPER_RANKS, paper_for, table
from swiftcore.evaluation.experiments.result import Experiment, ExperimentProgress
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import NOISE_LEVELS, ExperimentSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.protocol.scores import compare_with, summarise

FEATURES = 100
EVERY_METHOD = tuple(key for key in CATALOGUE if key != "direct_wasserstein")


def main(arguments: list[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    datasets = load(chosen.data)[: chosen.data_sets]
    # an ablation has its own usual method; the tables have all of the paper's, however long
    usual = () if chosen.kind == "ablation" else EVERY_METHOD
    settings = ExperimentSettings(
        methods=tuple(chosen.methods) or usual,
        ranks=tuple(chosen.ranks),
        repeats=chosen.repeats,
        seed=chosen.seed,
        quick=chosen.quick,
        features=FEATURES,
        jobs=chosen.jobs,
        levels=tuple(chosen.levels),
        draws=chosen.draws,
    )
    experiment = joined(
        [
            run_experiment(
                chosen.kind,
                dataset,
                settings,
                checkpoints=ROOT / "runs" / "evidence" / dataset.name,
                progress=report,
            )
            for dataset in datasets
        ]
    )
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{chosen.name or chosen.data + '_' + chosen.kind}.json"
    kept = json.loads(experiment.to_json())
    kept["tables"].pop("curves", None)  # every point of every fold: no document shows them
    path.write_text(json.dumps(kept, indent=1) + "\n")
    print(table(experiment, paper_for(chosen.data)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=NAMES)
    parser.add_argument("kind", choices=["evaluation", "noise", "ablation"])
    parser.add_argument("--ranks", nargs="+", type=int, default=list(PAPER_RANKS))
    parser.add_argument("--methods", nargs="+", default=[])
    parser.add_argument("--levels", nargs="+", type=float, default=list(NOISE_LEVELS))
    parser.add_argument("--draws", type=int, default=2, help="of the noise")
    parser.add_argument("--seed", type=int, default=0, help="of the folds and the starts")
    parser.add_argument("--repeats", type=int, default=1, help="how often folds are drawn anew")
    parser.add_argument("--data-sets", type=int, help="of the three of bbc_fresh")
    parser.add_argument("--name", help="of the file in results/, instead of data and kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small grids")
    return parser


def joined(experiments: Sequence[Experiment]) -> Experiment:
    """Experiments of one kind on several data sets as one; each counts as another repeat."""
    first = experiments[0]
    if len(experiments) == 1:
        return first
    tables = {
        name: pd.concat(
            [_counted_on(one.tables[name], number) for number, one in enumerate(experiments)],
            ignore_index=True,
        )
        for name in first.tables
    }
    sets, scores = len(experiments), tables["scores"]
    levels = ["level"] if first.kind == "noise" else []
    tables["summary"] = summarise(scores, 1 / 5, sets, levels)
    if first.kind == "ablation":
        compared = compare_with(scores, "cosine", 1 / 5, sets, column="recipe", within=["method"])
    else:
        compared = compare_with(scores, "swift", 1 / 5, sets, within=levels)
    tables["comparison"] = compared
    if first.kind == "evaluation":
        places = ["method", "rank", "truth", "predicted"]
        tables["confusion"] = (
            tables["confusion"].groupby(places, sort=False, as_index=False)["count"].sum()
        )
    about: dict[str, Any] = {
        **first.about,
        "data": [one.about["data"] for one in experiments],
        "seconds": sum(one.about["seconds"] for one in experiments),
    }
    return Experiment(first.kind, about, tables)


def _counted_on(table: pd.DataFrame, number: int) -> pd.DataFrame:
    if "repeat" in table:
        return table.assign(repeat=table["repeat"] + number * (table["repeat"].max() + 1))
    return table.assign(data_set=number) if "phenotype" in table else table


def report(progress: ExperimentProgress) -> None:
    """Say now and then how far an experiment is."""
    if progress.done % 10 == 0 or progress.done == progress.total:
        left = progress.seconds_left / 60
        sys.stderr.write(
            f"{progress.done}/{progress.total}, {left:.0f} min left: {progress.what}\n"
        )


if __name__ == "__main__":
    main()
