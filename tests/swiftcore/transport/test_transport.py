"""The transport at rest against the dense referee."""

from __future__ import annotations

import numpy as np
import pytest
from reference.dense_swift import objective, reconstruct
from reference.known_problems import random_problem
from support.refereed import ALL_PAIRS, SHAPES, TOLERANCE, check_parts, problem_of, referee
from support.settled import model_side, settle

from swiftcore.tensor import SparseTensor


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lam", "rho"), ALL_PAIRS)
def test_objective_and_its_parts_are_the_referees(
    lam: float, rho: float, shape: tuple[int, ...], counts: bool, dtype: str
) -> None:
    tensor, costs, factors = problem_of(shape, counts)
    wanted, _ = referee(shape, counts, lam, rho)
    settled = settle(tensor, costs, factors, rho, lam, dtype)
    check_parts(settled.value, wanted, rho, lam, TOLERANCE[dtype])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lam", "rho"), ALL_PAIRS)
def test_marginals_are_the_referees(lam: float, rho: float, shape: tuple[int, ...]) -> None:
    tensor, costs, factors = problem_of(shape, True)
    _, wanted = referee(shape, True, lam, rho)
    settled = settle(tensor, costs, factors, rho, lam)
    for mode, cost in enumerate(costs):
        delta = model_side(settled, mode, cost)
        assert np.abs(delta - wanted[mode]).max() <= 1e-8 * wanted[mode].max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("lam", "rho"), ALL_PAIRS)
def test_numerators_are_those_of_the_referees_marginals(lam: float, rho: float, dtype: str) -> None:
    shape = (6, 5, 4)
    tensor, costs, factors = problem_of(shape, True)
    _, delta = referee(shape, True, lam, rho)
    settled = settle(tensor, costs, factors, rho, lam, dtype)
    ratio = np.sum(delta, axis=0) / reconstruct(factors)
    a, b, c = settled.factors
    wanted = (
        np.einsum("ijk,jr,kr->ir", ratio, b, c),
        np.einsum("ijk,ir,kr->jr", ratio, a, c),
        np.einsum("ijk,ir,jr->kr", ratio, a, b),
    )
    for got, right in zip(settled.numerators, wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=TOLERANCE[dtype])


@pytest.mark.parametrize(("lam", "rho"), [(1.0, 10.0), (10.0, 1000.0)])
def test_five_modes(lam: float, rho: float) -> None:
    tensor, costs, factors = random_problem(5, (3, 3, 2, 2, 2), 2, 0.3, True)
    settled = settle(tensor, costs, factors, rho, lam)
    check_parts(
        settled.value, objective(tensor.to_dense(), factors, costs, rho, lam), rho, lam, 1e-8
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("lam", "rho"), [(0.1, 10.0), (1.0, 50.0), (10.0, 1000.0)])
@pytest.mark.parametrize("scale", [1e-6, 3.7, 1e6])
def test_values_far_from_one(scale: float, lam: float, rho: float, dtype: str) -> None:
    """The entropy is not scale-free: the engine's own rescaling must make up for it."""
    tensor, costs, factors = problem_of((6, 5, 4), True)
    big = SparseTensor(tensor.modes, tensor.coordinates, scale * tensor.values)
    big_factors = [scale * factors[0], *factors[1:]]
    settled = settle(big, costs, big_factors, rho, lam, dtype)
    wanted = objective(big.to_dense(), big_factors, costs, rho, lam)
    check_parts(settled.value, wanted, rho, lam, TOLERANCE[dtype])


def test_value_unit_is_the_same_problem_in_other_units() -> None:
    tensor, costs, factors = problem_of((6, 5, 4), True)
    big = SparseTensor(tensor.modes, tensor.coordinates, 50.0 * tensor.values)
    small = settle(tensor, costs, factors, 10.0, 1.0)
    other = settle(big, costs, [50.0 * factors[0], *factors[1:]], 10.0, 1.0, value_unit=50.0)
    assert other.value.objective == pytest.approx(50.0 * small.value.objective, rel=1e-12)
    assert other.value.transport == pytest.approx(50.0 * small.value.transport, rel=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("lam", "rho"), ALL_PAIRS)
def test_exact_zeros_in_factors(lam: float, rho: float, dtype: str) -> None:
    """Zero rows, a column of X that the model cannot reach, a dead component, empty slices."""
    tensor, costs, factors = random_problem(11, (6, 5, 4), 3, 0.2, True)
    factors = [factor.copy() for factor in factors]
    factors[0][2] = 0.0  # nobody in this row
    factors[1][1, :2] = 0.0
    factors[2][3] = 0.0  # whole slice unreachable
    factors[1][:, 2] = 0.0  # dead component
    settled = settle(tensor, costs, factors, rho, lam, dtype)
    wanted = objective(tensor.to_dense(), factors, costs, rho, lam)
    assert np.isfinite(wanted.total)
    check_parts(settled.value, wanted, rho, lam, TOLERANCE[dtype])
    for numerator in settled.numerators:
        assert np.isfinite(numerator).all()


@pytest.mark.parametrize(("lam", "rho"), [(1.0, 10.0), (1.0, 1000.0)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_model_zero_everywhere(lam: float, rho: float, dtype: str) -> None:
    """Nothing can be sent: the plans are 0 and the data's mass is the whole price."""
    tensor, costs, factors = problem_of((6, 5, 4), True)
    settled = settle(tensor, costs, [np.zeros_like(factor) for factor in factors], rho, lam, dtype)
    assert settled.value.objective == pytest.approx(3 * lam * tensor.values.sum(), rel=1e-6)
    assert settled.value.transport == 0
    assert settled.value.gap == 0
    for numerator in settled.numerators:
        assert not np.any(numerator)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rho", [10.0, 50.0, 1000.0])
@pytest.mark.parametrize("weight", [1e-6, 1e-15, 1e-25])
def test_a_component_that_is_almost_dead(weight: float, rho: float, dtype: str) -> None:
    """Only a component of vanishing weight reaches some columns: small is not zero."""
    shape, rank = (6, 5, 4), 2
    tensor, costs, _ = random_problem(2, shape, rank, 0.5, False)
    random = np.random.default_rng(0)
    factors = [0.1 + random.random((size, rank)) for size in shape]
    factors[1][0, 1] = 0.0
    factors[0][:, 0] *= weight
    settled = settle(tensor, costs, factors, rho, 1.0, dtype)
    wanted = objective(tensor.to_dense(), factors, costs, rho, 1.0)
    check_parts(settled.value, wanted, rho, 1.0, TOLERANCE[dtype])
    for numerator in settled.numerators:
        assert np.isfinite(numerator).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("level", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize(("lam", "rho"), [(0.1, 10.0), (10.0, 50.0), (10.0, 1000.0), (1.0, 1e5)])
def test_indistinguishable_features(lam: float, rho: float, level: float, dtype: str) -> None:
    """All features equally far apart, or not apart at all."""
    tensor, _, factors = problem_of((6, 5, 4), True)
    costs = [level * (1.0 - np.eye(size)) for size in tensor.shape]
    settled = settle(tensor, costs, factors, rho, lam, dtype)
    wanted = objective(tensor.to_dense(), factors, costs, rho, lam)
    check_parts(settled.value, wanted, rho, lam, TOLERANCE[dtype])


@pytest.mark.parametrize("lam", [1e-3, 1e3])
@pytest.mark.parametrize("rho", [1e-2, 1.0, 1e3, 1e5])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_weights_beyond_the_papers(lam: float, rho: float, dtype: str) -> None:
    tensor, costs, factors = problem_of((6, 5, 4), True)
    settled = settle(tensor, costs, factors, rho, lam, dtype)
    wanted = objective(tensor.to_dense(), factors, costs, rho, lam)
    check_parts(settled.value, wanted, rho, lam, TOLERANCE[dtype])
