"""Lasso logistic regression for a handful of memberships, along a whole path of strengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from swiftcore.transport.compiled.elementary import COMPILED, exp

MAX_STEPS = 300  # per strength; the path is warm, few strengths need as many
STEP_TOLERANCE = (
    1e-4  # a step that moves no weight by more than this share of the largest is the last
)
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LassoModel:
    """Weights (features x classes) and intercepts; two classes have one column."""

    weights: Array
    intercepts: Array

    def probabilities(self, rows: Array) -> Array:
        """One column per class."""
        return np.asarray(_chances((rows @ self.weights + self.intercepts).T).T)


def lasso_path(
    rows: Array, codes: NDArray[np.int64], n_classes: int, strengths: NDArray[np.float64]
) -> list[LassoModel]:
    """Fit one model per strength, strongest first.

    Minimises ``mean log loss + strength * sum |weights|``; intercepts are free. ``strengths``
    are shares of the smallest strength at which every weight is 0. Proximal gradient steps
    with momentum and restarts: on separable memberships, where coordinate descent
    crawls, each step costs one product.

    Parameters
    ----------
    rows : ndarray, (rows x features)
        Scaled to like spreads.
    codes : ndarray of int
        Classes 0 ... n_classes - 1.
    """
    n = len(rows)
    design = np.vstack([rows.T, np.ones(n)])
    target = _targets(codes, n_classes)
    curvature = 0.25 if n_classes == 2 else 0.5
    step = 1 / (curvature * float(np.linalg.eigvalsh(design @ design.T / n)[-1]))
    start = np.zeros((len(target), len(design)))
    start[:, -1] = _base_rates(target)
    largest = float(np.abs(_slope(design, target, start)[:, :-1]).max(initial=0.0))
    models, weights = [], start
    for share in strengths:
        weights = _descend(design, target, weights, float(share) * largest, step)
        models.append(LassoModel(weights[:, :-1].T.copy(), weights[:, -1].copy()))
    return models


@njit(**COMPILED)  # type: ignore[untyped-decorator]
def _descend(design: Any, target: Any, start: Any, strength: float, step: float) -> Any:
    weights, point, pace = start, start, 1.0
    threshold = step * strength
    for _ in range(MAX_STEPS):
        moved = point - step * _slope(design, target, point)
        size = np.maximum(np.abs(moved[:, :-1]) - threshold, 0.0)
        moved[:, :-1] = np.sign(moved[:, :-1]) * size
        change = moved - weights
        if np.abs(change).max() <= STEP_TOLERANCE * max(1.0, np.abs(moved).max()):
            return moved
        if ((point - moved) * change).sum() > 0:  # momentum points uphill: begin anew
            pace, point = 1.0, moved
        else:
            faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
            point, pace = moved + (pace - 1) / faster * change, faster
        weights = moved
    return weights


@njit(**COMPILED)  # type: ignore[untyped-decorator]
def _slope(design: Any, target: Any, weights: Any) -> Any:
    """Of the mean log loss."""
    errors = _chances(np.dot(weights, design))[-len(target) :] - target
    return np.dot(errors, design.T) / design.shape[1]


@njit(**COMPILED)  # type: ignore[untyped-decorator]
def _chances(scores: Any) -> Any:
    """One line per class, from as many scores; one line of scores is the second of two classes.

    Rows of the data lie along the lines, so that every loop over them is a vector loop.
    """
    n = scores.shape[1]
    raised = np.zeros((max(2, len(scores)), n))
    raised[-len(scores) :] = scores
    top, total = raised[0].copy(), np.zeros(n)
    for line in raised[1:]:
        for i in range(n):
            top[i] = max(top[i], line[i])
    for line in raised:
        for i in range(n):
            line[i] = exp(line[i] - top[i])
            total[i] += line[i]
    for line in raised:
        for i in range(n):
            line[i] /= total[i]
    return raised


def _targets(codes: NDArray[np.int64], n_classes: int) -> Array:
    """One line per class, or one for the second of two."""
    return np.asarray(np.eye(n_classes)[:, codes][1 if n_classes == 2 else 0 :])


def _base_rates(target: Array) -> Array:
    rates = np.clip(target.mean(axis=1), 1e-6, 1 - 1e-6)
    return np.asarray(np.log(rates / (1 - rates)) if len(target) == 1 else np.log(rates))
