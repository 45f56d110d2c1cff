"""How good predictions are: PR-AUC for yes or no, accuracy for several classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

METRIC_TITLES = {"pr_auc": "PR-AUC", "accuracy": "accuracy"}
RECALLS = np.linspace(0, 1, 51)
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


def paired_interval(
    differences: NDArray[np.float64], test_share: float, data_sets: float = 1
) -> tuple[float, float]:
    """95 % interval of a mean difference over folds.

    Folds share training rows, so the plain variance of the mean is too small; it is
    corrected as Nadeau and Bengio (2003) propose: two trials are taken to be as much alike as
    their test rows overlap, which for folds drawn anew is the share of rows tested. Folds of
    different data sets share none: with several of the same size the correction is divided by
    their number, see :func:`independent_sets`.
    """
    n = len(differences)
    if n < 2:
        return float("nan"), float("nan")
    error = _spread(differences) * np.sqrt(1 / n + test_share / (1 - test_share) / data_sets)
    width = _student(n - 1) * error
    middle = float(differences.mean())
    return middle - width, middle + width


def jackknife_interval(value: float, left_out: NDArray[np.float64]) -> tuple[float, float]:
    """95 % interval of a statistic of all rows, by leaving out one group of rows after another.

    The values without a group differ far less than the statistic would between samples, for
    they share most rows; the delete-a-group jackknife scales their variance up. Their range is no
    interval: it covers about half of what it should.

    Parameters
    ----------
    value : float
        Of all rows.
    left_out : ndarray
        One value per group of like size, of the rows outside it.
    """
    n = len(left_out)
    error = np.sqrt((n - 1) / n * np.square(left_out - left_out.mean()).sum())
    width = _student(n - 1) * float(error)
    return value - width, value + width


def independent_sets(subsets: int, size: int, rows: int) -> float:
    """As how many data sets without a row in common random subsets of one data set count.

    Two subsets of ``size`` of ``rows`` rows share, on average, ``size / rows`` of their rows,
    and so of their test rows. Averaged over all pairs of subsets, a subset with itself included,
    the overlap is ``(1 + (subsets - 1) * size / rows) / subsets``; one over it is the answer:
    the number of subsets where they hardly meet, 1 where each is the whole data set. The
    intervals then hold for new rows of the kind that was sampled, not for these rows only.
    """
    if not subsets:
        return 1.0
    return subsets / (1 + (subsets - 1) * size / rows)


def _mean(values: NDArray[np.float64]) -> float:
    """NaN of nothing, without a warning."""
    return float(values.mean()) if len(values) else float("nan")


def _spread(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _student(freedom: int) -> float:
    """97.5 % quantile of Student's t."""
    return float(stdtrit(freedom, 0.975))


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
        about = {"mean": _mean(each), "sd": _spread(each), "low": low, "high": high, "n": len(each)}
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
