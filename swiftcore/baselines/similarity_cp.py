"""Similarity-based CP: alike features go together (Kim et al. 2017 without labels)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from swiftcore.baselines.base import CpBaseline
from swiftcore.baselines.defaults import KIM
from swiftcore.baselines.solvers.column_newton import BlockLoss, newton_columns
from swiftcore.baselines.solvers.feature_similarity import (
    graph_error,
    similarity_graph,
    spectral_start,
)
from swiftcore.baselines.solvers.sparse_cp import (
    Factors,
    gather,
    gram,
    nonnegative_rows,
    squared_error,
)
from swiftcore.cost.checks import check_costs
from swiftcore.tensor import SparseTensor

MAX_GROWTH = 1e9  # the published 100 sweeps at 1.2 reach a tenth of it


class SimilarityCp(CpBaseline):
    """Nonnegative CP factors near the tensor whose features group as a similarity says.

    Minimises, with B_n the factor of mode n and D_n the similarity graph of its features ::

        ||X - [[B_1 ... B_N]]||^2 + similarity_weight sum_{n > 1} ||B_n B_n' - D_n||^2

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state
        As in :class:`swiftcore.baselines.base.CpBaseline`.
    similarity_weight : float
        mu at the first sweep.
    growth : float
        After each sweep mu is multiplied by this, up to ``MAX_GROWTH`` in all.

    Notes
    -----
    Similarity is one minus the costs given to ``fit``; without costs, or for a mode whose
    cost is None, that term is left out. As mu grows so does the objective, which is not
    comparable from sweep to sweep: stopping follows the squared error. With growth 1 the
    objective never rises.
    """

    loss_never_rises = False

    def __init__(
        self,
        rank: int = 10,
        *,
        max_iterations: int = KIM.max_iterations,
        tolerance: float = KIM.tolerance,
        random_state: int | None = None,
        similarity_weight: float = 10.0,
        growth: float = 1.2,
    ) -> None:
        super().__init__(
            rank, max_iterations=max_iterations, tolerance=tolerance, random_state=random_state
        )
        self.similarity_weight = similarity_weight
        self.growth = growth

    def _prepare(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None,
        labels: ArrayLike | None,
    ) -> SparseTensor:
        given = [None] * tensor.n_modes if costs is None else costs
        checked = check_costs([None, *given[1:]], tensor.shape)
        self._graphs = [None if cost is None else similarity_graph(cost) for cost in checked]
        self._n_sweeps = 0
        return tensor

    def _start(self, tensor: SparseTensor, rng: np.random.Generator) -> Factors:
        factors = super()._start(tensor, rng)
        for mode, graph in enumerate(self._graphs):
            if graph is not None:
                factors[mode] = spectral_start(graph, self.rank, rng)
        return [nonnegative_rows(tensor, factors), *factors[1:]]

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        weight = self.similarity_weight * self._grown()
        return similarity_objective(tensor, factors, self._graphs, weight)

    def _watched(self, tensor: SparseTensor, factors: Factors, loss: float) -> float:
        return squared_error(tensor, factors)

    def _grown(self) -> float:
        """How much the weights have grown by the sweep under way."""
        exponent = max(0, self._n_sweeps - 1) * math.log(self.growth)
        return math.exp(min(exponent, math.log(MAX_GROWTH)))

    def _sweep(self, tensor: SparseTensor, factors: Factors) -> Factors:
        self._n_sweeps += 1
        moved, weight = list(factors), self.similarity_weight * self._grown()
        for mode in range(1, tensor.n_modes):
            loss = feature_loss(tensor, moved, mode, self._graphs[mode], weight)
            moved[mode] = newton_columns(moved[mode], loss)
        moved[0] = newton_columns(moved[0], self._row_loss(tensor, moved))
        return moved

    def _row_loss(self, tensor: SparseTensor, factors: Factors) -> BlockLoss:
        return feature_loss(tensor, factors, 0, None, 0.0)

    def _project(self, tensor: SparseTensor, features: Factors) -> NDArray[np.float64]:
        return nonnegative_rows(tensor, [np.zeros((tensor.shape[0], self.rank)), *features])


def similarity_objective(
    tensor: SparseTensor,
    factors: Factors,
    graphs: Sequence[sparse.csr_array | None],
    weight: float,
) -> float:
    """``||X - X^||^2 + weight sum ||B_n B_n' - D_n||^2`` over the modes that have a graph."""
    apart = [
        graph_error(factor, graph)
        for factor, graph in zip(factors, graphs, strict=True)
        if graph is not None
    ]
    return squared_error(tensor, factors) + weight * sum(apart)


def feature_loss(
    tensor: SparseTensor,
    factors: Factors,
    mode: int,
    graph: sparse.csr_array | None,
    weight: float,
) -> BlockLoss:
    """Squared error, and ``weight ||B B' - D||^2`` if there is a graph, in one factor B."""
    inner, crossed = gram(factors, skipped=mode), gather(tensor, factors, mode)

    def value(factor: NDArray[np.float64]) -> float:
        fit = float((factor.T @ factor * inner).sum()) - 2 * float((factor * crossed).sum())
        return fit if graph is None else fit + weight * graph_error(factor, graph)

    def slope(
        factor: NDArray[np.float64], column: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first = 2 * (factor @ inner[:, column] - crossed[:, column])
        second = np.full(len(factor), 2 * inner[column, column])
        if graph is not None:
            own = factor[:, column]
            first = first + 4 * weight * (factor @ (factor.T @ own) - graph @ own)
            # Of ||B B' - D||^2, without the part of the residual that may be negative.
            second = second + 4 * weight * (own @ own + own**2)
        return first, second

    return BlockLoss(value, slope)
