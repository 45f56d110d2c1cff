"""95 % intervals of means over folds, and of statistics of all rows; light enough for pages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit


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
    error = spread(differences) * np.sqrt(1 / n + test_share / (1 - test_share) / data_sets)
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


def spread(values: NDArray[np.float64]) -> float:
    """Standard deviation over folds; NaN of a single one."""
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _student(freedom: int) -> float:
    """97.5 % quantile of Student's t."""
    return float(stdtrit(freedom, 0.975))
