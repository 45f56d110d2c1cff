"""Why the chance of an outcome is what it is for one row: every phenotype's part in it.

The links of a fit are the weights of a linear model of the memberships; the model itself is not
kept. It follows from them: columns are scaled as they were when the weights were learnt, and the
intercepts, which no lasso shrinks, are those with which the mean chance of each class is how often
it occurs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.protocol.scalings import SCALINGS, Scaler
from swiftcore.phenotypes.identifiers import component_id

MAX_STEPS = 100
NEAR_ENOUGH = 1e-10  # a class whose mean chance is so near to its share has its intercept
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RiskModel:
    """A linear model of the outcome, whole.

    Attributes
    ----------
    classes : tuple of str
        Those a score speaks for: one where the outcome is yes or no, else all.
    scaling : str
        A key of ``SCALINGS``.
    scaler : Scaler
        Learnt from the rows with a known outcome.
    weights, intercepts : ndarray, (rank x classes), (classes,)
        Of the log-odds of yes; of several classes, of the logarithm of each chance over the
        geometric mean of all.
    """

    classes: tuple[str, ...]
    scaling: str
    scaler: Scaler
    weights: Array
    intercepts: Array

    @property
    def several(self) -> bool:
        """Whether the outcome has more than two classes."""
        return len(self.classes) > 1

    def parts(self, membership: Array) -> Array:
        """Phenotypes x classes: what each adds to the score of a row with average memberships."""
        scaled = self.scaler(SCALINGS[self.scaling](membership[None, :]))[0]
        return np.asarray(scaled[:, None] * self.weights)

    def scores(self, membership: Array) -> Array:
        """The log-odds of yes; of several classes, one score each."""
        return np.asarray(self.intercepts + self.parts(membership).sum(axis=0))

    def chances(self, membership: Array) -> Array:
        """The chance of yes; of several classes, one chance each."""
        return _chances(self.scores(membership)[None, :])[0]

    def without(self, membership: Array, component: int) -> Array:
        """The chances of the same row, had it nothing of one phenotype."""
        changed = membership.copy()
        changed[component] = 0.0
        return self.chances(changed)


def risk_model(
    memberships: Array, outcome: NDArray[np.generic], links: Experiment
) -> RiskModel | None:
    """The model whose weights are the links; None where there are too few rows for any link.

    Parameters
    ----------
    memberships : ndarray, (rows x rank)
        Of the fit that the links are of.
    outcome : ndarray of bool or str, (rows,)
    """
    scaling, classes = links.about.get("scaling"), tuple(map(str, links.about.get("classes") or ()))
    weights = _weights(links, classes, memberships.shape[1])
    if weights is None or scaling not in SCALINGS:
        return None
    codes = _codes(outcome, classes)
    known = codes >= 0
    shares = np.bincount(codes[known], minlength=len(classes)) / max(1, known.sum())
    if not shares.all():  # the links are of other rows
        return None
    rows = SCALINGS[scaling](memberships[known])
    scaler, columns = Scaler.of(rows), weights.shape[1]
    intercepts = _intercepts(scaler(rows) @ weights, shares[-columns:])
    return RiskModel(classes[-columns:], scaling, scaler, weights, intercepts)


def _weights(links: Experiment, classes: tuple[str, ...], rank: int) -> Array | None:
    """Phenotypes x classes; None where the links do not name every one of them."""
    table = links.tables["links"]
    pairs = zip(table["class"], table["phenotype"], strict=True)
    given = dict(zip(pairs, table["weight"], strict=True))
    names = [""] if len(classes) == 2 else classes
    wanted = [[(name, component_id(part, rank)) for name in names] for part in range(rank)]
    if not names or any(each not in given for line in wanted for each in line):
        return None
    weights = np.array([[float(given[each]) for each in line] for line in wanted])
    # a number added to all scores of a row changes no chance: 0 shall be their mean
    return weights if len(names) == 1 else weights - weights.mean(axis=1, keepdims=True)


def _codes(outcome: NDArray[np.generic], classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The class of every row; -1 where it is not known, or was too small to be linked."""
    if outcome.dtype == bool:
        return outcome.astype(np.int64)
    codes = np.full(len(outcome), -1, dtype=np.int64)
    for code, name in enumerate(classes):
        codes[outcome == name] = code
    return codes


def _chances(scores: Array) -> Array:
    """Rows x classes; one column of scores is of yes against no."""
    if scores.shape[1] == 1:
        return np.asarray(np.exp(-np.logaddexp(0.0, -scores)))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _intercepts(scores: Array, shares: Array) -> Array:
    """With which the mean chance of every class is its share: Newton's steps on a convex loss."""
    found = np.log(shares / (1 - shares)) if len(shares) == 1 else np.log(shares)
    loss = _loss(scores, found, shares)
    for _ in range(MAX_STEPS):
        chances = _chances(scores + found)
        slope = chances.mean(axis=0) - shares
        if np.abs(slope).max() <= NEAR_ENOUGH:
            break
        bend = np.diag(chances.mean(axis=0)) - chances.T @ chances / len(chances)
        step, length = np.linalg.pinv(bend) @ slope, 1.0
        while (new := _loss(scores, found - length * step, shares)) > loss and length > 1e-6:
            length /= 2
        found, loss = found - length * step, new
    return np.asarray(found if len(shares) == 1 else found - found.mean())


def _loss(scores: Array, intercepts: Array, shares: Array) -> float:
    """Mean log loss, up to what does not depend on the intercepts."""
    moved = scores + intercepts
    whole = (
        np.logaddexp(0.0, moved[:, 0]) if len(shares) == 1 else np.logaddexp.reduce(moved, axis=1)
    )
    return float(whole.mean() - intercepts @ shares)
