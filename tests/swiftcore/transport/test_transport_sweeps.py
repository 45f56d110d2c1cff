"""Sweeps on their way: POT, exact values and gaps before rest, and both forms of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import ot
import pytest
from reference.dense_swift import objective, reconstruct
from reference.known_problems import random_cost, random_problem
from support.refereed import ALL_PAIRS, TOLERANCE, Array, check_parts, problem_of, referee
from support.settled import PAPER_GRID, make_sweeper, model_side, settle

from swiftcore.tensor import SparseTensor
from swiftcore.transport.column_task import NEWTON_TOLERANCE, ModeState
from swiftcore.transport.compiled.arguments import MASS
from swiftcore.transport.kernel import DenseKernel, LogKernel, build_kernel
from swiftcore.transport.limits import MAX_NEWTON
from swiftcore.transport.sweep import cold_state, stack_factors


@pytest.mark.filterwarnings("ignore:If reg_type = entropy")
@pytest.mark.parametrize(("lam", "rho"), PAPER_GRID[:-1])  # at the last POT itself overflows
@pytest.mark.parametrize("mode", [0, 1])
def test_single_column_agrees_with_pot(mode: int, lam: float, rho: float) -> None:
    """One nonzero column in the mode under test; the other mode keeps its mass in place."""
    random = np.random.default_rng(int(10 * lam + rho) + mode)
    size, shape = 9, [9, 9]
    shape[1 - mode] = 1
    support = np.sort(random.choice(size, 4, replace=False))
    x = np.zeros(size)
    x[support] = random.integers(1, 5, 4)
    coordinates = np.zeros((4, 2), dtype=int)
    coordinates[:, mode] = support
    tensor = SparseTensor.from_coordinates(coordinates, x[support], shape=shape)
    cost = random_cost(random, size)
    xhat = 0.1 + random.random(size)
    factors = [np.ones((1, 1)), np.ones((1, 1))]
    factors[mode] = xhat[:, None]
    costs: list[Array | None] = [None, None]
    costs[mode] = cost
    delta = model_side(settle(tensor, costs, factors, rho, lam), mode, cost).ravel()
    plan = pot_plan(xhat, x, cost, rho, lam)
    np.testing.assert_allclose(delta, plan.sum(axis=1), rtol=1e-9, atol=1e-9 * plan.sum())


def pot_plan(xhat: Array, x: Array, cost: Array, rho: float, lam: float) -> Array:
    """POT's entropy is sum T (log T - 1), the paper's sum T log T: hence cost + 1 / rho."""
    support = np.flatnonzero(x)
    plan = np.zeros((len(xhat), len(x)))
    plan[:, support] = ot.unbalanced.sinkhorn_knopp_unbalanced(
        xhat,
        x[support],
        cost[:, support] + 1.0 / rho,
        reg=1.0 / rho,
        reg_m=lam,
        reg_type="entropy",
        numItermax=200_000,
        stopThr=1e-13,
    )
    return plan


# ------------------------------------------------------------------------ before convergence


def primal(h: Sequence[Array], sweeper, factors: Sequence[Array], costs: Sequence[Array]) -> float:
    """The objective of the plans u K v with v = exp(h) and u at its best, cell by cell."""
    problem, total = sweeper.problem, 0.0
    setting = problem.settings
    rho, lam, phi = setting.sharpness, setting.marginal_weight, setting.relaxation
    model = reconstruct(factors)
    for mode, part in enumerate(problem.unfoldings):
        seen = np.zeros(model.shape, dtype=bool)
        for j in range(part.n_columns):
            entries = slice(part.starts[j], part.starts[j + 1])
            place = (slice(None), *part.column_places[j])
            np.moveaxis(seen, mode, 0)[place] = True
            xhat = np.moveaxis(model, mode, 0)[place]
            x = np.exp(problem.log_values[mode][entries])
            cost = costs[mode][:, part.rows[entries]]
            log_k = -rho * cost - problem.offset + h[mode][entries]
            log_u = phi * (np.log(xhat) - np.logaddexp.reduce(log_k, axis=1))
            log_plan = log_u[:, None] + log_k
            plan = np.exp(log_plan)
            delta, psi = plan.sum(axis=1), plan.sum(axis=0)
            total += (plan * (cost + (log_plan + problem.offset - 1.0) / rho)).sum()
            total += lam * (delta * np.log(delta / xhat) - delta + xhat).sum()
            total += lam * (psi * np.log(psi / x) - psi + x).sum()
        total += lam * model[~seen].sum()
    return problem.scale * total


def plain_sweep(
    h: Sequence[Array], sweeper, factors: Sequence[Array], costs: Sequence[Array]
) -> list[Array]:
    """Log v after one sweep as the paper has it, from log v = h, without deflation."""
    problem, model = sweeper.problem, reconstruct(factors)
    rho, phi = problem.settings.sharpness, problem.settings.relaxation
    after = [np.empty_like(one) for one in h]
    for mode, part in enumerate(problem.unfoldings):
        for j in range(part.n_columns):
            entries = slice(part.starts[j], part.starts[j + 1])
            xhat = np.moveaxis(model, mode, 0)[(slice(None), *part.column_places[j])]
            log_k = -rho * costs[mode][:, part.rows[entries]] - problem.offset
            log_u = phi * (np.log(xhat) - np.logaddexp.reduce(log_k + h[mode][entries], axis=1))
            log_ktu = np.logaddexp.reduce(log_k + log_u[:, None], axis=0)
            after[mode][entries] = phi * (problem.log_values[mode][entries] - log_ktu)
    return after


def set_log_scaling(state: ModeState, starts: Array, h: Array) -> None:
    state.log_scaling[:] = h
    state.shift[:] = np.maximum.reduceat(h, starts[:-1])
    state.scaling[:] = np.exp(h - np.repeat(state.shift, np.diff(starts)))


@pytest.mark.parametrize("sweeps", [0, 1, 3])
@pytest.mark.parametrize(("lam", "rho"), [(0.1, 10.0), (1.0, 20.0), (10.0, 50.0)])
def test_objective_is_exact_for_the_plans_at_hand(lam: float, rho: float, sweeps: int) -> None:
    """Not only at convergence: what is reported is what these plans cost."""
    tensor, costs, factors = problem_of((6, 5, 4), True)
    sweeper = make_sweeper(tensor, costs, rho, lam)
    scaled = [factors[0] / sweeper.problem.scale, *factors[1:]]
    states, stacked = cold_state(sweeper.problem), stack_factors(scaled, "float64")
    for _ in range(sweeps):
        sweeper.sweep(states, stacked)
    h = [state.log_scaling.copy() for state in states]
    sweeper.sweep(states, stacked)
    value = sweeper.value(states, scaled)
    assert value.objective == pytest.approx(primal(h, sweeper, scaled, costs), rel=1e-11)
    assert value.objective == pytest.approx(
        value.transport + lam * (value.model_divergence + value.data_divergence), rel=1e-11
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("lam", "rho"), ALL_PAIRS)
def test_gap_bounds_the_optimum_at_every_sweep(lam: float, rho: float, dtype: str) -> None:
    tensor, costs, factors = problem_of((6, 5, 4), True)
    best = referee((6, 5, 4), True, lam, rho)[0].total
    slack = (1e-11 if dtype == "float64" else 1e-5) * abs(best)
    sweeper = make_sweeper(tensor, costs, rho, lam, dtype)
    scaled = [factors[0] / sweeper.problem.scale, *factors[1:]]
    states, stacked = cold_state(sweeper.problem), stack_factors(scaled, dtype)
    for _ in range(6):
        sweeper.sweep(states, stacked, gather=False)
        value = sweeper.value(states, scaled)
        assert value.gap >= 0
        assert value.objective - value.gap - slack <= best <= value.objective + slack


@pytest.mark.parametrize(("lam", "rho"), [(1.0, 10.0), (10.0, 50.0), (10.0, 1000.0)])
def test_deflation_changes_the_way_and_not_the_end(lam: float, rho: float) -> None:
    tensor, costs, factors = problem_of((6, 5, 4), True)
    cheap = [cost * 2.0 / rho for cost in costs]  # blunt enough for plain sweeps
    sweeper = make_sweeper(tensor, cheap, rho, lam)
    assert all(isinstance(kernel, DenseKernel) for kernel in sweeper.problem.kernels)
    scaled = [factors[0] / sweeper.problem.scale, *factors[1:]]
    stacked = stack_factors(scaled, "float64")
    gaps = {}
    for deflated in (True, False):
        states = cold_state(sweeper.problem)
        for _ in range(15):
            plain = plain_sweep([state.log_scaling for state in states], sweeper, scaled, cheap)
            sweeper.sweep(states, stacked, gather=False)
            for state, part, h in zip(states, sweeper.problem.unfoldings, plain, strict=True):
                if not deflated:
                    set_log_scaling(state, part.starts, h)
        gaps[deflated] = sweeper.value(states, scaled).gap
    assert gaps[True] < 1e-3 * gaps[False]


def test_columns_with_one_nonzero_settle_in_one_sweep() -> None:
    places = np.column_stack([np.arange(5), np.arange(5)])
    tensor = SparseTensor.from_coordinates(places, np.arange(1, 6), shape=(5, 5))
    _, costs, factors = random_problem(0, (5, 5), 2, 0.5, True)
    sweeper = make_sweeper(tensor, costs, 10.0, 10.0)
    scaled = [factors[0] / sweeper.problem.scale, *factors[1:]]
    states, stacked = cold_state(sweeper.problem), stack_factors(scaled, "float64")
    sweeper.sweep(states, stacked, gather=False)
    sweeper.sweep(states, stacked, gather=False)
    value = sweeper.value(states, scaled)
    assert value.gap <= 1e-13 * value.objective


# --------------------------------------------------------------------------- kernel and tasks


def test_kernel_form_follows_the_exponent() -> None:
    cost = 1.0 - np.eye(4)
    assert isinstance(build_kernel(cost, 60.0, "float32"), DenseKernel)
    assert isinstance(build_kernel(cost, 60.1, "float32"), LogKernel)
    assert isinstance(build_kernel(0.5 * cost, 120.0, "float64"), DenseKernel)


@pytest.mark.parametrize("size", [1, 511, 512, 513, 1200])
def test_the_kernel_is_whole(size: int) -> None:
    """It is computed strip by strip; no strip may be missing or doubled."""
    cost = random_cost(np.random.default_rng(0), size)
    kernel = build_kernel(cost, 2.0, "float32")
    assert isinstance(kernel, DenseKernel)
    np.testing.assert_allclose(kernel.matrix, np.exp(-2.0 * cost), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sweeps_and_newton_steps_find_the_same(dtype: str) -> None:
    """A larger mode by its kernel and by logarithms: two ways, one answer."""
    random = np.random.default_rng(0)
    shape = (301, 13)
    places = np.column_stack([random.integers(0, size - 1, 500) for size in shape])
    tensor = SparseTensor.from_coordinates(places, np.ones(500), shape=shape)
    factors = [0.1 + random.random((size, 3)) for size in shape]
    factors[0] *= 500 / (factors[0].sum(axis=0) * factors[1].sum(axis=0)).sum()
    near = [0.3 * random_cost(random, size) for size in shape]
    far = [cost.copy() for cost in near]
    for factor, cost in zip(factors, far, strict=True):  # the last index is nowhere in use:
        factor[-1] = 0.0  # its distance decides the form of the kernel and nothing else
        cost[-1, :-1] = cost[:-1, -1] = 0.7
    swept = settle(tensor, near, factors, 100.0, 0.1, dtype)
    logs = settle(tensor, far, factors, 100.0, 0.1, dtype)
    assert isinstance(swept.sweeper.problem.kernels[0], DenseKernel)
    assert isinstance(logs.sweeper.problem.kernels[0], LogKernel)
    tolerance = TOLERANCE[dtype]
    assert swept.value.objective == pytest.approx(logs.value.objective, rel=tolerance)
    for got, right in zip(swept.numerators, logs.numerators, strict=True):
        np.testing.assert_allclose(got, right, rtol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_long_columns_in_logs(dtype: str) -> None:
    """More nonzeros in a column than Newton's full matrix takes; still solved, if slowly."""
    random = np.random.default_rng(1)
    size = MAX_NEWTON + 8
    places = np.column_stack([np.arange(size), np.zeros(size, dtype=int)])
    tensor = SparseTensor.from_coordinates(places, random.integers(1, 4, size), shape=(size, 1))
    line = np.sort(random.random(size))
    costs = [np.abs(line[:, None] - line), None]
    factors = [0.5 + random.random((size, 2)), np.ones((1, 2))]
    sweeper = make_sweeper(tensor, costs, 100.0, 1.0, dtype)
    states, stacked = cold_state(sweeper.problem), stack_factors(factors, dtype)
    for _ in range(20):
        sweeper.sweep(states, stacked, gather=False)
    value, problem = sweeper.value(states, factors), sweeper.problem
    plan_and_data = states[0].sums[:, MASS].sum() + problem.mass
    assert 0 < value.gap <= NEWTON_TOLERANCE * problem.scale * plan_and_data


@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_a_mode_that_stays_put_is_the_limit_of_dear_moves(rho: float) -> None:
    """Cost None = no mass moves: the referee gets moves at a price nobody pays."""
    tensor, costs, factors = problem_of((6, 5, 4), True)
    still = settle(tensor, [None, *costs[1:]], factors, rho, 1.0)
    dear = [1e4 * (1.0 - np.eye(6)), *costs[1:]]
    wanted = objective(tensor.to_dense(), factors, dear, rho, 1.0)
    check_parts(still.value, wanted, rho, 1.0, 1e-8)
