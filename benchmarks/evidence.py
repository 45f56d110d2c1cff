"""The paper's tables on public data: who predicts best, under noise, with which costs.

    python -m benchmarks.evidence bbc_fresh evaluation --jobs 2          # the full grids
    python -m benchmarks.evidence eicu evaluation --quick --seed 1 --repeats 3
    python -m benchmarks.evidence bbc_fresh noise --quick --ranks 10

SWIFT stands there as shipped and with the best of four settings, chosen on validation rows.
The data are those of ``benchmarks/public_data.py``, cut to 100 features per mode in each fold.
Finished parts are kept in ``runs/``; a run that was stopped goes on there. Prints the table and
writes its JSON.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.evidence_tables import (
    AGREED,
    CHOSEN,
    OURS,
    joined,
    kept,
    named,
    others_recorded,
    stacked,
    with_rows_anew,
)
from benchmarks.public_data import NAMES, ROOT, load
from benchmarks.tables import PAPER_RANKS, paper_for, table
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.experiments.result import Experiment, ExperimentProgress
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import NOISE_LEVELS, ExperimentSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE

FEATURES = 100
AGAIN = 10  # the rank at which recorded scores are computed once more
AGREEING = 20  # fits of a consensus
SHIPPED = {"method": "swift"}  # SWIFT with every setting at its default
SCORED = ("evaluation", "noise")
USUAL = {  # an ablation is of SWIFT as shipped; the tables have all of the paper's, however long
    **dict.fromkeys(SCORED, (*CATALOGUE, CHOSEN)),
    "ablation": (),
    "stability": tuple(key for key, one in CATALOGUE.items() if one.repeatable),
}


def main(arguments: list[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    path = RESULTS / f"{chosen.name or chosen.data + '_' + chosen.kind}.json"
    methods = tuple(chosen.methods) or USUAL[chosen.kind]
    if chosen.kind in SCORED and chosen.rows_only:
        fit = SHIPPED if methods == ("swift",) else {}
        experiment = with_rows_anew(path, _run(chosen, methods=methods, fit=fit))
    elif chosen.kind in SCORED:
        experiment = _with_ours(chosen, methods, path)
    else:
        experiment = _run(chosen, methods=methods, fit=SHIPPED if methods == () else {})
    kept(experiment, path)
    print(table(experiment, paper_for(chosen.data)))


def _with_ours(chosen: argparse.Namespace, methods: tuple[str, ...], path: Path) -> Experiment:
    """SWIFT in the forms that were asked for, and the other methods, on the same folds."""
    rows = [_run(chosen, methods=("swift",), fit=SHIPPED)]
    if CHOSEN in methods:
        rows.append(named(_run(chosen, methods=("swift",)), {"swift": CHOSEN}))
    if AGREED in methods:
        agreed = _run(chosen, methods=("swift",), fit={**SHIPPED, "consensus": AGREEING})
        rows.append(named(agreed, {"swift": AGREED}))
    if "supervised_swift" in methods:
        rows.append(_run(chosen, methods=("supervised_swift",)))
    others = tuple(key for key in methods if key not in OURS)
    if others and chosen.recorded:
        again = _run(chosen, methods=others, ranks=(AGAIN,), levels=chosen.levels[-1:])
        recorded, changed = others_recorded(path, again)
        rows.append(recorded)
        others = tuple(changed)
    if others:
        rows.append(_run(chosen, methods=others))
    return stacked(*rows)


def _run(chosen: argparse.Namespace, **changes: Any) -> Experiment:
    """One experiment on every data set of the name, with the settings that were asked for."""
    asked = {
        "ranks": tuple(chosen.ranks),
        "repeats": chosen.repeats,
        "seed": chosen.seed,
        "quick": chosen.quick,
        "features": FEATURES,
        "jobs": chosen.jobs,
        "levels": tuple(chosen.levels),
        "draws": chosen.draws,
        "seeds": chosen.seeds,
    }
    settings = ExperimentSettings(**(asked | changes))
    return joined(
        [
            run_experiment(
                chosen.kind,
                dataset,
                settings,
                checkpoints=ROOT / "runs" / "evidence" / dataset.name,
                progress=report,
            )
            for dataset in _loaded(chosen.data)[: chosen.data_sets]
        ]
    )


@cache
def _loaded(name: str) -> list[Dataset]:
    return load(name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=NAMES)
    parser.add_argument("kind", choices=list(USUAL))
    parser.add_argument("--ranks", nargs="+", type=int, default=list(PAPER_RANKS))
    parser.add_argument("--methods", nargs="+", default=[])
    parser.add_argument("--levels", nargs="+", type=float, default=list(NOISE_LEVELS))
    parser.add_argument("--draws", type=int, default=2, help="of the noise")
    parser.add_argument("--seeds", type=int, default=5, help="other ones, for stability")
    parser.add_argument("--seed", type=int, default=0, help="of the folds and the starts")
    parser.add_argument("--repeats", type=int, default=1, help="how often folds are drawn anew")
    parser.add_argument("--data-sets", type=int, help="of the three of bbc_fresh")
    parser.add_argument("--name", help="of the file in results/, instead of data and kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small grids")
    parser.add_argument(
        "--recorded",
        action="store_true",
        help="keep the recorded scores of other methods, if those at rank 10 come out the same",
    )
    parser.add_argument(
        "--rows-only",
        action="store_true",
        help="make the rows of --methods anew (swift alone as shipped, others with their grids), "
        "and keep all others as recorded",
    )
    return parser


def report(progress: ExperimentProgress) -> None:
    """Say now and then how far an experiment is."""
    if progress.done % 10 == 0 or progress.done == progress.total:
        left = progress.seconds_left / 60
        sys.stderr.write(
            f"{progress.done}/{progress.total}, {left:.0f} min left: {progress.what}\n"
        )


if __name__ == "__main__":
    main()
