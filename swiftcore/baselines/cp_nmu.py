"""CP-NMU: nonnegative least squares by multiplicative updates (Lee and Seung 1999)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.baselines.base import CpBaseline
from swiftcore.baselines.solvers.sparse_cp import (
    Factors,
    gather,
    gram,
    nonnegative_rows,
    share,
    squared_error,
)
from swiftcore.tensor import SparseTensor


class CpNmu(CpBaseline):
    """Nonnegative CP factors at the least squared error from the tensor.

    Minimises ``||X - X^||^2`` over all cells; each mode is multiplied by the ratio of the
    negative to the positive part of its gradient, which never raises the loss. Only nonzeros
    are touched. Projection solves the same problem for each row exactly.

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state
        As in :class:`swiftcore.baselines.base.CpBaseline`.
    """

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        return squared_error(tensor, factors)

    def _sweep(self, tensor: SparseTensor, factors: Factors) -> Factors:
        moved = list(factors)
        for mode in [*range(1, tensor.n_modes), 0]:
            positive = moved[mode] @ gram(moved, skipped=mode)
            moved[mode] = moved[mode] * share(gather(tensor, moved, mode), positive)
        return moved

    def _project(self, tensor: SparseTensor, features: Factors) -> NDArray[np.float64]:
        empty = np.zeros((tensor.shape[0], self.rank))
        return nonnegative_rows(tensor, [empty, *features])
