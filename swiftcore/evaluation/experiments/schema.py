"""Experiments come from files, and files from elsewhere: are their tables what charts expect?"""

from __future__ import annotations

import pandas as pd

from swiftcore.errors import InvalidData, Problem
from swiftcore.evaluation.experiments.result import Experiment

# Of each table the columns of text and of numbers. The store knows which tables must be there.
COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "evaluation": {
        "scores": ("method kind setting", "rank fold score validation"),
        "summary": ("method kind", "rank mean sd second_mean n"),
        "comparison": ("method", "rank difference low high clear"),
        "curves": ("method", "rank fold recall precision"),
        "confusion": ("method truth predicted", "rank count"),
    },
    "noise": {
        "scores": ("method", "level score"),
        "survival": ("phenotype", "level cosine"),
    },
    "ablation": {"scores": ("recipe", "rank fold score")},
    "stability": {
        "matches": ("phenotype against", "run cosine"),
        "summary": ("phenotype", "seeds folds cosine"),
    },
    "links": {"links": ("phenotype class", "weight low high same_sign chosen")},
}


def validate(experiment: Experiment) -> Experiment:
    """The experiment, if its tables hold what a page draws.

    Raises
    ------
    InvalidData
        With every column that is missing or holds something else.
    """
    problems = []
    for name, (texts, numbers) in COLUMNS.get(experiment.kind, {}).items():
        table = experiment.tables.get(name)
        if table is None:
            continue
        missing = [one for one in f"{texts} {numbers}".split() if one not in table]
        odd = [one for one in numbers.split() if one in table and not _numeric(table[one])]
        problems += [_problem(experiment.kind, name, f"no column {one}") for one in missing]
        problems += [_problem(experiment.kind, name, f"text in {one}") for one in odd]
    if problems:
        raise InvalidData(problems)
    return experiment


def _numeric(column: pd.Series) -> bool:
    return column.empty or pd.api.types.is_numeric_dtype(column)


def _problem(kind: str, table: str, found: str) -> Problem:
    return Problem(
        "experiment-table",
        "A stored experiment cannot be shown",
        f"{kind}, table {table}",
        found,
        "Compute it again.",
    )
