"""Tables of the recorded evidence, as Markdown, and the documents brought up to them.

    python -m benchmarks.tables

A table stands in a document between ``<!-- table: name -->`` and ``<!-- end of table -->``, where
name is that of a file in ``results/``. A test fails when a table and its file differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd

from benchmarks import RESULTS
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import title_of

DOCUMENTS = tuple(RESULTS.parents[1] / name for name in ("README.md", "docs/evidence.md"))
PAPER_RANKS = (5, 10, 20, 30, 40)
PAPER = {  # the paper's Table 1; its second data set, Sutter, is not public
    "swift": (0.759, 0.781, 0.803, 0.815, 0.818),
    "cp_als": (0.521, 0.571, 0.675, 0.671, 0.671),
    "cp_nmu": (0.484, 0.493, 0.581, 0.600, 0.650),
    "supervised_cp": (0.506, 0.625, 0.631, 0.665, 0.662),
    "similarity_cp": (0.518, 0.648, 0.638, 0.662, 0.673),
    "cp_continuous": (0.403, 0.481, 0.528, 0.559, 0.543),
    "cp_binary": (0.746, 0.743, 0.737, 0.756, 0.743),
    "cp_apr": (0.675, 0.768, 0.753, 0.743, 0.746),
}
_BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
_ACROSS = {"evaluation": "rank", "noise": "level", "ablation": "rank"}


def paper_for(data: str) -> Mapping[str, tuple[float, ...]]:
    """The paper's own means, where the data are its own."""
    return PAPER if data.startswith("bbc") else {}


def table(experiment: Experiment, paper: Mapping[str, tuple[float, ...]]) -> str:
    """The paper's kind of table: mean ± SD, the paper's own mean in brackets."""
    across = _ACROSS[experiment.kind]
    by = "recipe" if experiment.kind == "ablation" else "method"
    scores = experiment.tables["scores"]
    means = scores.pivot_table(index=by, columns=across, values="score", sort=False)
    spreads = scores.pivot_table(index=by, columns=across, values="score", aggfunc="std")
    columns = sorted(means.columns)
    lines = [
        f"| {by} | " + " | ".join(_head(across, column) for column in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name in means.index:
        cells = [
            _cell(means, spreads, name, column) + _of_paper(paper, name, across, column)
            for column in columns
        ]
        lines.append(f"| {title_of(name)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def filled(document: str) -> str:
    """A document with every table as the recorded results have it now."""

    def fresh(block: re.Match[str]) -> str:
        experiment = Experiment.from_json((RESULTS / f"{block[2]}.json").read_text())
        return f"{block[1]}{table(experiment, paper_for(block[2]))}\n{block[3]}"

    return _BLOCK.sub(fresh, document)


def _head(across: str, column: float) -> str:
    if across == "level":
        return f"{column:.0%} false".replace("%", " %") if column else "no false entries"
    return f"rank {column:.0f}" if column else "no rank"


def _cell(means: pd.DataFrame, spreads: pd.DataFrame, name: str, column: float) -> str:
    mean = means.loc[name, column]
    return "" if pd.isna(mean) else f"{mean:.3f} ± {spreads.loc[name, column]:.3f}"


def _of_paper(paper: Mapping[str, tuple[float, ...]], name: str, across: str, column: float) -> str:
    if across != "rank" or name not in paper or column not in PAPER_RANKS:
        return ""
    return f" ({paper[name][PAPER_RANKS.index(int(column))]:.3f})"


def main() -> None:
    for path in DOCUMENTS:
        path.write_text(filled(path.read_text()))


if __name__ == "__main__":
    main()
