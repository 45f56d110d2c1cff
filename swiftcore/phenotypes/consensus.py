"""What several fits agree on: their components gathered, grouped, and counted again.

A fit with another seed finds other components here and there, and nobody can tell from one fit
which of its own would come back. Here components of many fits are compared with each other;
nothing is known of the method that found them but their feature profiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.phenotypes.matching import FOUND_FROM, Features, similarity

Array = NDArray[np.float64]
ALONE = 0.5  # a component whose nearest ones are farther than this is an outlier
NEAREST = 0.3  # share of the other fits among which a component's nearest ones are looked for
FEWEST = 2  # groups are made of at least this share of components per group asked for


@dataclass(frozen=True, eq=False)
class Agreement:
    """How firmly each component of a result stands in the fits behind it.

    Attributes
    ----------
    n_fits : int
    found_in : tuple of int
        For each component, in how many fits there is one as similar as ``FOUND_FROM``.
    spread : list of ndarray, (mode size x rank)
        For each feature mode, how far a weight typically is from that of the result, in the
        fits that have the component (root mean square); 0 where none has it.
    """

    n_fits: int
    found_in: tuple[int, ...]
    spread: list[Array]

    def of(self, component: int) -> tuple[int, int]:
        """In how many fits a component is, of how many."""
        return self.found_in[component], self.n_fits


def agreement(result: Features, fits: Sequence[Features]) -> Agreement:
    """Look for every component of a result in the fits behind it."""
    rank = result[0].shape[1]
    found = np.zeros(rank, dtype=np.int64)
    squares = [np.zeros_like(factor) for factor in result]
    for fit in fits:
        similarities = similarity(result, fit)
        nearest = similarities.argmax(axis=1)
        there = similarities[np.arange(rank), nearest] >= FOUND_FROM
        found += there
        for square, mine, theirs in zip(squares, result, fit, strict=True):
            square += np.where(there, (theirs[:, nearest] - mine) ** 2, 0.0)
    spread = [np.sqrt(square / np.maximum(found, 1)) for square in squares]
    return Agreement(len(fits), tuple(found.tolist()), spread)


def clustered(fits: Sequence[Features]) -> list[Array]:
    """Median profiles of as many groups of like components as each fit has components.

    Components whose nearest ones are far away are left out first; the others are joined by
    average linkage.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # slow to load, and pages import this
    from scipy.spatial.distance import squareform

    rank = fits[0][0].shape[1]
    every = _gathered(fits)
    similarities = similarity(every, every)
    kept = _in_company(similarities, len(fits), least=FEWEST * rank)
    distances = 1 - similarities[np.ix_(kept, kept)]
    distances = np.maximum((distances + distances.T) / 2, 0)
    np.fill_diagonal(distances, 0)
    tree = linkage(squareform(distances, checks=False), "average")
    labels = fcluster(tree, rank, "maxclust").astype(np.int64) - 1
    return _medians([factor[:, kept] for factor in every], labels, rank)


def around(reference: Features, fits: Sequence[Features]) -> list[Array]:
    """Median profiles of the components that are found again, one group per reference.

    A component joins the nearest of the reference if it is as similar as ``FOUND_FROM``;
    the others are outliers.
    """
    every = _gathered(fits)
    similarities = similarity(every, reference)
    joined = similarities.max(axis=1) >= FOUND_FROM
    labels = np.where(joined, similarities.argmax(axis=1), -1)
    return _medians(every, labels, reference[0].shape[1])


def twins(features: Features) -> list[tuple[int, int]]:
    """Pairs of components that are as similar as one found again, the most similar first."""
    similarities = np.triu(similarity(features, features), 1)
    first, second = np.nonzero(similarities > FOUND_FROM)
    order = np.argsort(-similarities[first, second], kind="stable")
    return [(int(first[place]), int(second[place])) for place in order]


def _gathered(fits: Sequence[Features]) -> list[Array]:
    return [np.concatenate(factors, axis=1) for factors in zip(*fits, strict=True)]


def _in_company(similarities: Array, n_fits: int, least: int) -> NDArray[np.int64]:
    """Components with others near them: at least so many, the densest if there are fewer."""
    rank = len(similarities) // n_fits
    per_fit = similarities.reshape(-1, n_fits, rank).max(axis=2)
    own = np.arange(len(similarities)) // rank
    per_fit[np.arange(len(similarities)), own] = -1.0
    nearest = -np.sort(-per_fit, axis=1)[:, : max(1, round(NEAREST * (n_fits - 1)))]
    density = nearest.mean(axis=1)
    enough = np.sort(density)[::-1][min(least, len(density)) - 1]
    return np.flatnonzero(density >= min(ALONE, enough))


def _medians(every: Features, labels: NDArray[np.int64], rank: int) -> list[Array]:
    """Profiles of the groups: zero for an empty one, the mean where the median is nothing."""
    result = []
    for factor in every:
        middle = np.zeros((len(factor), rank))
        for group in np.unique(labels[labels >= 0]):
            members = factor[:, labels == group]
            middle[:, group] = np.median(members, axis=1)
            if not middle[:, group].any():
                middle[:, group] = members.mean(axis=1)
        sums = middle.sum(axis=0)
        result.append(np.divide(middle, sums, out=np.zeros_like(middle), where=sums > 0))
    return result
