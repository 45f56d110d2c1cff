"""How many work at it, and how, changes no bit of the result."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from reference.known_problems import random_cost, random_problem

from swiftcore import SparseTensor, Swift
from swiftcore.runtime.workers import Workers, _even_bundles

SMALL, SMALL_COSTS, SMALL_FACTORS = random_problem(1, (20, 8, 6), 3, 0.1, True)


def larger() -> tuple:
    """Several tasks per mode."""
    random = np.random.default_rng(0)
    shape = (300, 60, 50)
    places = np.column_stack([random.integers(0, size, 6000) for size in shape])
    tensor = SparseTensor.from_coordinates(places, random.integers(1, 4, 6000), shape=shape)
    return tensor, [random_cost(random, size) for size in shape]


def factors_of(tensor, costs, n_jobs, start=None, **settings) -> list[np.ndarray]:
    settings = {"random_state": 0, "max_iterations": 3, "tolerance": 0} | settings
    model = Swift(3, n_jobs=n_jobs, **settings)
    return model.fit(tensor, costs, initial_factors=start).factors_


def assert_identical(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("still", [False, True])
def test_workers_change_no_bit(dtype: str, still: bool) -> None:
    tensor, costs = larger()
    costs = [None, *costs[1:]] if still else costs
    one = factors_of(tensor, costs, 1, dtype=dtype)
    for n_jobs in (2, 3, 4, None):
        assert_identical(one, factors_of(tensor, costs, n_jobs, dtype=dtype))


def test_workers_change_no_bit_in_logarithms() -> None:
    one = factors_of(SMALL, SMALL_COSTS, 1, sharpness=1000.0)
    for n_jobs in (2, 3, 4):
        assert_identical(one, factors_of(SMALL, SMALL_COSTS, n_jobs, sharpness=1000.0))


def test_workers_change_no_bit_of_a_projection() -> None:
    models = [
        Swift(3, n_jobs=n, random_state=0, max_iterations=5).fit(SMALL, SMALL_COSTS) for n in (1, 3)
    ]
    for independent in (False, True):
        assert_identical(*([model.transform(SMALL, independent=independent)] for model in models))


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["1M", "1K"])
def test_processes_change_no_bit(limit: str) -> None:
    """With 1K nearly every array reaches the processes as a read-only map, as large ones do."""
    for sharpness in (10.0, 1000.0):  # by the same processes: starting them takes longest
        one = factors_of(SMALL, SMALL_COSTS, 1, start=SMALL_FACTORS, sharpness=sharpness)
        with joblib.parallel_config(backend="loky", n_jobs=2, max_nbytes=limit):
            two = factors_of(SMALL, SMALL_COSTS, None, start=SMALL_FACTORS, sharpness=sharpness)
        assert_identical(one, two)


def test_surrounding_configuration_is_heard() -> None:
    with joblib.parallel_config(n_jobs=3), Workers(None) as workers:
        assert workers.n_jobs == 3
    with Workers(None) as workers:
        assert workers.n_jobs == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=1), Workers(None) as workers:
        assert workers.n_jobs == 1
    with Workers(2) as workers:
        assert workers.n_jobs == 2


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_back_in_order(n_jobs: int) -> None:
    with Workers(n_jobs) as workers:
        work = [float((7 * i) % 5) for i in range(20)]
        assert workers.run(pow, [(i, 2) for i in range(20)], work) == [i * i for i in range(20)]
        assert workers.run(pow, [], []) == []


def test_an_error_in_a_task_reaches_the_caller() -> None:
    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        workers.run(divmod, [(1, 1), (1, 0), (2, 1)], [1.0, 1.0, 1.0])


def test_bundles_hold_every_task_once_and_are_even() -> None:
    random = np.random.default_rng(0)
    work = random.random(101).tolist()
    bundles = _even_bundles(work, 4)
    assert sorted(index for bundle in bundles for index in bundle) == list(range(101))
    loads = [sum(work[index] for index in bundle) for bundle in bundles]
    assert max(loads) - min(loads) <= max(work)
