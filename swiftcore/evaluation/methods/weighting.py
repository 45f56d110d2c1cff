"""What may be done to the entries of a fold's rows before they are factorized."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.tensor import SparseTensor

MIN_WEIGHT = 0.1  # of a feature that says nothing about the labels
Tensors = Mapping[str, SparseTensor]


def equal_rows(tensors: Tensors) -> Tensors:
    """The same parts with the training rows' mean mass in every row that has any."""
    usual = float(_row_masses(tensors["train"]).mean())
    return {
        part: _with_values(
            tensor, tensor.values * usual / _row_masses(tensor)[tensor.coordinates[:, 0]]
        )
        for part, tensor in tensors.items()
    }


def weigh_features(tensors: Tensors, weights: NDArray[np.float64]) -> Tensors:
    """All parts with each entry times the weights of its features; the mean training value stays.

    Parameters
    ----------
    weights : ndarray
        One per feature, those of the first feature mode first.
    """
    train = tensors["train"]
    by_mode = np.split(weights, np.cumsum(train.shape[1:])[:-1])

    def values(tensor: SparseTensor) -> NDArray[np.float64]:
        parts = [weight[tensor.coordinates[:, mode]] for mode, weight in enumerate(by_mode, 1)]
        return np.asarray(tensor.values * np.prod(parts, axis=0))

    scale = train.values.mean() / values(train).mean()
    return {part: _with_values(tensor, scale * values(tensor)) for part, tensor in tensors.items()}


def rarity(present: sparse.csr_array) -> NDArray[np.float64]:
    """Logarithm of one over the share of rows that have a feature; above 0 even if all do."""
    holding = np.asarray(present.sum(axis=0)).ravel()
    return np.asarray(np.log((2 + present.shape[0]) / (1 + holding)))


def label_weights(
    present: sparse.csr_array, codes: NDArray[np.int64], power: float
) -> NDArray[np.float64]:
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


def presence(tensors: Tensors) -> Tensors:
    """The same parts with 1 for every entry, however large it was."""
    return {
        part: _with_values(tensor, np.ones(tensor.n_entries)) for part, tensor in tensors.items()
    }


def _with_values(tensor: SparseTensor, values: NDArray[np.float64]) -> SparseTensor:
    return SparseTensor(tensor.modes, tensor.coordinates, values)


def _row_masses(tensor: SparseTensor) -> NDArray[np.float64]:
    rows = tensor.coordinates[:, 0]
    return np.asarray(np.bincount(rows, weights=tensor.values, minlength=tensor.shape[0]))
