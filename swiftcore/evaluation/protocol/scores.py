"""How good predictions are: PR-AUC for yes or no, accuracy for several classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

METRIC_TITLES = {"pr_auc": "PR-AUC", "accuracy": "accuracy"}
RECALLS = np.linspace(0, 1, 51)


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


def paired_interval(
    differences: NDArray[np.float64], test_share: float, data_sets: int = 1
) -> tuple[float, float]:
    """95 % interval of a mean difference over folds.

    Folds share training rows, so the plain variance of the mean is too small; it is
    corrected as Nadeau and Bengio (2003) propose. Folds of different data sets share none:
    with several of the same size the corrected variance is divided by their number.
    """
    n = len(differences)
    if n < 2:
        return float("nan"), float("nan")
    spread = float(differences.std(ddof=1))
    error = spread * np.sqrt(1 / n + test_share / (1 - test_share) / data_sets)
    width = _student(n - 1) * error
    middle = float(differences.mean())
    return middle - width, middle + width


def _student(freedom: int) -> float:
    """97.5 % quantile of Student's t."""
    return float(stdtrit(freedom, 0.975))


def summarise(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread over folds, one line per method and rank."""
    grouped = scores.groupby(["method", "kind", "rank"], sort=False)
    table = grouped.agg(
        mean=("score", "mean"),
        sd=("score", "std"),
        second_mean=("second", "mean"),
        n=("score", "count"),
    )
    return table.reset_index()
