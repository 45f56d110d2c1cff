"""Experiments come from files, and files from elsewhere: are their tables what charts expect?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from swiftcore.errors import InvalidData, Problem, refuse


@dataclass(frozen=True)
class TableSchema:
    """The columns that pages and reports draw of one table; it may have more.

    Attributes
    ----------
    texts : tuple of str
        Columns of text in every cell.
    numbers : tuple of str
        Columns of numbers, perhaps with gaps.
    whole : tuple of str
        Columns of whole numbers without gaps.
    required : bool
        Whether every experiment of its kind has the table.
    """

    texts: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    required: bool = True

    def faults(self, table: pd.DataFrame) -> Iterator[str]:
        """What is missing or holds something else, in words."""
        every = (*self.texts, *self.numbers, *self.whole)
        yield from (f"no column {name}" for name in every if name not in table)
        for name in (one for one in every if one in table and not table.empty):
            column = table[name]
            if name in self.texts:
                if not all(isinstance(cell, str) for cell in column):
                    yield f"no text in {name}"
            elif not pd.api.types.is_numeric_dtype(column):
                yield f"text in {name}"
            elif name in self.whole and not (column.astype(float) % 1 == 0).all():
                yield f"no whole numbers in {name}"


TABLES: dict[str, dict[str, TableSchema]] = {
    "evaluation": {
        "scores": TableSchema(
            ("method", "kind", "setting"), ("score", "validation"), ("rank", "fold")
        ),
        "summary": TableSchema(("method", "kind"), ("mean", "sd", "second_mean"), ("rank", "n")),
        "comparison": TableSchema(("method",), ("difference", "low", "high", "clear"), ("rank",)),
        "curves": TableSchema(
            ("method",), ("recall", "precision"), ("rank", "fold"), required=False
        ),
        "confusion": TableSchema(
            ("method", "truth", "predicted"), (), ("rank", "count"), required=False
        ),
    },
    "noise": {
        "scores": TableSchema(("method",), ("level", "score"), required=False),
        "survival": TableSchema(("phenotype",), ("level", "cosine")),
    },
    "ablation": {"scores": TableSchema(("recipe",), ("score",), ("rank", "fold"))},
    "stability": {
        "matches": TableSchema(("phenotype", "against"), ("cosine",), ("run",)),
        "summary": TableSchema(("phenotype",), ("seeds", "folds", "cosine")),
    },
    "links": {
        "links": TableSchema(
            ("phenotype", "class"), ("weight", "low", "high", "same_sign", "chosen")
        ),
    },
}


def validate(kind: str, about: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> None:
    """Refuse an experiment that a page or a report could not draw.

    Raises
    ------
    InvalidData
        With everything that is missing or holds something else.
    """
    if kind not in TABLES:
        raise refuse(
            "experiment-kind",
            "There is no such kind of experiment",
            "stored experiment",
            repr(kind)[:40],
            f"Give one of {', '.join(TABLES)}.",
        )
    problems = [_problem(kind, fact, found) for fact, found in _about_faults(about)]
    for name, schema in TABLES[kind].items():
        if name in tables:
            found = schema.faults(tables[name])
            problems += [_problem(kind, f"table {name}", fault) for fault in found]
        elif schema.required:
            problems.append(_problem(kind, f"table {name}", "no such table"))
    if problems:
        raise InvalidData(problems)


def _about_faults(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for fact in ("notes", "classes"):
        listed = about.get(fact, [])
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            yield fact, "no list of texts"
    if not isinstance(about.get("found_from", 0.0), int | float):
        yield "found_from", "no number"


def _problem(kind: str, where: str, found: str) -> Problem:
    return Problem(
        "experiment-table",
        "A stored experiment cannot be shown",
        f"{kind}, {where}",
        found,
        "Compute it again.",
    )
