"""The referee is itself judged: by POT, by the optimality conditions and by closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import ot  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray
from scipy.special import entr

from .dense_swift import (
    divergence,
    joint_step,
    log_kernel,
    log_scalings,
    marginals,
    objective,
    projection_step,
    reconstruct,
    relaxation,
    sequential_step,
    solve_column,
)
from .known_problems import random_cost, random_problem

Array = NDArray[np.float64]
PAPER_GRID = [
    (marginal_weight, sharpness)
    for marginal_weight in (0.1, 1.0, 10.0)
    for sharpness in (10.0, 20.0, 50.0, 100.0, 1000.0)
]
BEYOND = [(0.1, 1e5), (1.0, 1e5), (10.0, 1e5)]
SHAPES = [(9, 7), (8, 6, 5), (4, 4, 3, 3)]


def random_column(seed: int, size: int = 12) -> tuple[Array, Array, Array]:
    """A model column, a sparse data column (about half zeros) and a cost matrix."""
    random = np.random.default_rng(seed)
    xhat = random.random(size) * 10.0 ** random.integers(-4, 2, size)
    x = random.integers(0, 4, size) * random.integers(0, 2, size).astype(float)
    x[random.integers(size)] = 1.0
    return xhat, x, random_cost(random, size)


@pytest.mark.parametrize(("marginal_weight", "sharpness"), PAPER_GRID + BEYOND)
def test_scaling_equations_hold(marginal_weight: float, sharpness: float) -> None:
    phi = relaxation(sharpness, marginal_weight)
    for seed in range(5):
        xhat, x, cost = random_column(seed)
        support = x > 0
        log_u, log_v = log_scalings(xhat, x[support], cost[:, support], sharpness, marginal_weight)
        log_k = log_kernel(cost[:, support], sharpness)
        size = max(1.0, np.abs(log_u).max(), np.abs(log_v).max())
        log_kv = np.logaddexp.reduce(log_k + log_v, axis=1)
        log_ku = np.logaddexp.reduce(log_k + log_u[:, None], axis=0)
        assert np.abs(log_u - phi * (np.log(xhat) - log_kv)).max() <= 1e-12 * size
        assert np.abs(log_v - phi * (np.log(x[support]) - log_ku)).max() <= 1e-12 * size


@pytest.mark.parametrize(("marginal_weight", "sharpness"), PAPER_GRID + BEYOND)
def test_first_order_conditions_hold_on_the_plan(marginal_weight: float, sharpness: float) -> None:
    """dObjective/dT = C + (log T + 1)/rho + lambda (log Delta/xhat + log Psi/x) = 0 everywhere."""
    for seed in range(5):
        xhat, x, cost = random_column(seed)
        support = x > 0
        plan = solve_column(xhat, x, cost, sharpness, marginal_weight)
        assert np.all(plan[:, ~support] == 0)
        used, psi = plan[:, support], plan.sum(axis=0)[support]
        pull = np.log(plan.sum(axis=1) / xhat)[:, None] + np.log(psi / x[support])
        exponent = -sharpness * (cost[:, support] + marginal_weight * pull) - 1.0
        seen = used > 1e-290
        gradient = (np.log(used[seen]) - exponent[seen]) / sharpness
        # what one rounding of log v does to the gradient, a few times over
        log_v = marginal_weight * sharpness * np.log(x[support] / psi)
        tolerance = 16 * np.finfo(float).eps * (1 + marginal_weight) * (1 + np.abs(log_v).max())
        assert np.abs(gradient).max() <= tolerance
        assert np.all(exponent[~seen] < -660)  # the others are too small for a number to hold


@pytest.mark.filterwarnings("ignore:If reg_type = entropy")
@pytest.mark.parametrize(
    ("marginal_weight", "sharpness"), [(0.1, 10.0), (1.0, 10.0), (10.0, 10.0), (1.0, 50.0)]
)
def test_plans_agree_with_pot(marginal_weight: float, sharpness: float) -> None:
    for seed in range(4):
        xhat, x, cost = random_column(seed, size=8)
        xhat[3] = 0.0
        plan = solve_column(xhat, x, cost, sharpness, marginal_weight)
        theirs = ot.unbalanced.sinkhorn_knopp_unbalanced(
            xhat,
            x,
            cost + 1.0 / sharpness,
            1.0 / sharpness,
            marginal_weight,
            reg_type="entropy",
            numItermax=20_000,
            stopThr=1e-15,
        )
        assert np.abs(plan - theirs).max() <= 1e-9
        assert plan.sum() > 0.01


@pytest.mark.parametrize(("marginal_weight", "sharpness"), PAPER_GRID + BEYOND)
def test_single_cell_closed_form(marginal_weight: float, sharpness: float) -> None:
    """One row: log T + 1 + lambda rho (log T/xhat + log T/x) = 0."""
    strength = marginal_weight * sharpness
    for xhat, x in [(1.0, 1.0), (2.5, 3.0), (1e-12, 7.0)]:
        expected = np.exp((strength * np.log(xhat * x) - 1.0) / (1.0 + 2.0 * strength))
        plan = solve_column(
            np.array([xhat]), np.array([x]), np.zeros((1, 1)), sharpness, marginal_weight
        )
        np.testing.assert_allclose(plan, [[expected]], rtol=1e-12)


@pytest.mark.parametrize(("marginal_weight", "sharpness"), PAPER_GRID + BEYOND)
def test_one_nonzero_closed_form(marginal_weight: float, sharpness: float) -> None:
    """A column with one entry: v = (x / sum_i K_i^(1 - phi) xhat_i^phi)^(phi / (1 - phi^2))."""
    xhat, x, cost = random_column(11)
    x[:] = 0.0
    x[4] = 3.0
    phi, log_k = relaxation(sharpness, marginal_weight), log_kernel(cost[:, 4], sharpness)
    log_s = np.logaddexp.reduce((1 - phi) * log_k + phi * np.log(xhat))
    log_v = phi / (1 - phi**2) * (np.log(x[4]) - log_s)
    expected = np.exp(phi * np.log(xhat) + (1 - phi) * (log_k + log_v))
    plan = solve_column(xhat, x, cost, sharpness, marginal_weight)
    np.testing.assert_allclose(plan[:, 4], expected, rtol=1e-10)
    assert np.all(np.delete(plan, 4, axis=1) == 0)


@pytest.mark.parametrize("model_scale", [1e-300, 1e-15, 1e15, 1e300])
@pytest.mark.parametrize("data_scale", [1e-300, 1.0, 1e300])
def test_scale_of_the_masses_only_scales_the_plan(model_scale: float, data_scale: float) -> None:
    """Scaling xhat by a and x by b scales T by (a b)^(lambda rho / (1 + 2 lambda rho))."""
    xhat, x, cost = random_column(6)
    strength = 10.0
    plan = solve_column(xhat, x, cost, 10.0, 1.0)
    scaled = solve_column(model_scale * xhat, data_scale * x, cost, 10.0, 1.0)
    power = strength / (1 + 2 * strength)
    factor = np.exp(power * (np.log(model_scale) + np.log(data_scale)))
    np.testing.assert_allclose(scaled, plan * factor, rtol=1e-10)


def test_columns_without_mass_have_no_plan() -> None:
    xhat, x, cost = random_column(0)
    zero = np.zeros_like(x)
    assert np.all(solve_column(xhat, zero, cost, 10.0, 1.0) == 0)
    assert np.all(solve_column(zero, x, cost, 10.0, 1.0) == 0)


def test_a_solve_that_does_not_converge_says_so() -> None:
    xhat, x, cost = random_column(2)
    with pytest.raises(RuntimeError, match="did not converge"):
        solve_column(xhat, x, cost, 10.0, 1.0, sweeps=2)


def test_no_nearby_plan_is_better() -> None:
    random = np.random.default_rng(5)
    xhat, x, cost = random_column(3)
    sharpness, marginal_weight = 20.0, 1.0

    def value(plan: Array) -> float:
        kl = divergence(plan.sum(axis=1), xhat) + divergence(plan.sum(axis=0), x)
        return float((cost * plan).sum() - entr(plan).sum() / sharpness + marginal_weight * kl)

    plan = solve_column(xhat, x, cost, sharpness, marginal_weight)
    best = value(plan)
    for size in (1e-3, 1e-1):
        for _ in range(20):
            assert value(plan * np.exp(size * random.standard_normal(plan.shape))) > best


@pytest.mark.parametrize("shape", SHAPES)
def test_objective_agrees_with_its_closed_form_at_the_optimum(shape: tuple[int, ...]) -> None:
    """Column by column the optimum is lambda (sum xhat + sum x) - (2 lambda + 1/rho) sum T."""
    tensor, costs, factors = random_problem(1, shape, rank=3, density=0.15, counts=True)
    dense, sharpness, marginal_weight = tensor.to_dense(), 20.0, 0.5
    terms = objective(dense, factors, costs, sharpness, marginal_weight)
    model_side, data_side = marginals(dense, factors, costs, sharpness, marginal_weight)
    moved = sum(delta.sum() for delta in model_side)
    masses = len(shape) * (reconstruct(factors).sum() + dense.sum())
    expected = marginal_weight * masses - (2 * marginal_weight + 1 / sharpness) * moved
    assert terms.total == pytest.approx(expected, rel=1e-11)
    assert all(np.all(psi[dense == 0] == 0) for psi in data_side)
    for delta, psi, axis in zip(model_side, data_side, range(len(shape)), strict=True):
        np.testing.assert_allclose(delta.sum(axis=axis), psi.sum(axis=axis), atol=1e-11)


@pytest.mark.parametrize("step", [sequential_step, joint_step, projection_step])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_objective_falls_at_every_step(
    shape: tuple[int, ...], step: Callable[..., list[Array]]
) -> None:
    tensor, costs, factors = random_problem(7, shape, rank=3, density=0.15, counts=True)
    dense = tensor.to_dense()
    before = objective(dense, factors, costs, 10.0, 1.0).total
    for _ in range(4):
        factors = step(dense, factors, costs, 10.0, 1.0)
        after = objective(dense, factors, costs, 10.0, 1.0).total
        assert after < before
        before = after


def test_the_update_as_printed_in_the_paper_raises_the_objective() -> None:
    """Without the 1/N the same iteration climbs, and the mass of the model inflates.

    Here from 68 to 220 in four iterations and to 4 times the mass of the data, while the
    corrected update falls to 39.
    """
    tensor, costs, start = random_problem(7, (8, 6, 5), rank=3, density=0.15, counts=False)
    dense = tensor.to_dense()
    totals = [objective(dense, start, costs, 10.0, 1.0).total]
    factors = start
    for _ in range(4):
        factors = sequential_step(dense, factors, costs, 10.0, 1.0, as_printed=True)
        totals.append(objective(dense, factors, costs, 10.0, 1.0).total)
    assert np.all(np.diff(totals) > 0)
    assert totals[-1] > 3 * totals[0]
    assert reconstruct(factors).sum() > 4 * dense.sum()
    corrected = sequential_step(dense, start, costs, 10.0, 1.0)
    assert objective(dense, corrected, costs, 10.0, 1.0).total < totals[0]


def test_steps_agree_where_they_must() -> None:
    tensor, costs, factors = random_problem(3, (6, 5, 4), rank=2, density=0.2, counts=False)
    dense = tensor.to_dense()
    model_side, _ = marginals(dense, factors, costs, 10.0, 1.0)
    first = projection_step(dense, factors, costs, 10.0, 1.0)
    one_by_one = sequential_step(dense, factors, costs, 10.0, 1.0)
    together = joint_step(dense, factors, costs, 10.0, 1.0)
    assert np.array_equal(first[0], one_by_one[0])
    assert all(new is old for new, old in zip(first[1:], factors[1:], strict=True))
    # every kind of update gives the model the mean mass of the plans
    for moved in (first, one_by_one, together):
        assert reconstruct(moved).sum() == pytest.approx(np.sum(model_side) / 3, rel=1e-12)
    for factor in together[1:]:
        np.testing.assert_allclose(factor.sum(axis=0), 1.0, rtol=1e-13)
    # from normalised factors, the joint first factor is the multiplicative one
    scales = np.prod([factor.sum(axis=0) for factor in factors[1:]], axis=0)
    np.testing.assert_allclose(together[0], first[0] * scales, rtol=1e-12)


def test_a_component_without_mass_stays_without_mass() -> None:
    tensor, costs, factors = random_problem(3, (6, 5, 4), rank=3, density=0.2, counts=False)
    factors[1][:, 2] = 0.0
    dense = tensor.to_dense()
    for step in (sequential_step, joint_step, projection_step):
        moved = step(dense, factors, costs, 10.0, 1.0)
        assert all(np.isfinite(factor).all() for factor in moved)
        assert np.all(moved[1][:, 2] == 0)


def test_random_problems_are_what_they_say() -> None:
    for counts in (False, True):
        tensor, costs, factors = random_problem(0, (10, 8, 6), rank=4, density=0.1, counts=counts)
        assert tensor.shape == (10, 8, 6)
        assert tensor.n_entries == 48
        assert np.all(tensor.values == 1) != counts
        for cost, factor, size in zip(costs, factors, tensor.shape, strict=True):
            assert np.array_equal(cost, cost.T)
            assert np.all(np.diag(cost) == 0)
            assert cost.min() >= 0 and cost.max() <= 1
            assert factor.shape == (size, 4)
        assert reconstruct(factors).sum() == pytest.approx(tensor.values.sum())
