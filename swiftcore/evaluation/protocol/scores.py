"""How good predictions are: PR-AUC for yes or no, accuracy for several classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from swiftcore.evaluation.protocol.intervals import paired_interval, spread

METRIC_TITLES = {"pr_auc": "PR-AUC", "accuracy": "accuracy"}
RECALLS = np.linspace(0, 1, 51)
CHANCE_GROUPS = 10
FOLD = ("subset", "repeat", "fold")  # what names a fold


def metric_name(n_classes: int) -> str:
    """The main score's name, as stored."""
    return "pr_auc" if n_classes == 2 else "accuracy"


def score(codes: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """The main score: average precision of yes, or the share of rows classed right."""
    if probabilities.shape[1] == 2:
        return float(average_precision_score(codes, probabilities[:, 1]))
    return float((probabilities.argmax(axis=1) == codes).mean())


def second_score(codes: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """ROC AUC, or macro F1."""
    if probabilities.shape[1] == 2:
        return float(roc_auc_score(codes, probabilities[:, 1]))
    return float(f1_score(codes, probabilities.argmax(axis=1), average="macro", zero_division=0))


def log_loss(codes: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Mean negative logarithm of what was given to the truth; breaks ties between scores."""
    given = probabilities[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(given, 1e-12)).mean())


def pr_curve(codes: NDArray[np.int64], chance_of_yes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Precision at 51 recalls: the best precision at that recall or a higher one."""
    order = np.argsort(-chance_of_yes, kind="stable")
    falling = np.diff(chance_of_yes[order], append=-np.inf) < 0  # rows of like chance count at once
    taken = np.flatnonzero(falling) + 1
    hits = np.cumsum(codes[order])[falling]
    precision, recall = hits / taken, hits / hits[-1]
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return np.asarray(best[np.minimum(np.searchsorted(recall, RECALLS), len(best) - 1)])


def calibration(
    given: NDArray[np.float64], happened: NDArray[np.bool_], groups: int = CHANCE_GROUPS
) -> pd.DataFrame:
    """How often that came true which was given a chance: rows of like chances, side by side.

    Parameters
    ----------
    given : ndarray of float, (rows,)
        The chance each row was given.
    happened : ndarray of bool, (rows,)
        Whether it came true.
    groups : int
        At most how many groups, of like size; rows of equal chance are never parted.

    Returns
    -------
    DataFrame
        expected (the mean chance), cases, count; one line per group, the smallest chance first.
    """
    edges = np.sort(given)[len(given) * np.arange(1, groups) // groups]
    group = np.searchsorted(np.unique(edges), given, side="right")
    rows = pd.DataFrame({"expected": given, "cases": happened.astype(np.int64), "count": 1})
    return (
        rows.groupby(group)
        .agg(expected=("expected", "mean"), cases=("cases", "sum"), count=("count", "sum"))
        .reset_index(drop=True)
    )


def _mean(values: NDArray[np.float64]) -> float:
    """NaN of nothing, without a warning."""
    return float(values.mean()) if len(values) else float("nan")


def summarise(
    scores: pd.DataFrame, test_share: float, data_sets: float = 1, within: Sequence[str] = ()
) -> pd.DataFrame:
    """Mean, spread over folds and interval of the mean, one line per method and rank.

    Parameters
    ----------
    within : sequence of str
        Columns besides of which every combination has a line of its own.
    """
    by = [name for name in ("method", "kind", "recipe", "rank", *within) if name in scores]
    lines = []
    for names, group in scores.groupby(by, sort=False):
        each = fold_means(group)
        low, high = paired_interval(each, test_share, data_sets)
        about = {"mean": _mean(each), "sd": spread(each), "low": low, "high": high, "n": len(each)}
        second = {"second_mean": group["second"].mean()} if "second" in group else {}
        lines.append({**dict(zip(by, names, strict=True)), **about, **second})
    return pd.DataFrame(lines)


def fold_means(scores: pd.DataFrame) -> NDArray[np.float64]:
    """One number per fold, the mean over its draws of noise; folds without a score are left out.

    Draws of noise share their rows: they make a fold's number surer, they are no further folds.
    """
    folds = [name for name in FOLD if name in scores]
    means = scores.dropna(subset="score").groupby(folds)["score"].mean()
    return np.asarray(means, dtype=np.float64)


def compare_with(
    scores: pd.DataFrame,
    ours: str,
    test_share: float,
    data_sets: float = 1,
    *,
    column: str = "method",
    within: Sequence[str] = (),
) -> pd.DataFrame:
    """Mean difference over folds, ours minus each other, with a 95 % interval.

    Classifiers have no rank and are compared at every rank of ours.

    Parameters
    ----------
    ours : str
        The value in ``column`` with which the others are compared.
    within : sequence of str
        Columns in each combination of which the comparison is made anew.
    """
    lines = []
    groups = scores.groupby(list(within), sort=False) if within else [((), scores)]
    for names, group in groups:
        mine, others = group[group[column] == ours], group[group[column] != ours]
        for (other, rank), theirs in others.groupby([column, "rank"], sort=False):
            for own_rank, own in mine.groupby("rank"):
                if rank in (0, own_rank):
                    pairs = _pairs(own, theirs)
                    low, high = paired_interval(pairs, test_share, data_sets)
                    clear = bool(low > 0 or high < 0)
                    lines.append((*names, other, own_rank, _mean(pairs), low, high, clear))
    columns = [*within, column, "rank", "difference", "low", "high", "clear"]
    return pd.DataFrame(lines, columns=columns)


def _pairs(own: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.float64]:
    """Differences fold by fold, each the mean over the draws of noise that both have."""
    places = [name for name in (*FOLD, "draw") if name in own]
    both = own.set_index(places)["score"] - other.set_index(places)["score"]
    return fold_means(both.rename("score").reset_index())
