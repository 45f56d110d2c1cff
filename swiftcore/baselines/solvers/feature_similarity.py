"""Which features are alike: the similarity graph of Kim et al. 2017 and a start from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans


def similarity_graph(cost: NDArray[np.float64]) -> sparse.csr_array:
    """Each feature with its nearest ones, scaled so that the largest eigenvalue is 1.

    Similarity is ``1 - cost`` (costs beyond 1 are first divided by the largest). Every
    feature keeps itself and its ``floor(log2 n) + 1`` nearest; the graph W is made symmetric
    and scaled to ``deg^-1/2 W deg^-1/2``.
    """
    n = len(cost)
    alike = 1 - cost / max(1.0, float(cost.max(initial=0.0)))
    np.fill_diagonal(alike, np.inf)  # itself first
    n_kept = min(n, int(np.log2(n)) + 2)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, :n_kept]
    np.fill_diagonal(alike, 1.0)
    rows = np.repeat(np.arange(n), n_kept)
    weights = alike[rows, nearest.ravel()]
    graph = sparse.csr_array((weights, (rows, nearest.ravel())), shape=(n, n))
    graph = graph.maximum(graph.T)
    scale = sparse.diags_array(1 / np.sqrt(graph.sum(axis=1)))
    return sparse.csr_array(scale @ graph @ scale)


def spectral_start(
    graph: sparse.csr_array, rank: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """One cluster of alike features per component, scaled so that B B' is like the graph."""
    n = graph.shape[0]
    _, vectors = np.linalg.eigh(graph.toarray())
    leading = vectors[:, -min(rank, n) :]
    norms = np.linalg.norm(leading, axis=1, keepdims=True)
    leading = np.round(leading / np.maximum(norms, 1e-300), 9)
    n_clusters = min(rank, len(np.unique(leading, axis=0)))
    seed = int(rng.integers(2**31 - 1))
    clusters = KMeans(n_clusters, n_init=4, random_state=seed).fit(leading).labels_
    member = (clusters[:, None] == np.arange(rank)).astype(np.float64)
    member /= np.sqrt(np.maximum(member.sum(axis=0), 1.0))
    return np.asarray(member + rng.uniform(0, 0.1 / np.sqrt(n), (n, rank)))


def graph_error(factor: NDArray[np.float64], graph: sparse.csr_array) -> float:
    """``||B B' - D||^2`` without forming B B'."""
    inner = factor.T @ factor
    crossed = float((factor * (graph @ factor)).sum())
    return float((inner * inner).sum()) - 2 * crossed + float((graph.data**2).sum())
