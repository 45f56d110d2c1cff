"""CP-Binary: a Bernoulli model of presence (generalized CP, Hong, Kolda and Duersch 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.baselines.all_cells import AllCellsCp, gather_all, row_strips
from swiftcore.baselines.solvers.sparse_cp import Factors, gather, model_at, share
from swiftcore.tensor import SparseTensor

FLOOR = 1e-10  # added to the model inside the logarithm, as in the generalized CP library


class CpBinary(AllCellsCp):
    """Nonnegative CP factors of the odds that a cell is not empty.

    Minimises ``sum log(1 + x^) - b log(x^)`` over all cells, where b is 1 at nonzeros and 0
    elsewhere and x^ = p / (1 - p) are odds. Counts are not used: the data is made binary.

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state
        As in :class:`swiftcore.baselines.base.CpBaseline`.

    Notes
    -----
    The link is the odds, not the logit, so that factors stay nonnegative. The loss has a term
    in every cell; time grows with the number of cells, not of nonzeros.
    """

    def _prepare(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None,
        labels: ArrayLike | None,
    ) -> SparseTensor:
        return present(super()._prepare(tensor, costs, labels))

    def _project(self, tensor: SparseTensor, features: Factors) -> NDArray[np.float64]:
        return super()._project(present(tensor), features)

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        everywhere = sum(float(np.log1p(model).sum()) for _, model in row_strips(factors))
        return everywhere - float(np.log(model_at(tensor, factors) + FLOOR).sum())

    def _ratio(self, tensor: SparseTensor, factors: Factors, mode: int) -> NDArray[np.float64]:
        return share(gather(tensor, factors, mode, 1, FLOOR), gather_all(factors, mode, 1.0))


def present(tensor: SparseTensor) -> SparseTensor:
    """The same tensor with 1 at every nonzero."""
    return SparseTensor(tensor.modes, tensor.coordinates, np.ones(tensor.n_entries))
