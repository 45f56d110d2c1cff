"""CP-Continuous: a gamma model of positive values (generalized CP, Hong et al. 2020)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.baselines.all_cells import AllCellsCp, gather_all, row_strips
from swiftcore.baselines.defaults import SWEEPS
from swiftcore.baselines.solvers.sparse_cp import Factors, gather, model_at, share
from swiftcore.tensor import SparseTensor


class CpContinuous(AllCellsCp):
    """Nonnegative CP factors of the mean of gamma-distributed cells.

    Minimises ``sum x / (x^ + floor) + log(x^ + floor)`` over all cells. Updates take the square
    root of the gradient's ratio, with which the loss never rises.

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state
        As in :class:`swiftcore.baselines.base.CpBaseline`.
    floor : float
        Added to the model; the default is that of the generalized CP library.

    Notes
    -----
    On a sparse tensor this loss is degenerate: an empty cell pulls its model to 0, where only
    the floor bounds the loss, and memberships may differ by many orders of magnitude. Poor
    scores are a property of the loss; a floor near the smallest amount that matters tames it.
    Time grows with the number of cells, not of nonzeros.
    """

    def __init__(
        self,
        rank: int = 10,
        *,
        max_iterations: int = SWEEPS.max_iterations,
        tolerance: float = SWEEPS.tolerance,
        random_state: int | None = None,
        floor: float = 1e-10,
    ) -> None:
        super().__init__(
            rank, max_iterations=max_iterations, tolerance=tolerance, random_state=random_state
        )
        self.floor = floor

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        everywhere = sum(
            float(np.log(model + self.floor).sum()) for _, model in row_strips(factors)
        )
        return everywhere + float((tensor.values / (model_at(tensor, factors) + self.floor)).sum())

    def _ratio(self, tensor: SparseTensor, factors: Factors, mode: int) -> NDArray[np.float64]:
        upward = gather(tensor, factors, mode, 2, self.floor)
        return np.sqrt(share(upward, gather_all(factors, mode, self.floor)))
