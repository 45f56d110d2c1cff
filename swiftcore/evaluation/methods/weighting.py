"""What may be done to the entries of rows before they are factorized, as a spec says.

Everything is learnt from the training rows and kept, so that later rows are treated in the same
way: how a row is projected does not depend on who comes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.errors import InvalidData, refuse
from swiftcore.evaluation.methods.row_matrix import indicators
from swiftcore.runtime.block_sums import total
from swiftcore.spec import ModelSpec
from swiftcore.tensor import SparseTensor

MIN_WEIGHT = 0.1  # of a feature that says nothing about the labels
Array = NDArray[np.float64]
Blocks = Callable[[], Iterable[SparseTensor]]
"""Gives all training rows anew whenever it is called, some at a time."""


@dataclass(frozen=True, eq=False)
class EntryWeighting:
    """How entries are weighed, as learnt from training rows.

    Attributes
    ----------
    entry_values : {"counts", "presence", "log counts"}
        What an entry counts; a logarithm is to the base 2, of one more than the value, so that
        1 stays 1.
    features : ndarray or None
        One weight per feature, those of the first feature mode first.
    scale : float
        Keeps the mean training value what it was.
    row_mass : float or None
        What every row's entries add up to; None leaves the rows as they are.
    """

    entry_values: str = "counts"
    features: Array | None = None
    scale: float = 1.0
    row_mass: float | None = None

    @classmethod
    def learn(
        cls, training: SparseTensor, spec: ModelSpec, codes: NDArray[np.int64] | None
    ) -> EntryWeighting:
        """What a spec asks for, on the training rows; ``codes`` are their classes, -1: unknown."""
        size = (training.shape[0], training.n_entries)
        weights = _feature_weights(training, spec, codes)
        return cls.with_weights(lambda: [training], size, spec, weights)

    @classmethod
    def with_weights(
        cls, blocks: Blocks, size: tuple[int, int], spec: ModelSpec, weights: Array | None
    ) -> EntryWeighting:
        """The same for training rows of which only some are at hand at a time.

        Parameters
        ----------
        size : tuple of int
            How many rows there are, and how many entries.
        weights : ndarray or None
            Of the features.
        """
        rows, entries = size
        found = cls(spec.entry_values)
        if weights is not None:
            plain = total((found.apply(block).values for block in blocks()), entries)
            weighted = total(
                (_weighted(found.apply(block), weights) for block in blocks()), entries
            )
            found = cls(spec.entry_values, weights, (plain / entries) / (weighted / entries))
        if spec.row_mass == "equal":
            mass = total((_row_masses(found.apply(block)) for block in blocks()), rows) / rows
            found = cls(found.entry_values, found.features, found.scale, mass)
        return found

    def apply(self, rows: SparseTensor) -> SparseTensor:
        """Any rows with the features of the training rows, their entries weighed."""
        if self.entry_values == "presence":
            rows = _with_values(rows, np.ones(rows.n_entries))
        elif self.entry_values == "log counts":
            rows = _with_values(rows, np.log2(1 + rows.values))
        if self.features is not None:
            rows = _with_values(rows, self.scale * _weighted(rows, self.features))
        if self.row_mass is not None:
            own = _row_masses(rows)[rows.coordinates[:, 0]]
            rows = _with_values(rows, rows.values * self.row_mass / own)
        return rows


def rarity(present: sparse.csr_array) -> Array:
    """Logarithm of one over the share of rows that have a feature; above 0 even if all do."""
    return rarity_of_counts(np.asarray(present.sum(axis=0)).ravel(), present.shape[0])


def rarity_of_counts(holding: NDArray[Any], rows: int) -> Array:
    """The same, from how many rows have each feature."""
    return np.asarray(np.log((2 + rows) / (1 + holding)))


def label_weights(present: sparse.csr_array, codes: NDArray[np.int64], power: float) -> Array:
    """How far the features' frequencies in the classes are apart, 1 for the farthest.

    For each class, the difference between its rows and the rest in standard errors; the
    largest over the classes counts. No feature falls below a tenth: it may matter together
    with others.
    """
    share = np.asarray(present.mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(share * (1 - share), 1e-9))
    apart = np.zeros(len(share))
    for code in np.unique(codes):
        inside = codes == code
        first, second = (
            np.asarray(present[rows].mean(axis=0)).ravel() for rows in (inside, ~inside)
        )
        error = spread * np.sqrt(1 / inside.sum() + 1 / (~inside).sum())
        apart = np.maximum(apart, np.abs(first - second) / error)
    return np.asarray(np.maximum(apart / max(float(apart.max()), 1e-9), MIN_WEIGHT) ** power)


def _feature_weights(
    rows: SparseTensor, spec: ModelSpec, codes: NDArray[np.int64] | None
) -> Array | None:
    if spec.feature_weighting == "none":
        return None
    present = indicators(rows)
    weights = np.ones(present.shape[1])
    if "rarity" in spec.feature_weighting:
        weights *= rarity(present)
    if "outcome" in spec.feature_weighting:
        if codes is None:
            raise refuse(
                "labels-missing",
                "Features cannot be weighed by an outcome that is not there",
                "feature_weighting",
                f"{spec.feature_weighting!r} and no outcome",
                "Give the data an outcome, or choose 'none' or 'rarity'.",
                kind=InvalidData,
            )
        known = codes >= 0
        seen = present if known.all() else present[np.flatnonzero(known)]
        weights *= label_weights(seen, codes[known], spec.outcome_power)
    return weights


def _weighted(rows: SparseTensor, weights: Array) -> Array:
    """Each value times the weights of its features."""
    by_mode = np.split(weights, np.cumsum(rows.shape[1:])[:-1])
    parts = [weight[rows.coordinates[:, mode]] for mode, weight in enumerate(by_mode, start=1)]
    return np.asarray(rows.values * np.prod(parts, axis=0))


def _with_values(tensor: SparseTensor, values: Array) -> SparseTensor:
    return SparseTensor(tensor.modes, tensor.coordinates, values)


def _row_masses(tensor: SparseTensor) -> Array:
    rows = tensor.coordinates[:, 0]
    return np.asarray(np.bincount(rows, weights=tensor.values, minlength=tensor.shape[0]))
