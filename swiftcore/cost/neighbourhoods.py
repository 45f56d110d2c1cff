"""Rows cut into neighbourhoods of similar ones, between which no mass moves.

A cost between all rows grows with the square of their number. Here it is infinite between
neighbourhoods, so only the costs within them are ever built, one neighbourhood at a time. The cut
follows from the rows alone: halving again and again, across the direction in which the rows
differ most, takes time and memory in proportion to their features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost.cosine import cosine_cost
from swiftcore.spec.row_relation import neighbourhoods_of

POWER_STEPS = 8  # towards the direction in which rows differ most; any near it will do


class RowSource(Protocol):
    """What rows cost among each other."""

    def among(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cost between every two of some rows."""
        ...

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """All that the costs follow from, by name."""
        ...


@dataclass(frozen=True, eq=False)
class CosineRows:
    """Rows at the cosine distance of their features."""

    features: sparse.csr_array

    def among(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return cosine_cost(sparse.csr_array(self.features[rows]))

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        parts = self.features
        return {"data": parts.data, "indices": parts.indices, "indptr": parts.indptr}


@dataclass(frozen=True)
class EqualRows:
    """Rows that are all equally far apart."""

    def among(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return 1.0 - np.eye(len(rows))

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {}


@dataclass(frozen=True)
class RandomRows:
    """Rows at distances drawn by a seed, in each neighbourhood by itself."""

    seed: int

    def among(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        rng = np.random.default_rng([self.seed, 0, int(rows[0])])
        upper = np.triu(rng.uniform(size=(len(rows), len(rows))), 1)
        return upper + upper.T

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {"seed": np.array([self.seed])}


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows whose costs are all at hand."""

    cost: NDArray[np.float64]

    def among(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.cost[np.ix_(rows, rows)]

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {"cost": self.cost}


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """The cost of a mode whose mass moves within neighbourhoods only.

    Attributes
    ----------
    order : ndarray of int64
        All rows, neighbourhood after neighbourhood, ascending within each.
    starts : ndarray of int64, (neighbourhoods + 1)
        Neighbourhood g holds the rows ``order[starts[g]:starts[g + 1]]``.
    source : RowSource
        What rows of a neighbourhood cost among each other.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    source: RowSource

    @classmethod
    def of_similar(cls, features: sparse.csr_array, source: RowSource) -> Neighbourhoods:
        """Neighbourhoods of rows with similar features."""
        return cls(*cut_rows(features), source)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def cost(self, number: int) -> NDArray[np.float64]:
        """The cost within one neighbourhood."""
        return self.source.among(self.order[self.starts[number] : self.starts[number + 1]])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that the costs follow from, by name."""
        return {"order": self.order, "starts": self.starts, **self.source.arrays()}


def cut_rows(features: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in the order of their neighbourhoods, and where each begins.

    The sizes differ by at most 1, and none is above the limit. Equal rows keep their order.

    Parameters
    ----------
    features : sparse array, (rows x features)
        What the rows are compared by.
    """
    n_rows = features.shape[0]
    order, cuts = np.arange(n_rows, dtype=np.int64), {0, n_rows}
    waiting = [(0, n_rows, neighbourhoods_of(n_rows))]
    while waiting:
        low, high, parts = waiting.pop()
        if parts == 1:
            order[low:high].sort()
            continue
        rows = order[low:high]
        order[low:high] = rows[np.argsort(_leading_scores(features[rows]), kind="stable")]
        middle = low + round((high - low) * (parts // 2) / parts)
        cuts.add(middle)
        waiting += [(low, middle, parts // 2), (middle, high, parts - parts // 2)]
    return order, np.array(sorted(cuts), dtype=np.int64)


def _leading_scores(features: sparse.csr_array) -> NDArray[np.float64]:
    """Where each row stands along the direction in which the rows differ most."""
    mean = np.asarray(features.mean(axis=0)).ravel()
    spread = np.asarray(features.multiply(features).mean(axis=0)).ravel() - mean**2
    direction = np.zeros(len(mean))
    direction[np.argmax(spread)] = 1.0
    turned = features.T
    scores = np.zeros(features.shape[0])
    for _ in range(POWER_STEPS):
        scores = features @ direction - mean @ direction
        ahead = turned @ scores - mean * scores.sum()
        length = float(np.linalg.norm(ahead))
        if not length > 0:  # all rows are alike
            break
        direction = ahead / length
    return scores
