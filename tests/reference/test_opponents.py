"""What speed is compared with must itself be right: same problem, same start, same factors."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.direct_wasserstein import estimate_memory, fit_direct_wasserstein
from benchmarks.paper_dense import PaperDense, fit_paper_dense
from swiftcore.errors import InvalidData, NotEnoughMemory

from .dense_swift import sequential_step
from .known_problems import random_problem


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(9, 7), (8, 6, 5), (4, 4, 3, 3)])
def test_the_paper_in_numpy_agrees_with_the_referee(shape: tuple[int, ...], threads: int) -> None:
    tensor, costs, factors = random_problem(1, shape, rank=3, density=0.2, counts=True)
    problem = PaperDense(tensor, costs, 10.0, 1.0, sweeps=600, threads=threads)
    theirs = expected = factors
    for _ in range(3):
        theirs = problem.step(theirs)
        expected = sequential_step(tensor.to_dense(), expected, costs, 10.0, 1.0)
    for mine, other in zip(theirs, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-11)


def test_float32_stays_near_float64() -> None:
    tensor, costs, factors = random_problem(2, (8, 6, 5), rank=3, density=0.2, counts=False)
    single, _ = fit_paper_dense(tensor, costs, factors, 10.0, 1.0, 3, dtype=np.float32)
    double, seconds = fit_paper_dense(tensor, costs, factors, 10.0, 1.0, 3)
    assert len(seconds) == 3
    for narrow, wide in zip(single, double, strict=True):
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, wide, rtol=1e-4)


@pytest.mark.parametrize("shape", [(8, 6, 5), (5, 9, 7)])
def test_the_direct_method_returns_the_same_solution(shape: tuple[int, ...]) -> None:
    """The paper says so of it; zero columns, which only the direct method visits, included."""
    tensor, costs, factors = random_problem(1, shape, rank=3, density=0.1, counts=True)
    assert np.any(tensor.to_dense().sum(axis=0) == 0)
    short, _ = fit_paper_dense(tensor, costs, factors, 10.0, 1.0, 5)
    long, _ = fit_direct_wasserstein(tensor, costs, factors, 10.0, 1.0, 5, 10**9)
    for one, other in zip(short, long, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def test_the_direct_method_refuses_what_does_not_fit() -> None:
    tensor, costs, factors = random_problem(1, (8, 6, 5), rank=3, density=0.1, counts=True)
    needed = estimate_memory(tensor.shape, 3)
    with pytest.raises(NotEnoughMemory) as refusal:
        fit_direct_wasserstein(tensor, costs, factors, 10.0, 1.0, 1, needed - 1)
    assert refusal.value.problems[0].code == "direct-memory"
    # the size at which the paper's own direct implementation ran out of memory
    assert estimate_memory((1250, 100, 100), 40) > 10e9
    flat, flat_costs, flat_factors = random_problem(1, (8, 6), rank=3, density=0.1, counts=True)
    with pytest.raises(InvalidData):
        fit_direct_wasserstein(flat, flat_costs, flat_factors, 10.0, 1.0, 1, 10**9)
