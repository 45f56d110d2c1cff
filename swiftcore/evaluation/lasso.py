"""Lasso logistic regression for a handful of memberships, along a whole path of strengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 300  # per strength; the path is warm, few strengths need as many
SETTLED = 1e-4  # a step that moves no weight by more than this share of the largest is the last
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scaler:
    """Columns to mean 0 and spread 1, as learnt from the training rows."""

    mean: Array
    spread: Array

    @classmethod
    def of(cls, rows: Array) -> Scaler:
        spread = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(spread > 1e-12, spread, np.inf))

    def __call__(self, rows: Array) -> Array:
        return np.asarray((rows - self.mean) / self.spread)


@dataclass(frozen=True, eq=False)
class LassoModel:
    """Weights (features x classes) and intercepts; two classes have one column."""

    weights: Array
    intercepts: Array

    def probabilities(self, rows: Array) -> Array:
        """One column per class."""
        return _probabilities(rows @ self.weights + self.intercepts)


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
    design = np.column_stack([rows, np.ones(n)])
    target = _targets(codes, n_classes)
    curvature = 0.25 if n_classes == 2 else 0.5
    step = 1 / (curvature * float(np.linalg.eigvalsh(design.T @ design / n)[-1]))
    start = np.zeros((design.shape[1], target.shape[1]))
    start[-1] = _base_rates(target, n_classes)
    pull = design.T @ (_model(design @ start, n_classes) - target) / n
    largest = float(np.abs(pull[:-1]).max(initial=0.0))
    models, weights = [], start
    for share in strengths:
        weights = _descend(design, target, n_classes, weights, float(share) * largest, step)
        models.append(LassoModel(weights[:-1].copy(), weights[-1].copy()))
    return models


def _descend(
    design: Array, target: Array, n_classes: int, start: Array, strength: float, step: float
) -> Array:
    weights, point, pace = start, start, 1.0
    threshold = step * strength
    for _ in range(MOST_STEPS):
        slope = design.T @ (_model(design @ point, n_classes) - target) / len(design)
        moved = point - step * slope
        moved[:-1] = np.sign(moved[:-1]) * np.maximum(np.abs(moved[:-1]) - threshold, 0.0)
        change = moved - weights
        if np.abs(change).max() <= SETTLED * max(1.0, float(np.abs(moved).max())):
            return moved
        if float(((point - moved) * change).sum()) > 0:  # momentum points uphill: begin anew
            pace, point = 1.0, moved
        else:
            faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
            point, pace = moved + (pace - 1) / faster * change, float(faster)
        weights = moved
    return weights


def _targets(codes: NDArray[np.int64], n_classes: int) -> Array:
    if n_classes == 2:
        return codes[:, None].astype(np.float64)
    return np.asarray(np.eye(n_classes)[codes])


def _base_rates(target: Array, n_classes: int) -> Array:
    rates = np.clip(target.mean(axis=0), 1e-6, 1 - 1e-6)
    return np.asarray(np.log(rates / (1 - rates)) if n_classes == 2 else np.log(rates))


def _model(scores: Array, n_classes: int) -> Array:
    return _probabilities(scores)[:, 1:] if n_classes == 2 else _probabilities(scores)


def _probabilities(scores: Array) -> Array:
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
