"""Tables of the recorded evidence, as Markdown, and the documents brought up to them.

    python -m benchmarks.tables

A table stands in a document between ``<!-- table: name -->`` and ``<!-- end of table -->``, where
name is that of a file in ``results/``. ``<!-- summary: name name -->`` in its place asks for one
short table of several evaluations. A test fails when a table and its files differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from benchmarks import RESULTS
from benchmarks.evidence_tables import OURS, row_title
from swiftcore.evaluation.experiments.result import Experiment

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
DATA_TITLES = {"bbc_fresh_evaluation": "BBC", "eicu_evaluation": "eICU"}
SHOWN = {"swift": "SWIFT", "supervised_swift": "guided"}  # of ours, in the short table
_BLOCK = re.compile(r"(<!-- (table|summary): ([\w ]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
_ACROSS = {"evaluation": "rank", "noise": "level", "ablation": "rank"}


def paper_for(data: str) -> Mapping[str, tuple[float, ...]]:
    """The paper's own means, where the data are its own."""
    return PAPER if data.startswith("bbc") else {}


def table(experiment: Experiment, paper: Mapping[str, tuple[float, ...]]) -> str:
    """The paper's kind of table: mean ± SD, the paper's own mean in brackets."""
    if experiment.kind == "stability":
        return found_again(experiment)
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
        lines.append(f"| {row_title(name)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def found_again(experiment: Experiment) -> str:
    """Share of the components of a fit that fits with other seeds have too, in per cent."""
    matches = experiment.tables["matches"]
    seeds = matches[matches["against"] == "seed"]
    shares = seeds.assign(found=seeds["cosine"] >= experiment.about["found_from"]).pivot_table(
        index="method", columns="rank", values="found", sort=False
    )
    lines = [
        "| method | " + " | ".join(f"rank {rank}" for rank in shares.columns) + " |",
        "|---" * (len(shares.columns) + 1) + "|",
    ]
    for name, row in shares.iterrows():
        lines.append(f"| {row_title(str(name))} | " + " | ".join(f"{x:.0%}" for x in row) + " |")
    return "\n".join(lines)


def summary(names: Sequence[str]) -> str:
    """SWIFT beside the best other method, one line per rank, several data sets side by side.

    Methods without a rank, the classifiers on the raw data, share the last line. Bold is the
    higher of SWIFT (without labels) and the best other method of that line.
    """
    scores = {name: _recorded(name).tables["scores"] for name in names}
    heads = [
        f"{DATA_TITLES[name]}: " + " | ".join(SHOWN[key] for key in _shown(scores[name]))
        for name in names
    ]
    ranks = sorted({rank for table in scores.values() for rank in table["rank"]} - {0})
    lines = ["| rank | " + " | best other method | ".join(heads) + " | best other method |"]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for rank in [*ranks, 0]:
        cells = [
            _summary_cells(table[table["rank"] == rank], _shown(table)) for table in scores.values()
        ]
        lines.append(f"| {rank or 'none'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _shown(scores: pd.DataFrame) -> list[str]:
    return [key for key in SHOWN if key in set(scores["method"])]


def _summary_cells(scores: pd.DataFrame, shown: Sequence[str]) -> str:
    means = scores.groupby("method")["score"].mean()
    others = means.drop(list(OURS), errors="ignore")
    best, swift = str(others.idxmax()), means.get("swift")
    ahead = swift is None or others[best] > swift
    ours = ["" if name not in means else f"{means[name]:.3f}" for name in shown]
    if not ahead:
        ours[0] = f"**{ours[0]}**"
    other = f"**{others[best]:.3f}**" if ahead else f"{others[best]:.3f}"
    return " | ".join([*ours, f"{other} {row_title(best)}"])


def filled(document: str) -> str:
    """A document with every table as the recorded results have it now."""

    def fresh(block: re.Match[str]) -> str:
        opening, kind, names, end = block.groups()
        if kind == "summary":
            return f"{opening}{summary(names.split())}\n{end}"
        return f"{opening}{table(_recorded(names), paper_for(names))}\n{end}"

    return _BLOCK.sub(fresh, document)


def _recorded(name: str) -> Experiment:
    return Experiment.from_json((RESULTS / f"{name}.json").read_text())


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
