"""Does *Choose for me* pay? Its settings against the shipped ones, by the protocol of the evidence.

    python -m benchmarks.tuned eicu --ranks 10 20 --minutes 10 --jobs 2
    python -m benchmarks.tuned bbc --ranks 10 --guided

In every outer fold the search sees training and validation rows alone (cut to the 100 features
per mode that these training rows choose); its spec and the shipped one are then fitted on the
training rows and judged on the test rows, as any method of the evidence. One search per fold and
rank, so that ranks can be compared with the other tables. Finished parts are kept in ``runs/``.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import RESULTS
from benchmarks.public_data import NAMES, ROOT, load
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.experiments.trial import Trial, run_trial
from swiftcore.evaluation.experiments.tuning.candidates import changes_of
from swiftcore.evaluation.experiments.tuning.search import search
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.protocol.folds import Fold, Labels, make_folds, read_labels
from swiftcore.evaluation.protocol.intervals import paired_interval
from swiftcore.evaluation.protocol.preparation import choose_features

FEATURES, FOLDS = 100, 5


def scored(
    dataset: Dataset, labels: Labels, fold: Fold, rank: int, asked: TuneSettings
) -> list[dict[str, Any]]:
    """The shipped settings and the tuned ones on the test rows of one outer fold."""
    narrow = replace(dataset, tensor=choose_features(dataset, fold.train, FEATURES))
    known = np.sort(np.concatenate([fold.train, fold.validation]))
    kept = ROOT / "runs" / "tuned" / dataset.name
    found = search(narrow.with_rows(known), replace(asked, ranks=(rank,)), checkpoints=kept)
    looked = {"tried": len(found.candidates) - len(found.not_tried), "of": len(found.candidates)}
    tuned = changes_of(found.chosen.candidate.spec)
    lines = []
    for method, changes in (("swift", {}), ("tuned_swift", tuned)):
        recipe = str(changes.pop("costs", "cosine"))
        trial = Trial(
            "swift",
            rank,
            json.dumps(changes, sort_keys=True),
            fold.repeat,
            fold.number,
            recipe=recipe,
            seed=asked.seed,
        )
        got = run_trial(narrow, labels, fold, CATALOGUE["swift"], trial)
        line = {"data": dataset.name, "method": method, "rank": rank}
        line |= {name: got.get(name, np.nan) for name in ("score", "second", "validation")} | looked
        lines.append({**line, "fold": fold.number, "setting": json.dumps(changes), "costs": recipe})
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def main(arguments: list[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    asked = TuneSettings(
        minutes=chosen.minutes, guided=chosen.guided, seed=chosen.seed, jobs=chosen.jobs
    )
    lines = []
    for dataset in load(chosen.data)[: chosen.data_sets]:
        labels = read_labels(dataset)
        for fold in make_folds(dataset, labels, FOLDS, 1, chosen.seed)[: chosen.folds]:
            for rank in chosen.ranks:
                lines += scored(dataset, labels, fold, rank, asked)
    scores = pd.DataFrame(lines)
    tables = {"scores": scores, "tuned_minus_shipped": compared(scores)}
    plain = {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{chosen.data}_tuned{'_guided' if chosen.guided else ''}.json"
    path.write_text(json.dumps({"asked": vars(chosen), **plain}, indent=1) + "\n")
    print(tables["tuned_minus_shipped"].round(4).to_string(index=False))


def compared(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean scores by rank, and the difference on the same folds with a 95 % interval."""
    lines = []
    for rank, group in scores.groupby("rank"):
        both = group.pivot(index=["data", "fold"], columns="method", values="score")
        apart = (both["tuned_swift"] - both["swift"]).to_numpy()
        low, high = paired_interval(apart, 1 / FOLDS)
        means = {"swift": both["swift"].mean(), "tuned_swift": both["tuned_swift"].mean()}
        lines.append({"rank": rank, **means, "difference": apart.mean(), "low": low, "high": high})
    return pd.DataFrame(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=NAMES)
    parser.add_argument("--ranks", nargs="+", type=int, default=[10, 20])
    parser.add_argument("--folds", type=int, default=FOLDS, help="outer folds to do, of five")
    parser.add_argument("--data-sets", type=int, help="of the three of bbc_fresh")
    parser.add_argument("--minutes", type=float, default=10.0, help="of each search; 0: no limit")
    parser.add_argument("--guided", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    return parser


if __name__ == "__main__":
    main()
