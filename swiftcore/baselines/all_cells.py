"""Losses that look at every cell: sums over all cells, some rows at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.baselines.base import CpBaseline
from swiftcore.baselines.defaults import CELLS_AT_A_TIME, all_cells_memory
from swiftcore.baselines.solvers.checks import refuse_if_too_large
from swiftcore.baselines.solvers.sparse_cp import Factors
from swiftcore.tensor import SparseTensor


class AllCellsCp(CpBaseline):
    """Multiplicative updates for a loss with a term in every cell of the model.

    Each update minimises a majorizer, so the loss never rises. The dense tensor is never
    formed: the model is worked through in strips of rows. What must fit is the Khatri-Rao
    product of the feature modes and two strips; if it does not, the fit is refused.
    """

    def _prepare(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None,
        labels: ArrayLike | None,
    ) -> SparseTensor:
        self._refuse_if_too_large(tensor)
        return tensor

    def _sweep(self, tensor: SparseTensor, factors: Factors) -> Factors:
        moved = list(factors)
        for mode in [*range(1, tensor.n_modes), 0]:
            moved[mode] = moved[mode] * self._ratio(tensor, moved, mode)
        return moved

    def _project(self, tensor: SparseTensor, features: Factors) -> NDArray[np.float64]:
        self._refuse_if_too_large(tensor)
        return self._climb_rows(
            tensor, features, lambda rows, factors: factors[0] * self._ratio(rows, factors, 0)
        )

    @abstractmethod
    def _ratio(self, tensor: SparseTensor, factors: Factors, mode: int) -> NDArray[np.float64]:
        """What one multiplicative step of a mode multiplies with."""

    def _refuse_if_too_large(self, tensor: SparseTensor) -> None:
        refuse_if_too_large(all_cells_memory(tensor.shape, self.rank), tensor.shape)


def row_strips(factors: Factors) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """The model's cells, (rows x all features), a strip of rows at a time."""
    product = khatri_rao(factors[1:])
    n_rows = max(1, CELLS_AT_A_TIME // len(product))
    for first in range(0, len(factors[0]), n_rows):
        rows = slice(first, first + n_rows)
        yield rows, factors[0][rows] @ product.T


def gather_all(factors: Factors, mode: int, offset: float) -> NDArray[np.float64]:
    """``sum KR / (x^ + offset)`` over all cells, per index of a mode."""
    product = khatri_rao(factors[1:])
    rank = product.shape[1]
    out = np.zeros_like(factors[0])
    summed = np.zeros_like(product)
    for rows, model in row_strips(factors):
        np.add(model, offset, out=model)
        inverse = np.divide(1.0, model, out=model)
        if mode == 0:
            out[rows] = inverse @ product
        else:
            summed += inverse.T @ factors[0][rows]
    if mode == 0:
        return out
    folded = summed.reshape(*[len(factor) for factor in factors[1:]], rank)
    for other in range(len(factors) - 1, 0, -1):
        if other != mode:
            wide = [1] * (len(factors) - 1) + [rank]
            wide[other - 1] = len(factors[other])
            folded = (folded * factors[other].reshape(wide)).sum(axis=other - 1, keepdims=True)
    return np.asarray(folded.reshape(-1, rank))


def khatri_rao(factors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Products of the factors' rows, the last factor's index moving fastest."""
    product = factors[0]
    for factor in factors[1:]:
        product = (product[:, None, :] * factor[None]).reshape(-1, factor.shape[1])
    return product
