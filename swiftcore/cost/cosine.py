"""Cosine distances, as the paper builds its cost matrices.

Cosine distance lacks the triangle inequality, so the paper's metric proposition does not
cover it; the optimisation needs only symmetry, a zero diagonal and no negative entry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost.memory import ROWS_AT_A_TIME
from swiftcore.spec.row_relation import DENSE_ROWS
from swiftcore.tensor import SparseTensor

SPARSE_SHARE = 0.02  # of the features of a row: below it sparse products are the quicker ones


def cosine_cost(features: sparse.csr_array) -> NDArray[np.float64]:
    """1 - cosine similarity between the rows of a feature matrix.

    A row without any feature is at distance 1 from every other row: nothing is known of it.
    """
    scaled = unit_rows(features)
    # Where all rows name their features in one order, products add up alike both ways.
    mirrored = features.has_sorted_indices
    cost = np.empty((scaled.shape[0], scaled.shape[0]))
    for low in range(0, len(cost), ROWS_AT_A_TIME):
        strip = slice(low, low + ROWS_AT_A_TIME)
        for left in range(0, low + 1 if mirrored else len(cost), ROWS_AT_A_TIME):
            tile = slice(left, left + ROWS_AT_A_TIME)
            distances = np.subtract(1.0, _products(scaled[strip], scaled[tile]))
            np.clip(distances, 0.0, None, out=distances)
            cost[strip, tile] = distances
            if mirrored:
                cost[tile, strip] = distances.T
    np.fill_diagonal(cost, 0.0)
    return cost


def _products(rows: sparse.csr_array, others: sparse.csr_array) -> NDArray[np.float64]:
    """All inner products of two sets of rows.

    Where features are common, a full matrix on one side saves the search for those shared.
    Both ways add up the same terms in the same order, so that the bits are the same.
    """
    turned = others.T
    if others.nnz < SPARSE_SHARE * others.shape[0] * others.shape[1]:
        return np.asarray((rows @ sparse.csr_array(turned)).toarray())
    return np.asarray(rows @ turned.toarray())


def unit_rows(features: sparse.csr_array) -> sparse.csr_array:
    """The rows scaled to length one; a row of zeros stays as it is."""
    norms = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
    scale = sparse.diags_array(np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0))
    return sparse.csr_array(scale @ features)


def feature_cost(tensor: SparseTensor, mode: int) -> NDArray[np.float64]:
    """1 - cosine similarity between the features of a mode, by the rows that have them.

    Of many rows only counts are kept, which add up exactly: the costs are then the same to the
    bit, however the rows are cut into blocks.
    """
    found = incidence(tensor, mode, 0)
    if tensor.shape[0] <= DENSE_ROWS:
        return cosine_cost(found)
    return cost_of_counts(shared_rows(found))


def shared_rows(features: sparse.csr_array) -> NDArray[np.float64]:
    """How many rows every two features share; ``features`` are indicators, (features x rows)."""
    counts = np.zeros((features.shape[0], features.shape[0]))
    add_shared_rows(counts, features)
    return counts


def add_shared_rows(counts: NDArray[np.float64], features: sparse.csr_array) -> None:
    """Count on with more rows; little more is held than the counts."""
    others = sparse.csr_array(features.T)
    for low in range(0, len(counts), ROWS_AT_A_TIME):
        strip = slice(low, low + ROWS_AT_A_TIME)
        counts[strip] += (features[strip] @ others).toarray()


def cost_of_counts(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine distances from how many rows every two features share; changed in place."""
    lengths = np.sqrt(np.diag(counts))
    lengths[lengths == 0] = 1.0
    for low in range(0, len(counts), ROWS_AT_A_TIME):
        strip = slice(low, low + ROWS_AT_A_TIME)
        counts[strip] /= lengths[strip, None] * lengths
        np.subtract(1.0, counts[strip], out=counts[strip])
        np.clip(counts[strip], 0.0, None, out=counts[strip])
    np.fill_diagonal(counts, 0.0)
    return counts


def row_features(tensor: SparseTensor, mode: int = 0) -> sparse.csr_array:
    """What each index of a mode has: indicators of all other modes side by side."""
    parts = [incidence(tensor, mode, other) for other in range(tensor.n_modes) if other != mode]
    return sparse.csr_array(sparse.hstack(parts))


def incidence(tensor: SparseTensor, mode: int, other: int) -> sparse.csr_array:
    """Indicator matrix: which indices of ``mode`` meet which of ``other`` in any entry."""
    shape = (tensor.shape[mode], tensor.shape[other])
    places = tensor.coordinates
    pairs = np.sort(places[:, mode] * shape[1] + places[:, other])  # np.unique takes ten times that
    new = np.diff(pairs, prepend=-1) > 0
    rows, columns = np.divmod(pairs[new], shape[1])
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
