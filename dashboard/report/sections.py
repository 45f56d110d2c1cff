"""Experiments as tables with a sentence each, ready for paper, spreadsheet or JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dashboard.privacy.small_counts import hide_table
from dashboard.store.imported import Origin
from dashboard.text import result_sentences
from dashboard.text.method_words import SECOND, recipe_words
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import ModelSpec


@dataclass(frozen=True)
class Table:
    """A table to show or to save.

    Attributes
    ----------
    key : str
        Name of its file.
    title : str
    columns : tuple of str
    kinds : tuple of str
        Of each column: text, whole, score, percent, bar (a score drawn as a bar) or
        signed (a number drawn to the left or right of 0).
    rows : tuple of tuple
        Texts and numbers; None where there is nothing.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def largest(self, column: int) -> float:
        """The largest absolute number of a column, for the length of bars."""
        numbers = [abs(row[column]) for row in self.rows if row[column] is not None]
        return max([*numbers, 1e-12])


@dataclass(frozen=True)
class Section:
    """Some tables under one heading, with what they say in a sentence and notes.

    ``source`` tells where they were imported from; empty if they were computed here.
    """

    title: str
    sentence: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    source: str = ""


def experiment_sections(
    experiments: Mapping[str, Experiment],
    names: Mapping[str, str],
    limit: int,
    origins: Mapping[str, Origin],
    spec: ModelSpec,
) -> tuple[Section, ...]:
    """One section per experiment that is there, in the order a reader asks.

    Parameters
    ----------
    experiments : dict of Experiment
        By kind.
    names : dict of str
        What each phenotype is called.
    limit : int
        Counts below it are hidden.
    origins : dict of Origin
        By kind, where those that were imported came from.
    spec : ModelSpec
        Of the fit that is reported.
    """
    makers: dict[str, Callable[[Experiment], Section]] = {
        "links": lambda found: _links(found, names),
        "stability": lambda found: _stability(found, names),
        "evaluation": lambda found: _evaluation(found, limit, spec),
        "noise": lambda found: _noise(found, names),
        "ablation": _ablation,
    }
    made = {kind: make(experiments[kind]) for kind, make in makers.items() if kind in experiments}
    return tuple(_marked(section, origins.get(kind)) for kind, section in made.items())


def _marked(section: Section, origin: Origin | None) -> Section:
    """The section, with where it was imported from if it was."""
    if origin is None:
        return section
    return replace(section, notes=(origin.sentence(), *section.notes), source=origin.words)


def _links(found: Experiment, names: Mapping[str, str]) -> Section:
    table = found.tables["links"].sort_values("weight", ascending=False)
    several = (table["class"].astype(str) != "").any()
    columns = {
        "Id": "text",
        "Phenotype": "text",
        "Towards or away": "text",
        "Weight": "signed",
        **dict.fromkeys(result_sentences.link_ends(found), "score"),
        "Folds that agree": "percent",
    }
    rows = [
        (
            row.phenotype,
            names.get(row.phenotype, ""),
            _direction(row.weight) + (f" ({category})" if several else ""),
            row.weight,
            row.low,
            row.high,
            row.same_sign,
        )
        for row, category in zip(table.itertuples(), table["class"], strict=True)
    ]
    shown = _table("links", "Weights of a lasso logistic regression", columns, rows)
    sentence = "" if several else result_sentences.links(table)
    return Section("Link to the outcome", sentence, (shown,), _notes(found))


def _direction(weight: float) -> str:
    return "towards" if weight > 0 else "away" if weight < 0 else "none"


def _stability(found: Experiment, names: Mapping[str, str]) -> Section:
    table = found.tables["summary"]
    columns = {
        "Id": "text",
        "Phenotype": "text",
        "Other starts": "percent",
        "Parts of the data": "percent",
        "Mean similarity": "score",
    }
    rows = [
        (row.phenotype, names.get(row.phenotype, ""), row.seeds, row.folds, row.cosine)
        for row in table.itertuples()
    ]
    shown = _table("stability", "Share of repeated runs that find it again", columns, rows)
    return Section("Found again", result_sentences.stability(table), (shown,), _notes(found))


def _evaluation(found: Experiment, limit: int, spec: ModelSpec) -> Section:
    metric = str(found.about.get("metric_title", "Score"))
    second = SECOND.get(str(found.about.get("metric")), "Second score")
    summary = found.tables["summary"].sort_values("mean", ascending=False)
    own = found.spec == spec
    rank = spec.rank if own else _best_rank(summary, found.ours)
    comparison = found.tables["comparison"]
    here = comparison[comparison["rank"].isin([0, rank])].sort_values("difference")
    tables = [_scores(summary, metric, second)]
    if len(here):
        tables.append(_differences(here, rank, result_sentences.title(found.ours)))
    if "confusion" in found.tables:
        tables.append(_confusion(found.tables["confusion"], rank, limit, found.ours))
    chance = found.about.get("chance")
    guess = f" Guessing reaches {chance:.3f}." if isinstance(chance, float) else ""
    first = (
        f"These phenotypes reach {result_sentences.own_score(found, rank)}"
        if own
        else result_sentences.whose_score(found, spec)
    )
    ours = result_sentences.title(found.ours)
    sentence = f"{first} {result_sentences.comparison(here, metric, ours)}{'' if own else guess}"
    return Section("Prediction beside other methods", sentence, tuple(tables), _notes(found))


def _scores(summary: pd.DataFrame, metric: str, second: str) -> Table:
    columns = {
        "Method": "text",
        "Phenotypes": "text",
        metric: "bar",
        "SD": "score",
        second: "score",
        "Folds": "whole",
    }
    rows = [
        (
            result_sentences.title(row.method),
            str(row.rank) if row.rank else "",
            row.mean,
            row.sd,
            row.second_mean,
            row.n,
        )
        for row in summary.itertuples()
    ]
    return _table("scores", f"{metric} on unseen rows", columns, rows)


def _differences(comparison: pd.DataFrame, rank: int, ours: str) -> Table:
    columns = {
        "Other method": "text",
        "Difference": "signed",
        "From": "score",
        "To": "score",
        "Clear": "text",
    }
    rows = [
        (
            result_sentences.title(row.method),
            row.difference,
            row.low,
            row.high,
            "yes" if row.clear else "no",
        )
        for row in comparison.itertuples()
    ]
    title = f"{ours} with {rank} phenotypes minus the other method"
    return _table("comparison", title, columns, rows)


def _confusion(table: pd.DataFrame, rank: int, limit: int, ours: str) -> Table:
    mine = table[(table["method"] == ours) & (table["rank"] == rank)]
    counts = mine.pivot_table(
        index="truth", columns="predicted", values="count", aggfunc="sum", fill_value=0, sort=False
    ).astype(int)
    shown = hide_table(counts, limit)
    columns = ("Truth \\ predicted", *(str(name) for name in shown.columns))
    rows = tuple(
        (str(name), *values) for name, values in zip(shown.index, shown.to_numpy(), strict=True)
    )
    return Table(
        "confusion",
        f"{result_sentences.title(ours)} with {rank} phenotypes: rows of each class",
        columns,
        ("text",) * len(columns),
        rows,
    )


def _best_rank(summary: pd.DataFrame, ours: str) -> int:
    mine = summary[summary["method"] == ours].sort_values("mean")
    return int(mine["rank"].iloc[-1]) if len(mine) else 0


def _noise(found: Experiment, names: Mapping[str, str]) -> Section:
    metric = str(found.about.get("metric_title", "Score"))
    tables, sentence = [], ""
    scores = found.tables.get("scores", pd.DataFrame(columns=["method", "level", "score"]))
    means = scores.pivot_table(index="method", columns="level", values="score", aggfunc="mean")
    if means.size:  # not without an outcome
        means = means.sort_values(means.columns[-1], ascending=False)
        columns = {"Method": "text", **{_level(level): "score" for level in means.columns}}
        rows = [
            (result_sentences.title(str(name)), *values)
            for name, values in zip(means.index, means.to_numpy().tolist(), strict=True)
        ]
        tables.append(_table("noise", f"Mean {metric} by share of false entries", columns, rows))
        sentence = result_sentences.noise(scores, metric, found.ours, found.about)
    survival = found.tables.get("survival")
    if survival is not None and len(survival):
        similarity = survival.pivot_table(index="phenotype", columns="level", values="cosine")
        columns = {
            "Id": "text",
            "Phenotype": "text",
            **{_level(level): "score" for level in similarity.columns},
        }
        rows = [
            (str(name), names.get(str(name), ""), *values)
            for name, values in zip(similarity.index, similarity.to_numpy().tolist(), strict=True)
        ]
        tables.append(_table("survival", "Similarity to the clean phenotype", columns, rows))
        sentence = f"{sentence} {result_sentences.survival(survival)}".lstrip()
    return Section("With false entries", sentence, tuple(tables), _notes(found))


def _ablation(found: Experiment) -> Section:
    metric = str(found.about.get("metric_title", "Score"))
    scores = found.tables["scores"]
    means = scores.groupby(["recipe", "rank"], as_index=False)["score"].mean()
    rows = [
        (recipe_words(row.recipe, "scientist"), str(row.rank), row.score)
        for row in means.sort_values("score", ascending=False).itertuples()
    ]
    table = _table(
        "ablation",
        f"{metric} by how similarity is measured",
        {"Similarity": "text", "Phenotypes": "text", metric: "bar"},
        rows,
    )
    return Section(
        "What similarity adds",
        result_sentences.ablation(scores, metric, found.about),
        (table,),
        _notes(found),
    )


def _level(level: float) -> str:
    return "clean" if level == 0 else f"{level:.0%}"


def _table(key: str, title: str, columns: Mapping[str, str], rows: list[tuple[Any, ...]]) -> Table:
    return Table(
        key,
        title,
        tuple(columns),
        tuple(columns.values()),
        tuple(tuple(_plain(value) for value in row) for row in rows),
    )


def _plain(value: Any) -> Any:
    """Numbers as Python has them; what is no number as nothing."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and plain != plain else plain


def _notes(found: Experiment) -> tuple[str, ...]:
    return tuple(str(note) for note in found.about.get("notes", ()))
