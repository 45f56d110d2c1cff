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
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.public_data import NAMES, ROOT, load
from swiftcore.evaluation.cross_validation import compare_with
from swiftcore.evaluation.experiment import Experiment, ExperimentProgress
from swiftcore.evaluation.scores import summarise
from swiftcore.evaluation.settings import NOISE_LEVELS, ExperimentSettings
from swiftcore.experiments import run_experiment
from swiftcore.method_names import METHOD_TITLES
from swiftcore.methods import usual_methods

RESULTS = Path(__file__).with_name("results")
PAPER_RANKS = (5, 10, 20, 30, 40)
FEATURES = 100
PAPER = {  # the paper's Table 1; its second data set, Sutter, is not public
    "swift": (0.759, 0.781, 0.803, 0.815, 0.818), "cp_als": (0.521, 0.571, 0.675, 0.671, 0.671),
    "cp_nmu": (0.484, 0.493, 0.581, 0.600, 0.650),
    "supervised_cp": (0.506, 0.625, 0.631, 0.665, 0.662),
    "similarity_cp": (0.518, 0.648, 0.638, 0.662, 0.673),
    "cp_continuous": (0.403, 0.481, 0.528, 0.559, 0.543),
    "cp_binary": (0.746, 0.743, 0.737, 0.756, 0.743),
    "cp_apr": (0.675, 0.768, 0.753, 0.743, 0.746),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    datasets = load(chosen.data)[: chosen.data_sets]
    # an ablation has its own usual method; the tables have all, small grids or not
    usual = () if chosen.kind == "ablation" else usual_methods(datasets[0], FEATURES)
    settings = ExperimentSettings(
        methods=tuple(chosen.methods) or usual,
        ranks=tuple(chosen.ranks), repeats=chosen.repeats,
        seed=chosen.seed, quick=chosen.quick, features=FEATURES, jobs=chosen.jobs,
        levels=tuple(chosen.levels), draws=chosen.draws,
    )  # fmt: skip
    experiment = joined([
        run_experiment(
            chosen.kind, dataset, settings,
            parts=ROOT / "runs" / "evidence" / dataset.name, progress=_report,
        )
        for dataset in datasets
    ])  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{chosen.name or chosen.data + '_' + chosen.kind}.json"
    path.write_text(json.dumps(json.loads(experiment.to_json()), indent=1) + "\n")
    print(table(experiment, {} if chosen.data == "eicu" else PAPER))


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
    if first.kind == "evaluation":
        tables["summary"] = summarise(tables["scores"])
        tables["comparison"] = compare_with(tables["scores"], "swift", 1 / 5, len(experiments))
        places = ["method", "rank", "truth", "predicted"]
        tables["confusion"] = (
            tables["confusion"].groupby(places, sort=False, as_index=False)["count"].sum()
        )
    about: dict[str, Any] = {
        **first.about, "data": [one.about["data"] for one in experiments],
        "seconds": sum(one.about["seconds"] for one in experiments),
    }  # fmt: skip
    return Experiment(first.kind, about, tables)


def _counted_on(table: pd.DataFrame, number: int) -> pd.DataFrame:
    if "repeat" in table:
        return table.assign(repeat=table["repeat"] + number * (table["repeat"].max() + 1))
    return table.assign(data_set=number) if "phenotype" in table else table


def table(experiment: Experiment, paper: dict[str, tuple[float, ...]]) -> str:
    """The paper's kind of table, as Markdown: mean ± SD, the paper's own mean in brackets."""
    across = {"evaluation": "rank", "noise": "level", "ablation": "rank"}[experiment.kind]
    by = "recipe" if experiment.kind == "ablation" else "method"
    scores = experiment.tables["scores"]
    means = scores.pivot_table(index=by, columns=across, values="score", sort=False)
    spreads = scores.pivot_table(index=by, columns=across, values="score", aggfunc="std")
    columns = sorted(means.columns)
    lines = [f"| {by} | " + " | ".join(f"{across} {column}" for column in columns) + " |",
             "|---" * (len(columns) + 1) + "|"]  # fmt: skip
    for name in means.index:
        cells = [_cell(means, spreads, name, column) + _of_paper(paper, name, column)
                 for column in columns]  # fmt: skip
        lines.append(f"| {METHOD_TITLES.get(name, name)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(means: pd.DataFrame, spreads: pd.DataFrame, name: str, column: float) -> str:
    mean = means.loc[name, column]
    return "" if np.isnan(mean) else f"{mean:.3f} ± {spreads.loc[name, column]:.3f}"


def _of_paper(paper: dict[str, tuple[float, ...]], name: str, rank: float) -> str:
    if name not in paper or rank not in PAPER_RANKS:
        return ""
    return f" ({paper[name][PAPER_RANKS.index(int(rank))]:.3f})"


def _report(progress: ExperimentProgress) -> None:
    if progress.done % 10 == 0 or progress.done == progress.total:
        left = progress.seconds_left / 60
        sys.stderr.write(
            f"{progress.done}/{progress.total}, {left:.0f} min left: {progress.what}\n"
        )


if __name__ == "__main__":
    main()
