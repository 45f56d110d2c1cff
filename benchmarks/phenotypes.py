"""What SWIFT finds in public data: its phenotypes, which come back, and what they predict.

    python -m benchmarks.phenotypes bbc_fresh --rank 10
    python -m benchmarks.phenotypes eicu --rank 10

One fit on all rows (of ``bbc_fresh`` the first draw), with SWIFT's usual settings; five more
with other seeds and five without a fifth of the rows say which phenotypes come back; a lasso
says which go with the outcome, and folds of the rows how surely. Prints one line per
phenotype and writes its JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import RESULTS
from benchmarks.evidence import FEATURES
from benchmarks.public_data import NAMES, ROOT, load
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.run import (
    ExperimentSettings,
    fit_swift,
    link_outcome,
    run_experiment,
)
from swiftcore.evaluation.protocol.preparation import choose_features
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes

WORDS = 4  # per mode and phenotype, in the table


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=NAMES)
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(arguments)
    dataset = load(chosen.data)[0]
    settings = ExperimentSettings(ranks=(chosen.rank,), features=FEATURES, jobs=chosen.jobs)
    stability = run_experiment(
        "stability", dataset, settings, checkpoints=ROOT / "runs" / "evidence" / dataset.name
    )
    every_row = np.arange(dataset.tensor.shape[0])
    dataset = replace(dataset, tensor=choose_features(dataset, every_row, FEATURES))
    factors = fit_swift(dataset, settings.seed, chosen.rank, {})
    links = link_outcome(factors[0], dataset, settings.seed)
    assert links is not None, "all public data have an outcome"
    found = describe_phenotypes(factors, dataset.tensor.modes, top=WORDS)
    lines = list(_lines(found, stability, links))
    result = {"about": stability.about, "links": links.about, "phenotypes": lines}
    path = RESULTS / f"{chosen.data}_phenotypes.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(table(lines))
    print(f"\n{links.about['metric_title']} of the lasso on them: {links.about['score']:.3f}")


def _lines(
    found: list[Phenotype], stability: Experiment, links: Experiment
) -> Iterator[dict[str, Any]]:
    """One phenotype each, heaviest first."""
    comes_back = stability.tables["summary"].set_index("phenotype")
    weights = links.tables["links"]
    for one in found:
        own = weights[weights["phenotype"] == one.identifier]
        telling = own.loc[own["weight"].idxmax()]  # two classes have one line
        yield {
            "phenotype": one.identifier,
            "share": one.share,
            "features": {mode: [item.label for item in items] for mode, items in one.items.items()},
            "found_with_other_seeds": float(comes_back.loc[one.identifier, "seeds"]),
            "found_with_other_rows": float(comes_back.loc[one.identifier, "folds"]),
            "class": str(telling["class"]),
            "weight": float(telling["weight"]),
            "fold_low": float(telling["low"]),
            "fold_high": float(telling["high"]),
            "same_sign_in_folds": float(telling["same_sign"]),
        }


def table(lines: list[dict[str, Any]]) -> str:
    """As Markdown; of several classes the one a phenotype speaks for most is shown."""
    shown = pd.DataFrame(
        [
            {
                "phenotype": line["phenotype"],
                "share": f"{line['share']:.0%}",
                "features": "; ".join(dict.fromkeys(map(", ".join, line["features"].values()))),
                "seeds": f"{line['found_with_other_seeds']:.0%}",
                "rows": f"{line['found_with_other_rows']:.0%}",
                "weight": f"{line['weight']:+.2f} "
                f"[{line['fold_low']:+.2f}, {line['fold_high']:+.2f}] {line['class']}",
            }
            for line in lines
        ]
    )
    head = ["| " + " | ".join(shown.columns) + " |", "|---" * len(shown.columns) + "|"]
    return "\n".join(head + ["| " + " | ".join(row) + " |" for row in shown.to_numpy(str)])


if __name__ == "__main__":
    main()
