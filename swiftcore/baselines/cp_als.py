"""CP-ALS: least squares without a sign constraint (Carroll and Chang 1970, Harshman 1970)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.baselines.base import CpBaseline
from swiftcore.baselines.solvers.sparse_cp import Factors, gather, gram, share, squared_error
from swiftcore.tensor import SparseTensor


class CpAls(CpBaseline):
    """CP factors of any sign at the least squared error from the tensor.

    Minimises ``||X - X^||^2`` over all cells, each mode exactly in turn. Only nonzeros are
    touched. Feature columns have Euclidean length 1 and a sum of 0 or more: with signs
    inside them they cannot sum to 1.

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state
        As in :class:`swiftcore.baselines.base.CpBaseline`.
    """

    nonnegative = False

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        return squared_error(tensor, factors)

    def _sweep(self, tensor: SparseTensor, factors: Factors) -> Factors:
        moved = list(factors)
        for mode in [*range(1, tensor.n_modes), 0]:
            moved[mode] = least_squares(tensor, moved, mode)
            if mode > 0:
                moved[mode] = share(moved[mode], np.linalg.norm(moved[mode], axis=0))
        return moved

    def _project(self, tensor: SparseTensor, features: Factors) -> NDArray[np.float64]:
        return least_squares(tensor, [np.zeros((tensor.shape[0], self.rank)), *features], 0)

    def _normalised(self, factors: Factors) -> Factors:
        scales = [
            np.where(factor.sum(axis=0) < 0, -1, 1) * np.linalg.norm(factor, axis=0)
            for factor in factors[1:]
        ]
        features = [
            np.divide(factor, scale, out=np.zeros_like(factor), where=scale != 0)
            for factor, scale in zip(factors[1:], scales, strict=True)
        ]
        return [factors[0] * np.prod(scales, axis=0), *features]


def least_squares(tensor: SparseTensor, factors: Factors, mode: int) -> NDArray[np.float64]:
    """The factor of one mode at the least squared error for the others, of least norm."""
    inverse = np.linalg.pinv(gram(factors, skipped=mode), hermitian=True)
    return np.asarray(gather(tensor, factors, mode) @ inverse)
