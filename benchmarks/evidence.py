"""The paper's tables on public data: who predicts best, under noise, with which costs.

    python -m benchmarks.evidence bbc evaluation --jobs 2          # the full grids
    python -m benchmarks.evidence eicu evaluation --quick --jobs 2
    python -m benchmarks.evidence bbc noise --quick --ranks 10

Data: ``bbc`` (80 articles of each category, 100 words chosen per fold), ``bbc_all`` (all 2,225),
``bbc_unique`` (without the repeats), ``eicu`` (heart failure, CCS 108 dropped, 100 x 100). They
are looked for beside the project, or in SWIFT_SHARED_DATA. Finished parts are kept in ``runs/``;
a run that was stopped goes on there. Prints the table and writes its JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from swiftcore.data.dataset import Dataset
from swiftcore.data.documents import cooccurrence_tensor, read_corpus
from swiftcore.data.findings import Findings
from swiftcore.data.options import BuildOptions
from swiftcore.data.sandbox import build_path
from swiftcore.evaluation.experiment import Experiment, ExperimentProgress
from swiftcore.evaluation.settings import NOISE_LEVELS, ExperimentSettings
from swiftcore.experiments import run_experiment
from swiftcore.method_names import METHOD_TITLES

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SWIFT_SHARED_DATA", ROOT.parent / "shared" / "data"))
RESULTS = Path(__file__).with_name("results")
PAPER_RANKS = (5, 10, 20, 30, 40)
FEATURES = 100
ARTICLES_PER_CATEGORY = 80
PAPER = {  # the paper's Table 1 and Table 2; its second data set, Sutter, is not public
    "bbc": {
        "swift": (0.759, 0.781, 0.803, 0.815, 0.818), "cp_als": (0.521, 0.571, 0.675, 0.671, 0.671),
        "cp_nmu": (0.484, 0.493, 0.581, 0.600, 0.650),
        "supervised_cp": (0.506, 0.625, 0.631, 0.665, 0.662),
        "similarity_cp": (0.518, 0.648, 0.638, 0.662, 0.673),
        "cp_continuous": (0.403, 0.481, 0.528, 0.559, 0.543),
        "cp_binary": (0.746, 0.743, 0.737, 0.756, 0.743),
        "cp_apr": (0.675, 0.768, 0.753, 0.743, 0.746),
    },
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=["bbc", "bbc_all", "bbc_unique", "eicu"])
    parser.add_argument("kind", choices=["evaluation", "noise", "ablation"])
    parser.add_argument("--ranks", nargs="+", type=int, default=list(PAPER_RANKS))
    parser.add_argument("--methods", nargs="+", default=[])
    parser.add_argument("--levels", nargs="+", type=float, default=list(NOISE_LEVELS))
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small grids")
    chosen = parser.parse_args(arguments)
    settings = ExperimentSettings(
        methods=tuple(chosen.methods), ranks=tuple(chosen.ranks), repeats=chosen.repeats,
        quick=chosen.quick, features=FEATURES, jobs=chosen.jobs, levels=tuple(chosen.levels),
        draws=chosen.draws,
    )  # fmt: skip
    experiment = run_experiment(
        chosen.kind, load(chosen.data), settings,
        parts=ROOT / "runs" / "evidence" / chosen.data, progress=_report,
    )  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{chosen.data}_{chosen.kind}.json"
    path.write_text(json.dumps(json.loads(experiment.to_json()), indent=1) + "\n")
    print(table(experiment, PAPER.get(chosen.data, {})))


def load(name: str) -> Dataset:
    """A public data set, as the paper would have cut it."""
    if name == "eicu":
        options = BuildOptions(
            outcome_column="hf_dx, hf_history", outcome_name="heart failure",
            drop_codes=("108",), values="binary", name="eicu",
        )  # fmt: skip
        return build_path(SHARED / "eicu_demo", options)
    articles = sorted((SHARED / "bbc" / "bbc").glob("*/*.txt"))
    texts = {path: path.read_text(encoding="latin-1") for path in articles}
    if name == "bbc_unique":
        first: dict[str, Path] = {}
        for path, text in texts.items():
            first.setdefault(" ".join(text.split()), path)
        articles = sorted(first.values())
    if name == "bbc":
        articles = _some_of_each(articles)
    names = [f"{path.parent.name}/{path.stem}" for path in articles]
    corpus = read_corpus(names, [texts[path] for path in articles], "english", Findings())
    return Dataset(
        name, cooccurrence_tensor(corpus, corpus.words),
        np.array([path.parent.name for path in articles]), "category",
        "BBC News articles; words that meet in a sentence, counted",
        word_counts=corpus.word_counts(), words=corpus.words,
    )  # fmt: skip


def _some_of_each(articles: list[Path]) -> list[Path]:
    rng = np.random.default_rng(0)
    chosen: list[Path] = []
    for category in sorted({path.parent.name for path in articles}):
        own = [path for path in articles if path.parent.name == category]
        kept = rng.choice(len(own), ARTICLES_PER_CATEGORY, replace=False)
        chosen += [own[index] for index in sorted(kept)]
    return chosen


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
