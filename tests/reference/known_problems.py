"""Small problems to test with: a sparse tensor, one cost matrix per mode, a start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.tensor import SparseTensor

Array = NDArray[np.float64]


def random_cost(random: np.random.Generator, size: int) -> Array:
    """A symmetric matrix with zero diagonal and entries in [0, 1]."""
    above = np.triu(random.random((size, size)), 1)
    return above + above.T


def random_problem(
    seed: int, shape: Sequence[int], rank: int, density: float, counts: bool
) -> tuple[SparseTensor, list[Array], list[Array]]:
    """A random sparse tensor, random costs and random positive factors of the same mass.

    Parameters
    ----------
    seed : int
    shape : sequence of int
        Two sizes or more.
    rank : int
        Columns of the factors.
    density : float
        Share of the cells that hold a value (at least one does). Low densities leave whole
        slices and columns empty, which is wanted.
    counts : bool
        Whole numbers from 1 to 9 if true, otherwise ones.

    Returns
    -------
    tensor, costs, factors
    """
    random = np.random.default_rng(seed)
    n_cells = int(np.prod(shape))
    n_entries = max(1, round(density * n_cells))
    cells = random.choice(n_cells, n_entries, replace=False)
    coordinates = np.stack(np.unravel_index(cells, tuple(shape)), axis=1)
    values = random.integers(1, 10, n_entries) if counts else np.ones(n_entries)
    tensor = SparseTensor.from_coordinates(coordinates, values, shape=shape)
    costs = [random_cost(random, size) for size in shape]
    factors = [0.1 + random.random((size, rank)) for size in shape]
    mass = np.prod([factor.sum(axis=0) for factor in factors], axis=0).sum()
    factors[0] *= tensor.values.sum() / mass
    return tensor, costs, factors
