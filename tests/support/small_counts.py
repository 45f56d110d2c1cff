"""A small tensor of counts, and one start from which every baseline and its library set out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyttb import ktensor, sptensor

from swiftcore import SparseTensor
from swiftcore.baselines.solvers.sparse_cp import random_factors

Array = NDArray[np.float64]
SHAPE, RANK = (30, 12, 10), 3
FEATURES_FIRST = [1, 2, 0]  # the order in which a sweep goes through the modes


def make_tensor() -> SparseTensor:
    rng = np.random.default_rng(5)
    mean = np.einsum("ir,jr,kr->ijk", *[rng.gamma(0.4, size=(size, RANK)) for size in SHAPE])
    counts = rng.poisson(400 * mean / mean.sum())
    places = np.argwhere(counts)
    return SparseTensor.from_coordinates(places, counts[tuple(places.T)], SHAPE)


TENSOR = make_tensor()
DENSE = TENSOR.to_dense()
START = random_factors(TENSOR, RANK, np.random.default_rng(8))


def full(factors: Any) -> Array:
    return np.einsum("ir,jr,kr->ijk", *factors)


def from_start(method: Any, **settings: Any) -> Any:
    """The method fitted from START instead of its own start."""

    class FromStart(method):  # type: ignore[misc]
        def _start(self, tensor: SparseTensor, rng: np.random.Generator) -> list[Array]:
            return [factor.copy() for factor in START]

    return FromStart(RANK, **settings)


def as_ktensor(order: list[int]) -> Any:
    return ktensor([np.asfortranarray(START[mode]) for mode in order])


def as_sptensor(order: list[int]) -> Any:
    shape = tuple(SHAPE[mode] for mode in order)
    return sptensor(TENSOR.coordinates[:, order], TENSOR.values[:, None], shape)
