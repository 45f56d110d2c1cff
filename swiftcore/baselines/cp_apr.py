"""CP-APR: a Poisson model of counts (Chi and Kolda 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.baselines.base import CpBaseline
from swiftcore.baselines.defaults import SWEEPS
from swiftcore.baselines.solvers.sparse_cp import (
    Factors,
    gather,
    model_at,
    share,
    sum_products,
    weights_in_mode,
    weights_in_rows,
)
from swiftcore.tensor import SparseTensor

# Entries this near 0 that the gradient wants to grow are lifted: multiplication alone cannot.
STUCK_BELOW, LIFTED_BY = 1e-10, 0.01


class CpApr(CpBaseline):
    """Nonnegative CP factors under which counts, as Poisson draws, are most likely.

    Minimises ``sum x^ - x log x^``, up to a constant KL(X || X^), by alternating over the
    modes with several multiplicative steps in each. Only nonzeros are touched.

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state
        As in :class:`swiftcore.baselines.base.CpBaseline`.
    inner_iterations : int
        Multiplicative steps per mode and sweep, at most.

    Notes
    -----
    The loss may rise for a sweep when entries stuck at 0 are lifted, as published.
    """

    loss_never_rises = False

    def __init__(
        self,
        rank: int = 10,
        *,
        max_iterations: int = SWEEPS.max_iterations,
        tolerance: float = SWEEPS.tolerance,
        random_state: int | None = None,
        inner_iterations: int = 10,
    ) -> None:
        super().__init__(
            rank, max_iterations=max_iterations, tolerance=tolerance, random_state=random_state
        )
        self.inner_iterations = inner_iterations

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        return kl_divergence(tensor, factors)

    def _sweep(self, tensor: SparseTensor, factors: Factors) -> Factors:
        moved = list(factors)
        for mode in [*range(1, tensor.n_modes), 0]:
            moved = weights_in_mode(moved, mode)
            growth = kl_ratio(tensor, moved, mode)
            sums = moved[mode].sum(axis=0)
            stuck = (growth > 1) & (share(moved[mode], sums) < STUCK_BELOW)
            moved[mode] = moved[mode] + LIFTED_BY * sums * stuck
            for step in range(self.inner_iterations):
                if step > 0 or stuck.any():  # else it is known already
                    growth = kl_ratio(tensor, moved, mode)
                violation = np.abs(np.minimum(moved[mode], 1 - growth)).max()
                if violation < self.tolerance:
                    break
                moved[mode] = moved[mode] * growth
        return weights_in_rows(moved)

    def _project(self, tensor: SparseTensor, features: Factors) -> NDArray[np.float64]:
        return self._climb_rows(
            tensor, features, lambda rows, factors: factors[0] * kl_ratio(rows, factors, 0)
        )


def kl_divergence(tensor: SparseTensor, factors: Factors) -> float:
    """``sum x log(x / x^) - x + x^`` over all cells; infinite where a nonzero has no model."""
    model = model_at(tensor, factors)
    if not (model > 0).all():
        return float("inf")
    values = tensor.values
    return float(values @ np.log(values / model) - values.sum() + sum_products(factors).sum())


def kl_ratio(tensor: SparseTensor, factors: Factors, mode: int) -> NDArray[np.float64]:
    """What one multiplicative step of a mode multiplies with; 1 where the gradient is 0."""
    return share(gather(tensor, factors, mode, power=1), sum_products(factors, skipped=mode))
