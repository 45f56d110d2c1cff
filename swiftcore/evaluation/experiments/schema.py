"""Experiments come from files, and files from elsewhere: are their values what they can be?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from swiftcore.errors import InvalidData, Problem, SwiftError, refuse
from swiftcore.evaluation.experiments.settings import MAX_TIMES, ExperimentSettings
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.runtime.ranges import (
    ABOVE_ZERO,
    Range,
    listed,
    maybe,
    real,
    record,
    record_faults,
    text,
    whole,
)
from swiftcore.spec import ModelSpec

MAX_ROWS = 2_000_000
MAX_TEXT = 10_000  # names of classes are user text
MAX_RANK = 1_000_000
ROUNDING = 1e-6  # by which a cosine may pass 1


@dataclass(frozen=True)
class Numbers:
    """A column of numbers in a range; with gaps where there may be no number."""

    low: float
    high: float
    gaps: bool = False

    def faults(self, name: str, cells: pd.Series[Any]) -> Iterator[str]:
        if not pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells):
            yield f"text in {name}"
            return
        numbers = cells.astype(float)
        known = numbers.dropna()
        if len(known) < len(numbers) and not self.gaps:
            yield f"gaps in {name}"
        if not known.between(self.low, self.high).all():
            yield f"{name} from {known.min():g} to {known.max():g}, not {_range(self)}"


@dataclass(frozen=True)
class Whole(Numbers):
    """A column of whole numbers without gaps."""

    def faults(self, name: str, cells: pd.Series[Any]) -> Iterator[str]:
        numeric = pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells)
        if numeric and not (cells.astype(float) % 1 == 0).all():
            yield f"no whole numbers in {name}"
        else:
            yield from super().faults(name, cells)


@dataclass(frozen=True)
class Flags:
    """A column of yes or no."""

    def faults(self, name: str, cells: pd.Series[Any]) -> Iterator[str]:
        if not pd.api.types.is_bool_dtype(cells):
            numeric = pd.api.types.is_numeric_dtype(cells)
            yield f"no yes or no in {name}" if numeric else f"text in {name}"


@dataclass(frozen=True)
class Texts:
    """A column of texts, perhaps of one pattern."""

    longest: int = MAX_TEXT
    pattern: str = "(?s:.*)"

    def faults(self, name: str, cells: pd.Series[Any]) -> Iterator[str]:
        distinct = cells.unique()
        if not all(isinstance(cell, str) for cell in distinct):
            yield f"no text in {name}"
            return
        wanted = re.compile(self.pattern)
        odd = [one for one in distinct if len(one) > self.longest or wanted.fullmatch(one) is None]
        if odd:
            yield f"{odd[0][:40]!r} in {name}"


Column = Numbers | Flags | Texts


@dataclass(frozen=True)
class TableSchema:
    """The columns of one table, each with the range of its values; there are no others.

    Attributes
    ----------
    texts, numbers, whole : mapping of str to column
        What pages and reports draw; every table has them.
    more : mapping of str to column
        What a table may have besides.
    required : bool
        Whether every experiment of its kind has the table.
    """

    texts: Mapping[str, Texts]
    numbers: Mapping[str, Numbers | Flags] = field(default_factory=dict)
    whole: Mapping[str, Whole] = field(default_factory=dict)
    more: Mapping[str, Column] = field(default_factory=dict)
    required: bool = True

    def faults(self, table: pd.DataFrame) -> Iterator[str]:
        """What is missing, unknown or out of its range, in words."""
        needed: dict[str, Column] = {**self.texts, **self.numbers, **self.whole}
        known = {**needed, **self.more}
        yield from (f"no column {name}" for name in needed if name not in table)
        yield from (f"unknown column {str(name)[:40]!r}" for name in table if name not in known)
        if len(table) > MAX_ROWS:
            yield f"{len(table):,} rows"
        for name, column in known.items():
            if name in table and not table.empty:
                yield from column.faults(name, table[name])


def _range(column: Numbers) -> str:
    return f"{column.low:g} to {column.high:g}"


NAME = Texts(200, r"[\w .+-]+")  # of a method, a kind or a recipe: never markup
METHOD, RECIPE, KIND = {"method": NAME}, {"recipe": NAME}, {"kind": NAME}
PHENOTYPE = {"phenotype": Texts(12, r"P\d{2,}")}
SETTING = Texts()  # of a trial, as JSON
SCORE = Numbers(0, 1, gaps=True)  # a trial that failed has none
SHARE = Numbers(0, 1)
COSINE = Numbers(-1 - ROUNDING, 1 + ROUNDING)
DIFFERENCE = Numbers(-1, 1, gaps=True)
BOUND = Numbers(-1e6, 1e6, gaps=True)  # of an interval: few folds make it wide, one makes none
WEIGHT = Numbers(-1e12, 1e12)
SECONDS = Numbers(0, 1e9)
LOSS = Numbers(0, 1e6, gaps=True)  # a candidate that was not tried has none
COUNT, TIMES = Whole(0, 2**53), Whole(0, MAX_TIMES**2)
RANKS = Whole(0, MAX_RANK)  # 0: a classifier
CURVE = Whole(-1, MAX_TIMES**2)  # -1: the mean
FOLDS = {"subset": TIMES, "repeat": TIMES, "fold": TIMES}
FAILURES = TableSchema(
    {**METHOD, "reason": Texts()},
    {"level": SHARE},
    {"rank": RANKS},
    {"what": Texts(), **RECIPE, **FOLDS},
    required=False,
)
MEANS: dict[str, Numbers | Flags] = {"mean": SCORE, "sd": SCORE}
INTERVAL: dict[str, Numbers | Flags] = {"low": BOUND, "high": BOUND}
COMPARED: dict[str, Numbers | Flags] = {"difference": DIFFERENCE, **INTERVAL, "clear": Flags()}

TABLES: dict[str, dict[str, TableSchema]] = {
    "evaluation": {
        "scores": TableSchema(
            {**METHOD, **KIND, "setting": SETTING},
            {"score": SCORE, "validation": SCORE},
            {"rank": RANKS, "fold": TIMES},
            {**FOLDS, "second": SCORE, "seconds": SECONDS},
        ),
        "summary": TableSchema(
            {**METHOD, **KIND},
            {**MEANS, "second_mean": SCORE},
            {"rank": RANKS, "n": COUNT},
            INTERVAL,
        ),
        "comparison": TableSchema(METHOD, COMPARED, {"rank": RANKS}),
        "curves": TableSchema(
            METHOD,
            {"recall": SHARE, "precision": SHARE},
            {"rank": RANKS, "fold": CURVE},
            required=False,
        ),
        "confusion": TableSchema(
            {**METHOD, "truth": Texts(), "predicted": Texts()},
            whole={"rank": RANKS, "count": COUNT},
            required=False,
        ),
        "calibration": TableSchema(  # results from before it was kept have none
            METHOD,
            {"expected": SHARE},
            {"rank": RANKS, "cases": COUNT, "count": COUNT},
            required=False,
        ),
        "failures": FAILURES,
    },
    "noise": {
        "scores": TableSchema(
            METHOD,
            {"level": SHARE, "score": SCORE},
            more={
                **KIND,
                **FOLDS,
                "rank": RANKS,
                "draw": TIMES,
                "validation": SCORE,
                "setting": SETTING,
            },
            required=False,
        ),
        "summary": TableSchema(
            {**METHOD, **KIND},
            {"level": SHARE, **MEANS, **INTERVAL},
            {"rank": RANKS, "n": COUNT},
            required=False,
        ),
        "comparison": TableSchema(
            METHOD, {"level": SHARE, **COMPARED}, {"rank": RANKS}, required=False
        ),
        "survival": TableSchema(
            PHENOTYPE,
            {"level": SHARE, "cosine": COSINE},
            more={"rank": RANKS, "draw": TIMES, "data_set": TIMES},
        ),
        "failures": FAILURES,
    },
    "ablation": {
        "scores": TableSchema(
            RECIPE,
            {"score": SCORE},
            {"rank": RANKS, "fold": TIMES},
            {**METHOD, **FOLDS, "validation": SCORE, "setting": SETTING},
        ),
        "summary": TableSchema(
            {**METHOD, **RECIPE}, {**MEANS, **INTERVAL}, {"rank": RANKS, "n": COUNT}, required=False
        ),
        "comparison": TableSchema({**METHOD, **RECIPE}, COMPARED, {"rank": RANKS}, required=False),
        "failures": FAILURES,
    },
    "stability": {
        "matches": TableSchema(
            {**PHENOTYPE, "against": NAME},
            {"cosine": COSINE},
            {"run": TIMES},
            {**METHOD, "rank": RANKS},
        ),
        "summary": TableSchema(
            PHENOTYPE,
            {"seeds": SHARE, "folds": SHARE, "cosine": COSINE},
            more={**METHOD, "rank": RANKS},
        ),
        "failures": FAILURES,
    },
    "tune": {
        "tried": TableSchema(
            {"setting": SETTING, "reason": Texts()},
            {"loss": LOSS, "score": SCORE, "seconds": SECONDS},
            {"candidate": COUNT, "rank": RANKS, "fold": TIMES},
        ),
        "candidates": TableSchema(
            {"setting": SETTING, "state": NAME},
            {
                **{"loss": LOSS, "error": LOSS, "behind": BOUND, "behind_error": LOSS},
                **{"stability": SCORE, "seconds": SECONDS},
            },
            {"candidate": COUNT, "rank": RANKS, "folds": TIMES},
        ),
    },
    "ranks": {
        "ranks": TableSchema(
            {}, {"stability": SHARE, "least": SHARE, "objective": WEIGHT}, {"rank": RANKS}
        ),
    },
    "links": {
        "links": TableSchema(
            {**PHENOTYPE, "class": Texts()},
            {"weight": WEIGHT, "low": WEIGHT, "high": WEIGHT, "same_sign": SHARE, "chosen": SHARE},
        ),
    },
}


def _makes(kind: Callable[..., object], value: Any) -> bool:
    try:
        kind(**value)
    except (SwiftError, TypeError, ValueError):
        return False
    return True


def _are_settings(value: Any) -> bool:
    return _makes(ExperimentSettings, value) or _makes(TuneSettings, value)


_WORD = text(40, r"[\w .+-]*")
_DATA = record(
    {
        "name": text(MAX_TEXT),
        "digest": text(64, "[0-9a-f]{64}"),
        "shape": listed(whole(1), 20),
        "entries": whole(0),
    },
    optional=("entries",),
)
_SEVERAL = listed(_DATA, 1_000)
ABOUT: dict[str, Range] = {
    "data": Range(lambda value: _DATA.fits(value) or _SEVERAL.fits(value), _DATA.words),
    "settings": Range(_are_settings, "the settings of an experiment"),
    "versions": Range(
        lambda value: (
            isinstance(value, dict)
            and all(_WORD.fits(one) for pair in value.items() for one in pair)
        ),
        "names of packages with their versions",
    ),
    "notes": listed(text(MAX_TEXT), 10_000),
    "classes": listed(text(MAX_TEXT), 100_000),
    "metric": _WORD,
    "metric_title": _WORD,
    "outcome": text(MAX_TEXT),
    "chance": real(0, 1),
    "seconds": real(0, SECONDS.high),
    "found_from": real(0, 1),
    "score": maybe(real(0, 1)),
    "scaling": _WORD,
    "strength": ABOVE_ZERO,
    "interval": ABOVE_ZERO,
    "spec": Range(
        lambda value: _makes(ModelSpec.from_json, {"plain": value}),
        "the spec of a model",
    ),
    "recommended": whole(1),
    "reason": text(MAX_TEXT),
}

NEEDED = {"tune": {"spec", "reason"}}  # facts without which there is nothing to show


def validate(kind: str, about: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> None:
    """Refuse an experiment that a page or a report could not draw, or that cannot be true.

    Raises
    ------
    InvalidData
        With everything that is missing, unknown or out of its range.
    """
    if kind not in TABLES:
        raise refuse(
            "experiment-kind",
            "There is no such kind of experiment",
            "stored experiment",
            repr(kind)[:40],
            f"Give one of {', '.join(TABLES)}.",
        )
    faults = record_faults(about, ABOUT, optional=set(ABOUT) - NEEDED.get(kind, set()))
    problems = [_problem(kind, "its facts", fault) for fault in faults]
    for name, schema in TABLES[kind].items():
        if name in tables:
            found = schema.faults(tables[name])
            problems += [_problem(kind, f"table {name}", fault) for fault in found]
        elif schema.required:
            problems.append(_problem(kind, f"table {name}", "no such table"))
    if problems:
        raise InvalidData(problems)


def _problem(kind: str, where: str, found: str) -> Problem:
    return Problem(
        "experiment-table",
        "A stored experiment cannot be shown",
        f"{kind}, {where}",
        found,
        "Compute it again.",
    )
