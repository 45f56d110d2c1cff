"""The memory of a fit, predicted from its arguments and from numbers alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reference.known_problems import random_problem

from swiftcore import SparseTensor, Swift
from swiftcore.swift.memory import fit_memory
from swiftcore.tensor import TensorSize
from swiftcore.transport.limits import BLOCK, MAX_EXPONENT, MAX_NEWTON, TILE

TENSOR, COSTS, _ = random_problem(1, (8, 6, 5), 3, 0.2, True)
LARGE = TensorSize((4000, 100, 100), 50_000, (7_000, 45_000, 45_000), (40, 10, 10))
RANK = 20
SETTINGS: dict[str, Any] = {"dtype": "float32", "n_jobs": 2, "exponents": (10.0, 10.0, 10.0)}


def test_it_grows_with_what_it_should() -> None:
    small = Swift(3, n_jobs=1).estimate_memory(TENSOR, COSTS)
    double = Swift(3, n_jobs=1, dtype="float64").estimate_memory(TENSOR, COSTS)
    still = Swift(3, n_jobs=1).estimate_memory(TENSOR, [None, None, None])
    kept = 8 * (36 + 25)  # the model's own copy of the costs of its features
    assert small.kernels == 4 * (64 + 36 + 25) + kept
    assert double.kernels == 8 * (64 + 36 + 25) + kept
    assert still.kernels == 0
    assert Swift(6, n_jobs=1).estimate_memory(TENSOR, COSTS).working > small.working
    assert small.total == small.kernels + small.entries + small.working


@pytest.mark.parametrize("sharpness", [2.0, 10.0, 1000.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fixed", [(), (0,), (1, 2)])
def test_numbers_alone_give_the_same(sharpness: float, dtype: str, fixed: tuple[int, ...]) -> None:
    costs = [None if mode in fixed else cost for mode, cost in enumerate(COSTS)]
    model = Swift(3, n_jobs=2, sharpness=sharpness, dtype=dtype)
    assert model.estimate_memory(TENSOR, costs) == fit_memory(
        TensorSize.of(TENSOR),
        3,
        dtype=dtype,
        n_jobs=2,
        exponents=[None if cost is None else sharpness * cost.max() for cost in costs],
    )


def test_a_sharp_column_needs_its_shares_and_up_to_a_size_newtons_copy() -> None:
    def block(exponent: float, longest: int) -> int:
        size = replace(LARGE, longest=(longest, 0, 0))
        chosen = {**SETTINGS, "exponents": (exponent, None, None)}
        with_block = fit_memory(size, RANK, **{**chosen, "n_jobs": 1})
        without = fit_memory(size, RANK, **{**chosen, "n_jobs": 0})
        return with_block.working - without.working - 4 * BLOCK * RANK

    assert block(MAX_EXPONENT, 4000) == 4 * BLOCK * TILE
    assert block(2 * MAX_EXPONENT, 1) == 4 * BLOCK * 4000
    assert block(2 * MAX_EXPONENT, MAX_NEWTON) == 4 * 2 * MAX_NEWTON * 4000
    assert block(2 * MAX_EXPONENT, MAX_NEWTON + 1) == 4 * (MAX_NEWTON + 1) * 4000


def test_a_sharp_fit_in_float64_works_on_the_costs_as_they_are() -> None:
    sharp = {**SETTINGS, "exponents": (2 * MAX_EXPONENT,) * 3}
    kept = 8 * 2 * 100**2
    assert fit_memory(LARGE, RANK, **{**sharp, "dtype": "float64"}).kernels == kept
    assert fit_memory(LARGE, RANK, **sharp).kernels == 4 * (4000**2 + 2 * 100**2) + kept


def test_a_long_column_is_seen_in_the_tensor() -> None:
    """One column of 300 nonzeros: at a high sharpness its shares are the largest part."""
    places = np.column_stack([np.arange(300), np.zeros(300, dtype=int)])
    tensor = SparseTensor.from_coordinates(places, np.ones(300), (300, 2))
    costs = [1.0 - np.eye(300), 1.0 - np.eye(2)]
    blunt, sharp = (
        Swift(2, n_jobs=1, sharpness=rho).estimate_memory(tensor, costs) for rho in (10.0, 1000.0)
    )
    assert sharp.working - blunt.working == 4 * 300 * (2 * 300 - BLOCK)


def test_the_formula_comes_without_the_compiler() -> None:
    code = (
        "import sys, swiftcore.evaluation.methods.memory_need; "
        "print(sorted({'numba', 'sklearn', 'streamlit', 'pandas'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "[]", answer.stdout + answer.stderr
