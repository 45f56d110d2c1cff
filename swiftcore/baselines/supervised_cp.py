"""Supervised CP: components that also tell the classes apart (Kim et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.baselines.defaults import KIM
from swiftcore.baselines.similarity_cp import SimilarityCp, feature_loss
from swiftcore.baselines.solvers.checks import class_signs
from swiftcore.baselines.solvers.column_newton import BlockLoss
from swiftcore.baselines.solvers.elastic_net import fit_weights, log_loss_slopes, log_losses
from swiftcore.baselines.solvers.sparse_cp import Factors
from swiftcore.tensor import SparseTensor


class SupervisedCp(SimilarityCp):
    """Nonnegative CP factors near the tensor that respect similarity and separate classes.

    Minimises the objective of :class:`SimilarityCp` plus, with theta the weights of a
    logistic regression of the labels on the memberships ::

        label_weight / (labelled rows) sum_i log(1 + exp(-y_i (B_1i theta + theta_0)))

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state, similarity_weight, growth
        As in :class:`SimilarityCp`; both weights grow.
    label_weight : float
        omega at the first sweep.
    label_penalty : float
        Strength of the elastic net on theta.

    Notes
    -----
    theta sees only the rows given to ``fit`` whose label is known (not None or NaN). Several
    classes are each set against the rest. Rows are projected without their labels.
    """

    def __init__(
        self,
        rank: int = 10,
        *,
        max_iterations: int = KIM.max_iterations,
        tolerance: float = KIM.tolerance,
        random_state: int | None = None,
        similarity_weight: float = 10.0,
        growth: float = 1.2,
        label_weight: float = 0.1,
        label_penalty: float = 0.01,
    ) -> None:
        super().__init__(
            rank,
            max_iterations=max_iterations,
            tolerance=tolerance,
            random_state=random_state,
            similarity_weight=similarity_weight,
            growth=growth,
        )
        self.label_weight = label_weight
        self.label_penalty = label_penalty

    def _prepare(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None,
        labels: ArrayLike | None,
    ) -> SparseTensor:
        self._signs = class_signs(labels, tensor.shape[0])
        self._theta = np.zeros((self.rank + 1, self._signs.shape[1]))
        return super()._prepare(tensor, costs, labels)

    def _row_loss(self, tensor: SparseTensor, factors: Factors) -> BlockLoss:
        self._theta = fit_weights(factors[0], self._signs, self.label_penalty, self._theta)
        return labelled_row_loss(tensor, factors, self._signs, self._theta, self._label_share())

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        labels = float(log_losses(factors[0], self._signs, self._theta).sum())
        return super()._loss(tensor, factors) + self._label_share() * labels

    def _label_share(self) -> float:
        """omega over the number of labelled rows."""
        return self.label_weight * self._grown() / float(np.abs(self._signs[:, 0]).sum())


def labelled_row_loss(
    tensor: SparseTensor,
    factors: Factors,
    signs: NDArray[np.float64],
    theta: NDArray[np.float64],
    weight: float,
) -> BlockLoss:
    """Squared error plus ``weight`` times the summed log losses, in the row factor."""
    fit = feature_loss(tensor, factors, 0, None, 0.0)

    def value(rows: NDArray[np.float64]) -> float:
        return fit.value(rows) + weight * float(log_losses(rows, signs, theta).sum())

    def slope(
        rows: NDArray[np.float64], column: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first, second = fit.slope(rows, column)
        label_first, label_second = log_loss_slopes(rows, signs, theta, column)
        return first + weight * label_first, second + weight * label_second

    return BlockLoss(value, slope)
