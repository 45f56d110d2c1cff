"""The first sentence of a page: what the stored numbers answer, and how surely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.text.numbers import base_for, interval, out_of
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.protocol.intervals import independent_sets, paired_interval

HALF = 0.5  # of the cases are found, where precision is told
NORMAL = 1.959964  # of a 95% interval
ENOUGH = 0.8  # of the groups must fit
UNCLEAR = "unclear"


@dataclass(frozen=True)
class Measured:
    """A share with the ends of its 95% interval; NaN where there is none."""

    value: float
    low: float
    high: float

    def beside(self, other: float) -> str:
        """Whether it is better or worse than a number that is known: better, worse, unclear."""
        if self.low > other:
            return "better"
        return "worse" if self.high < other else UNCLEAR


def over_folds(values: NDArray[np.float64], about: Mapping[str, Any]) -> Measured:
    """A mean over the folds of an experiment, with the interval that its folds allow."""
    if not len(values):
        return Measured(float("nan"), float("nan"), float("nan"))
    settings = about.get("settings") or {}
    folds = int(settings.get("folds") or ExperimentSettings().folds)
    data = about.get("data") or {}
    rows = data["shape"][0] if isinstance(data, dict) and data.get("shape") else 1
    subsets, size = int(settings.get("subsets") or 0), int(settings.get("subset_size") or 0)
    sets = independent_sets(subsets, size, max(rows, size, 1))
    return Measured(float(values.mean()), *paired_interval(values, 1 / folds, sets))


def right_alarms(found: Experiment, rank: int) -> Measured | None:
    """Of the method that was judged, the share of alarms that are right with half the cases found.

    None if the experiment keeps no curves of it.
    """
    curves = found.tables.get("curves")
    if curves is None:
        return None
    mine = curves[(curves["method"] == found.ours) & (curves["rank"] == rank)]
    folds = mine[mine["fold"] >= 0]
    if folds.empty:
        return None
    nearest = (folds["recall"] - HALF).abs()
    at_half = folds[nearest == nearest.min()]
    return over_folds(at_half["precision"].to_numpy(float), found.about)


def right_classes(found: Experiment, rank: int) -> Measured | None:
    """Of the method that was judged, the share of rows put into the right class."""
    scores = found.tables["scores"].dropna(subset="score")
    mine = scores[(scores["method"] == found.ours) & (scores["rank"] == rank)]
    return over_folds(mine["score"].to_numpy(float), found.about) if len(mine) else None


def prediction(found: Experiment, rank: int, row_words: str, class_word: str, own: bool) -> str:
    """How well the outcome is predicted, beside guessing, in one sentence or two.

    Parameters
    ----------
    rank : int
        The number of phenotypes that is told of.
    row_words, class_word : str
        What rows are called, in the plural, and what their classes are called; user text.
    own : bool
        Whether the experiment judged the very phenotypes that are shown.
    """
    curve = right_alarms(found, rank)
    measured = curve or right_classes(found, rank)
    if measured is None:
        return ""
    chance = found.about.get("chance")
    beside = chance if isinstance(chance, float) else measured.value
    base = base_for((measured.value, beside), (max(0.0, measured.low), min(1.0, measured.high)))
    lead = f"With {'these ' if own else ''}{rank} phenotypes{'' if own else ' found like this'}"
    said = out_of(measured.value, base)
    what = (
        f"{said} alarms are right when half of the cases are found"
        if curve is not None
        else f"{said} {row_words} are put into the right {class_word}"
    )
    text = f"{lead}, {what}{_how_sure(measured, base)}"
    if not isinstance(chance, float):
        return f"{text}."
    return f"{text}; guessing: {out_of(chance, base)}. {_against_guessing(measured, chance)}"


def _how_sure(measured: Measured, base: int) -> str:
    if measured.low != measured.low:
        return ""
    return f" (95% interval: {interval(measured.low, measured.high, base)})"


def _against_guessing(measured: Measured, chance: float) -> str:
    if measured.low != measured.low:
        return "How sure that is remains unclear: it was tested on one part of the rows only."
    verdict = measured.beside(chance)
    if verdict == UNCLEAR:
        return "Whether that is better than guessing is unclear."
    return f"That is clearly {verdict} than guessing."


def calibration(table: pd.DataFrame) -> str:
    """Whether chances fit what came true, as far as the rows of each group can tell.

    Even right chances are some way off in small groups; a group fits if it is not farther off
    than in 95 of 100 draws.

    Parameters
    ----------
    table : DataFrame
        expected, cases, count of one method and number of phenotypes.
    """
    given, count = table["expected"], table["count"]
    gaps = (table["cases"] / count - given).abs()
    fits = int((gaps <= NORMAL * np.sqrt(given * (1 - given) / count)).sum())
    points = 100 * float((gaps * count).sum() / count.sum())
    judged = "can be taken as they are" if fits >= ENOUGH * len(table) else "need care"
    return (
        f"The chances {judged}: they fit what came true in {fits} of {len(table)} groups of rows "
        f"(on average {points:.0f} percentage points apart)."
    )


def loss_under_noise(scores: pd.DataFrame, about: Mapping[str, Any], method: str) -> Measured:
    """By how much a method's score falls from clean data to the most false entries."""
    mine = scores[scores["method"] == method]
    by = [name for name in ("subset", "repeat", "fold") if name in mine]
    folds = mine.pivot_table(index=by, columns="level", values="score")
    falls = (folds[0.0] - folds[max(folds.columns)]).dropna()
    return over_folds(falls.to_numpy(float), about)
