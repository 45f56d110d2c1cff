"""The factor update against the referee's, from converged transport."""

from __future__ import annotations

import numpy as np
import pytest
from reference.dense_swift import joint_step, projection_step, reconstruct
from reference.known_problems import random_problem
from support.settled import BEYOND, PAPER_GRID, settle

from swiftcore.swift.factor_update import extrapolate, normalize, update_factors, update_rows

SHAPES = [(7, 6), (6, 5, 4), (4, 3, 3, 3)]
SOME_PAIRS = [(0.1, 10.0), (1.0, 10.0), (10.0, 100.0), (10.0, 1000.0)]
TOLERANCE = {"float64": 1e-8, "float32": 1e-4}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("lam", "rho"), PAPER_GRID + BEYOND)
def test_joint_step_is_the_referees(lam: float, rho: float, dtype: str) -> None:
    tensor, costs, factors = random_problem(7, (6, 5, 4), 3, 0.3, True)
    settled = settle(tensor, costs, factors, rho, lam, dtype)
    step = update_factors(settled.factors, settled.numerators, range(3))
    wanted = joint_step(tensor.to_dense(), factors, costs, rho, lam)
    for got, right in zip(settled.in_units_of_data(step), wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lam", "rho"), SOME_PAIRS)
@pytest.mark.parametrize("counts", [False, True])
def test_joint_step_for_any_number_of_modes(
    shape: tuple[int, ...], lam: float, rho: float, counts: bool
) -> None:
    tensor, costs, factors = random_problem(8, shape, 2, 0.25, counts)
    settled = settle(tensor, costs, factors, rho, lam)
    step = update_factors(settled.factors, settled.numerators, range(len(shape)))
    wanted = joint_step(tensor.to_dense(), factors, costs, rho, lam)
    for got, right in zip(settled.in_units_of_data(step), wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lam", "rho"), SOME_PAIRS)
def test_three_steps_of_the_rows_alone_are_the_referees(
    shape: tuple[int, ...], lam: float, rho: float, dtype: str
) -> None:
    tensor, costs, factors = random_problem(9, shape, 2, 0.3, True)
    wanted, mine = factors, factors
    for _ in range(3):
        wanted = projection_step(tensor.to_dense(), wanted, costs, rho, lam)
        settled = settle(tensor, costs, mine, rho, lam, dtype)
        rows = update_rows(settled.factors, settled.numerators[0])
        mine = settled.in_units_of_data([rows, *settled.factors[1:]])
    np.testing.assert_allclose(mine[0], wanted[0], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize(("lam", "rho"), SOME_PAIRS)
def test_projection_step_is_the_referees(lam: float, rho: float) -> None:
    tensor, costs, factors = random_problem(10, (6, 5, 4), 3, 0.3, True)
    settled = settle(tensor, costs, factors, rho, lam)
    step = update_factors(settled.factors, settled.numerators, [0])
    wanted = projection_step(tensor.to_dense(), factors, costs, rho, lam)
    np.testing.assert_allclose(settled.in_units_of_data(step)[0], wanted[0], rtol=1e-8)
    for mode in (1, 2):
        np.testing.assert_array_equal(step[mode], settled.factors[mode])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_zeros_stay_and_a_dead_component_stays_dead(rho: float, dtype: str) -> None:
    tensor, costs, factors = random_problem(11, (6, 5, 4), 3, 0.3, True)
    factors[0][:, 2] = 0.0
    factors[1][1, 0] = 0.0
    factors[2][3] = 0.0
    settled = settle(tensor, costs, factors, rho, 1.0, dtype)
    step = update_factors(settled.factors, settled.numerators, range(3))
    wanted = joint_step(tensor.to_dense(), factors, costs, rho, 1.0)
    for mode, got in enumerate(settled.in_units_of_data(step)):
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got[:, :2], wanted[mode][:, :2], rtol=TOLERANCE[dtype])
    assert not step[0][:, 2].any()
    assert step[1][1, 0] == 0
    assert not step[2][3].any()


def test_same_model_with_the_weight_in_the_first_free_mode() -> None:
    _, _, factors = random_problem(1, (5, 4, 3), 2, 0.3, True)
    scaled = normalize(factors, range(3))
    np.testing.assert_allclose(reconstruct(scaled), reconstruct(factors))
    np.testing.assert_allclose(scaled[1].sum(axis=0), 1.0)
    np.testing.assert_allclose(scaled[2].sum(axis=0), 1.0)
    alone = normalize(factors, [0])
    for got, given in zip(alone, factors, strict=True):
        np.testing.assert_allclose(got, given)


def test_momentum_goes_on_in_logarithms() -> None:
    """From 1 to 2 and on by half a step in logs: 2 * sqrt(2); never by more than tenfold."""
    before = [np.ones((2, 1)), np.full((2, 1), 0.5)]
    now = [np.array([[2.0], [1e6]]), np.full((2, 1), 0.5)]
    extrapolated = extrapolate(now, before, 0.5, [0])
    np.testing.assert_allclose(extrapolated[0], [[2.0 * np.sqrt(2)], [1e6 * np.sqrt(10)]])
    np.testing.assert_array_equal(extrapolated[1], now[1])
