"""Cosine distances, as the paper builds its cost matrices.

Cosine distance lacks the triangle inequality, so the paper's metric proposition does not
cover it; the optimisation needs only symmetry, a zero diagonal and no negative entry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost.memory import ROWS_AT_A_TIME
from swiftcore.tensor import SparseTensor


def cosine_cost(features: sparse.csr_array) -> NDArray[np.float64]:
    """1 - cosine similarity between the rows of a feature matrix.

    A row without any feature is at distance 1 from every other row: nothing is known of it.
    """
    scaled = unit_rows(features)
    mirrored = sparse.csr_array(scaled.T)
    cost = np.empty((scaled.shape[0], scaled.shape[0]))
    for low in range(0, len(cost), ROWS_AT_A_TIME):
        strip = cost[low : low + ROWS_AT_A_TIME]
        np.subtract(1.0, (scaled[low : low + ROWS_AT_A_TIME] @ mirrored).toarray(), out=strip)
        np.clip(strip, 0.0, None, out=strip)
    np.fill_diagonal(cost, 0.0)
    return cost


def unit_rows(features: sparse.csr_array) -> sparse.csr_array:
    """The rows scaled to length one; a row of zeros stays as it is."""
    norms = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
    scale = sparse.diags_array(np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0))
    return sparse.csr_array(scale @ features)


def row_features(tensor: SparseTensor, mode: int = 0) -> sparse.csr_array:
    """What each index of a mode has: indicators of all other modes side by side."""
    parts = [incidence(tensor, mode, other) for other in range(tensor.n_modes) if other != mode]
    return sparse.csr_array(sparse.hstack(parts))


def incidence(tensor: SparseTensor, mode: int, other: int) -> sparse.csr_array:
    """Indicator matrix: which indices of ``mode`` meet which of ``other`` in any entry."""
    pairs = np.unique(tensor.coordinates[:, [mode, other]], axis=0)
    ones = np.ones(len(pairs))
    shape = (tensor.shape[mode], tensor.shape[other])
    return sparse.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=shape)
