"""Small problems and what the dense referee says of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from reference.dense_swift import marginals, objective
from reference.known_problems import random_problem

from support.settled import BEYOND, PAPER_GRID

Array = NDArray[np.float64]
ALL_PAIRS = PAPER_GRID + BEYOND
SHAPES = [(7, 6), (6, 5, 4), (4, 3, 3, 3)]
TOLERANCE = {"float64": 1e-8, "float32": 1e-4}


@cache
def problem_of(shape: tuple[int, ...], counts: bool) -> tuple:
    return random_problem(3, shape, 3, 0.3, counts)


@cache
def referee(shape: tuple[int, ...], counts: bool, lam: float, rho: float) -> tuple:
    tensor, costs, factors = problem_of(shape, counts)
    dense = tensor.to_dense()
    return objective(dense, factors, costs, rho, lam), marginals(dense, factors, costs, rho, lam)[0]


def check_parts(value, wanted, rho: float, lam: float, tolerance: float) -> None:
    size = abs(wanted.total) + wanted.transport + lam * (wanted.kl_model + wanted.kl_data)
    parts = (
        (value.objective, wanted.total),
        (value.transport, wanted.transport - wanted.entropy / rho),
        (lam * value.model_divergence, lam * wanted.kl_model),
        (lam * value.data_divergence, lam * wanted.kl_data),
    )
    for got, right in parts:
        assert abs(got - right) <= tolerance * size
    assert value.objective == pytest.approx(
        value.transport + lam * (value.model_divergence + value.data_divergence),
        abs=tolerance * size,
    )
