"""The loop: the objective falls, bounds are true, endings are told apart."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from reference.dense_swift import objective
from reference.known_problems import random_problem
from support.settled import BEYOND, PAPER_GRID

from swiftcore import FitOutcome, FitProgress, Swift

SLACK = {"float64": 1e-9, "float32": 1e-4}


@pytest.mark.parametrize("momentum", [0.0, 0.8])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("lam", "rho"), PAPER_GRID + BEYOND)
def test_objective_never_rises_and_its_bounds_are_true(
    lam: float, rho: float, dtype: str, momentum: float
) -> None:
    tensor, costs, factors = random_problem(1, (8, 6, 5), 3, 0.15, True)
    model = Swift(
        3, sharpness=rho, marginal_weight=lam, dtype=dtype, momentum=momentum, tolerance=0, n_jobs=1
    ).fit(tensor, costs, initial_factors=factors)
    values = np.array([entry.objective for entry in model.history_])
    assert np.isfinite(values).all()
    assert np.all(np.diff(values) <= 0)
    assert values[-1] < values[0]
    assert all(entry.gap >= 0 for entry in model.history_)
    assert model.objective_ == values[-1]
    last = model.history_[-1]
    best = objective(tensor.to_dense(), model.factors_, costs, rho, lam).total
    slack = SLACK[dtype] * (abs(best) + lam * tensor.values.sum())
    assert last.objective - last.gap - slack <= best <= last.objective + slack


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_parts_add_up_at_every_iteration(dtype: str) -> None:
    tensor, costs, _ = random_problem(1, (8, 6, 5), 3, 0.15, True)
    model = Swift(3, marginal_weight=2.0, random_state=0, dtype=dtype, n_jobs=1).fit(tensor, costs)
    for entry in model.history_:
        parts = entry.transport + 2.0 * (entry.model_divergence + entry.data_divergence)
        assert parts == pytest.approx(entry.objective, rel=1e-9 if dtype == "float64" else 1e-4)
        assert entry.model_divergence >= 0 and entry.data_divergence >= 0


def test_momentum_is_worth_its_name() -> None:
    tensor, costs, factors = random_problem(2, (20, 10, 8), 4, 0.1, False)
    ends = [
        Swift(4, momentum=momentum, tolerance=0, n_jobs=1)
        .fit(tensor, costs, initial_factors=factors)
        .objective_
        for momentum in (0.0, 0.8)
    ]
    assert ends[1] < ends[0]


def test_outcomes() -> None:
    tensor, costs, factors = random_problem(2, (8, 6, 5), 2, 0.3, False)

    def fit(callback=None, **settings) -> Swift:
        model = Swift(2, n_jobs=1, **{"sharpness": 10.0, **settings})
        return model.fit(tensor, costs, initial_factors=factors, callback=callback)

    short = fit(max_iterations=2, tolerance=0)
    assert short.outcome_ is FitOutcome.ITERATION_LIMIT
    assert (short.n_iterations_, len(short.history_)) == (2, 3)
    none = fit(max_iterations=0)
    assert (none.outcome_, none.n_iterations_) == (FitOutcome.ITERATION_LIMIT, 0)
    done = fit(max_iterations=2000, tolerance=1e-4)
    assert done.outcome_ is FitOutcome.CONVERGED
    assert done.n_iterations_ < 2000
    values = [entry.objective for entry in done.history_]
    assert values[-2] - values[-1] <= 1e-4 * abs(values[-1])
    stopped = fit(lambda progress: progress.iteration == 3, tolerance=0)
    assert (stopped.outcome_, stopped.n_iterations_) == (FitOutcome.STOPPED, 3)
    at_once = fit(lambda progress: True)
    assert (at_once.outcome_, at_once.n_iterations_) == (FitOutcome.STOPPED, 0)


def test_a_stopped_fit_keeps_the_iteration_it_was_at() -> None:
    tensor, costs, factors = random_problem(2, (8, 6, 5), 2, 0.3, False)
    stopped = Swift(2, n_jobs=1, tolerance=0).fit(
        tensor, costs, initial_factors=factors, callback=lambda progress: progress.iteration == 4
    )
    limited = Swift(2, n_jobs=1, tolerance=0, max_iterations=4).fit(
        tensor, costs, initial_factors=factors
    )
    for one, other in zip(stopped.factors_, limited.factors_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_callback_sees_the_whole_history_in_order() -> None:
    tensor, costs, _ = random_problem(2, (8, 6, 5), 2, 0.3, False)
    seen: list[FitProgress] = []
    model = Swift(2, n_jobs=1, max_iterations=7, tolerance=0, random_state=0)
    model.fit(tensor, costs, callback=seen.append)
    assert tuple(seen) == model.history_
    assert [entry.iteration for entry in seen] == list(range(len(seen)))
    assert all(entry.max_iterations == 7 for entry in seen)
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))


def test_fit_is_stationary_where_it_says_converged() -> None:
    """A plain step from the end must not find anything worth having."""
    tensor, costs, factors = random_problem(2, (8, 6, 5), 2, 0.3, False)
    model = Swift(2, n_jobs=1, dtype="float64", tolerance=1e-8, max_iterations=5000)
    model.fit(tensor, costs, initial_factors=factors)
    assert model.outcome_ is FitOutcome.CONVERGED
    more = Swift(2, n_jobs=1, dtype="float64", tolerance=0, momentum=0.0, max_iterations=20)
    more.fit(tensor, costs, initial_factors=model.factors_)
    assert model.objective_ - more.objective_ <= 1e-5 * abs(model.objective_)
