"""What a person looks for first in an experiment, as tables of text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.evaluation.protocol.scores import compare_with, summarise
from swiftcore.phenotypes.matching import FOUND_FROM


@dataclass(frozen=True)
class ShownTable:
    """A title, headings and lines of text; what is not known is blank."""

    title: str
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def experiment_tables(experiment: Experiment) -> Iterator[ShownTable]:
    """The tables of an experiment, the most telling first."""
    if experiment.kind == "stability":
        yield from _stability(experiment)
        return
    if experiment.kind == "noise":
        yield from _survival(experiment)
    if "summary" not in experiment.tables:
        return
    summary, compared = experiment.tables["summary"], experiment.tables["comparison"]
    column = "recipe" if experiment.kind == "ablation" else "method"
    apart = {"noise": ["level"], "ablation": ["method"]}.get(experiment.kind, [])
    ranks = sorted(set(summary["rank"]) - {0}) or [0]  # classifiers stand beside every rank
    places = summary[apart].drop_duplicates().itertuples(index=False) if apart else [()]
    for names in places:
        for rank in ranks:
            here = _where(summary, apart, names)
            beside = _where(compared, apart, names)
            yield _scores(
                _title(experiment, dict(zip(apart, names, strict=True)), rank),
                here[here["rank"].isin([0, rank])],
                beside[beside["rank"] == rank],
                column,
                experiment.judged,
            )


def _where(table: pd.DataFrame, names: Sequence[str], values: Sequence[object]) -> pd.DataFrame:
    for name, value in zip(names, values, strict=True):
        table = table[table[name] == value]
    return table


def _title(experiment: Experiment, apart: dict[str, object], rank: int) -> str:
    parts = [str(experiment.about.get("metric_title", "score"))]
    if "level" in apart:
        parts.append(f"{float(str(apart['level'])):.0%} false entries")
    if "method" in apart:
        parts.append(title_of(str(apart["method"])))
    return ", ".join([*parts, *([f"{rank} components"] if rank else [])])


def _scores(
    title: str, summary: pd.DataFrame, compared: pd.DataFrame, column: str, judged: str
) -> ShownTable:
    """Mean, spread and folds of each line, and how far ours is ahead of it, if it is there."""
    beside = {str(row[column]): row for row in compared.to_dict("records")}
    ours = next((str(one) for one in summary[column] if str(one) not in beside), "")
    lines = []
    for row in summary.to_dict("records"):
        name = str(row[column])
        other = beside.get(name, {})
        lines.append(
            (
                _name(name, column, judged),
                number(row["mean"]),
                number(row["sd"]),
                str(row["n"]),
                number(other.get("difference"), "+z.3f"),
                interval(other.get("low"), other.get("high")),
            )
        )
    reference = _name(ours, column, "") or "ours"
    headings = (column, "mean", "SD", "n", f"{reference} ahead by", "95 % interval")
    shown = len(headings) if beside else headings.index("n") + 1
    return ShownTable(title, headings[:shown], tuple(line[:shown] for line in lines))


def _name(name: str, column: str, judged: str) -> str:
    title = title_of(name) if column == "method" else name
    return f"{title} (the given spec)" if column == "method" and judged == name else title


def _survival(experiment: Experiment) -> Iterator[ShownTable]:
    survival = experiment.tables["survival"]
    found = survival.assign(found=survival["cosine"] >= FOUND_FROM)
    for rank, table in found.groupby("rank"):
        lines = [
            (
                f"{level:.0%}",
                number(group["cosine"].mean()),
                number(group["cosine"].std()),
                f"{group['found'].mean():.0%}",
            )
            for level, group in table.groupby("level")
        ]
        headings = ("false entries", "mean similarity", "SD", "found again")
        yield ShownTable(f"Phenotypes under noise, {rank} components", headings, tuple(lines))


def _stability(experiment: Experiment) -> Iterator[ShownTable]:
    matches = experiment.tables["matches"]
    for against, words in (("seed", "other seeds"), ("fold", "other rows")):
        yield from _fits(matches[matches["against"] == against], words, experiment.judged)
    summary = experiment.tables["summary"]
    for (method, rank), table in summary.groupby(["method", "rank"], sort=False):
        lines = [
            (
                str(row["phenotype"]),
                f"{row['seeds']:.0%}",
                f"{row['folds']:.0%}",
                number(row["cosine"]),
            )
            for row in table.to_dict("records")
        ]
        headings = ("phenotype", "other seeds", "other rows", "similarity")
        title = f"Found again, {title_of(str(method))}, {rank} components"
        yield ShownTable(title, headings, tuple(lines))


def _fits(matches: pd.DataFrame, words: str, judged: str) -> Iterator[ShownTable]:
    """Share of the phenotypes that each other fit finds again: mean, SD, and beside ours.

    Fits with other seeds are drawn independently; those without a part of the rows share rows
    as folds do, so that their interval is corrected as that of scores is.
    """
    found = matches.assign(score=(matches["cosine"] >= FOUND_FROM).astype(float))
    each = found.groupby(["method", "rank", "run"], sort=False)["score"].mean()
    shares = each.reset_index().rename(columns={"run": "fold"})
    n_fits = shares["fold"].nunique()
    left_out = 1 / n_fits if words == "other rows" and n_fits > 1 else 0.0
    summary = summarise(shares, left_out)
    compared = compare_with(shares, judged or "swift", left_out)
    for rank in sorted(set(shares["rank"])):
        yield _scores(
            f"Share of the phenotypes found again with {words}, {rank} components",
            summary[summary["rank"] == rank],
            compared[compared["rank"] == rank],
            "method",
            judged,
        )


def number(value: object, form: str = "z.3f") -> str:
    """A number as text, never -0.000; blank where there is none."""
    known = isinstance(value, int | float) and np.isfinite(value)
    return format(value, form) if known else ""


def interval(low: object, high: object) -> str:
    """From low to high; blank where there is none."""
    first, second = number(low, "+z.3f"), number(high, "+z.3f")
    return f"{first} to {second}" if first and second else ""
