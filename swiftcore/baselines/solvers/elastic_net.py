"""Logistic regression with an elastic net, one class against the rest, warm-started."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

L1_SHARE = 0.1  # the elastic net's alpha in Kim et al. 2017
STEP_TOLERANCE = 1e-9  # a step that changes the weights by less than this share is the last


def log_losses(
    features: NDArray[np.float64], signs: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``log(1 + exp(-y (b theta + theta0)))`` per row and class; 0 where the sign is 0."""
    return np.where(signs != 0, np.logaddexp(0, -signs * _scores(features, weights)), 0.0)


def fit_weights(
    features: NDArray[np.float64],
    signs: NDArray[np.float64],
    strength: float,
    start: NDArray[np.float64],
    steps: int = 50,
) -> NDArray[np.float64]:
    """Minimise mean log loss + strength (L1_SHARE |theta|_1 + (1 - L1_SHARE) / 2 |theta|^2).

    Accelerated proximal gradient, restarted when it turns; the intercept is not penalised.

    Parameters
    ----------
    features : ndarray, (rows x rank)
    signs : ndarray, (rows x classes)
        +1, -1, or 0 for rows that do not count.
    start : ndarray, (rank + 1 x classes)
        Intercepts last.
    """
    counted = np.abs(signs)
    extended = np.column_stack([features, np.ones(len(features))])
    n = max(1.0, float(counted[:, 0].sum()))
    top = float(np.linalg.norm(extended[counted[:, 0] > 0], 2)) ** 2
    ridge = strength * (1 - L1_SHARE)
    size = 1 / (top / (4 * n) + ridge)
    found, ahead, pace = start, start, 1.0
    for _ in range(steps):
        slope = -(extended.T @ (signs * expit(-signs * (extended @ ahead)))) / n
        slope[:-1] += ridge * ahead[:-1]
        new = ahead - size * slope
        new[:-1] = np.sign(new[:-1]) * np.maximum(0, np.abs(new[:-1]) - size * strength * L1_SHARE)
        if float(((ahead - new) * (new - found)).sum()) > 0:
            pace = 1.0
        if np.abs(new - found).max() <= STEP_TOLERANCE * np.abs(new).max():
            return new
        next_pace = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = new + (pace - 1) / next_pace * (new - found)
        found, pace = new, next_pace
    return found


def log_loss_slopes(
    features: NDArray[np.float64],
    signs: NDArray[np.float64],
    weights: NDArray[np.float64],
    column: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of each row's summed log losses by its own entry in one column."""
    wrong = expit(-signs * _scores(features, weights))
    theta = weights[column]
    first = -(signs * wrong) @ theta
    second = (np.abs(signs) * wrong * (1 - wrong)) @ theta**2
    return first, second


def _scores(features: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(features @ weights[:-1] + weights[-1])
