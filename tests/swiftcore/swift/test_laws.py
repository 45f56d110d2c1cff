"""Laws that must hold for any tensor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from reference.known_problems import random_problem

from swiftcore import Mode, SparseTensor, Swift

few = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
seeds = some.integers(0, 10_000)
shapes = some.lists(some.integers(2, 5), min_size=2, max_size=4).map(tuple)
pairs = some.sampled_from([(0.1, 10.0), (1.0, 10.0), (10.0, 100.0), (1.0, 1000.0)])


def fit(tensor, costs, factors, pair, **settings) -> Swift:
    """A few plain steps in float64: far enough to mix everything, too few for chaos."""
    lam, rho = pair
    settings = {"dtype": "float64", "tolerance": 0, "momentum": 0.0, "n_jobs": 1} | settings
    model = Swift(
        factors[0].shape[1], sharpness=rho, marginal_weight=lam, max_iterations=6, **settings
    )
    return model.fit(tensor, costs, initial_factors=factors)


def assert_same(one: Swift, other: Swift, tolerance: float = 1e-6) -> None:
    """Sweeps stop at a gap, and where exactly may turn on the last digit: hence 1e-6."""
    assert other.objective_ == pytest.approx(one.objective_, rel=tolerance)
    for left, right in zip(one.factors_, other.factors_, strict=True):
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance * left.max())


@few
@given(seed=seeds, shape=shapes)
def test_entry_order_changes_no_bit(seed: int, shape: tuple[int, ...]) -> None:
    tensor, costs, factors = random_problem(seed, shape, 2, 0.3, True)
    order = np.random.default_rng(seed).permutation(tensor.n_entries)
    other = SparseTensor.from_coordinates(
        tensor.coordinates[order], tensor.values[order], shape=shape
    )
    assert other.digest() == tensor.digest()
    one, two = (fit(t, costs, factors, (1.0, 10.0)) for t in (tensor, other))
    for left, right in zip(one.factors_, two.factors_, strict=True):
        np.testing.assert_array_equal(left, right)


@few
@given(seed=seeds, shape=shapes)
def test_splitting_an_entry_in_two_equal_halves_changes_no_bit(seed: int, shape: tuple) -> None:
    tensor, _, _ = random_problem(seed, shape, 2, 0.3, True)
    halves = SparseTensor.from_coordinates(
        np.r_[tensor.coordinates, tensor.coordinates],
        np.r_[tensor.values, tensor.values] / 2,
        shape=shape,
    )
    assert halves.digest() == tensor.digest()


@few
@given(seed=seeds, shape=shapes, pair=pairs, data=some.data())
def test_permuted_indices_give_permuted_factors(seed, shape, pair, data) -> None:
    tensor, costs, factors = random_problem(seed, shape, 2, 0.3, True)
    mode = data.draw(some.integers(0, len(shape) - 1))
    order = np.random.default_rng(seed).permutation(shape[mode])
    costs_p, factors_p = list(costs), list(factors)
    costs_p[mode] = costs[mode][np.ix_(order, order)]
    factors_p[mode] = factors[mode][order]
    one = fit(tensor, costs, factors, pair)
    two = fit(tensor.select(mode, order), costs_p, factors_p, pair)
    one.factors_[mode] = one.factors_[mode][order]
    assert_same(one, two)


@few
@given(seed=seeds, shape=shapes, pair=pairs)
def test_permuted_modes_give_permuted_factors(seed, shape, pair) -> None:
    """The weights move to whichever mode comes first; the model is the same."""
    tensor, costs, factors = random_problem(seed, shape, 2, 0.3, True)
    order = np.random.default_rng(seed).permutation(len(shape))
    turned = SparseTensor.from_coordinates(
        tensor.coordinates[:, order], tensor.values, shape=[shape[axis] for axis in order]
    )
    one = fit(tensor, costs, factors, pair)
    two = fit(turned, [costs[axis] for axis in order], [factors[axis] for axis in order], pair)
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)
    for position, axis in enumerate(order):
        left = one.factors_[axis] / one.factors_[axis].sum(axis=0)
        right = two.factors_[position] / two.factors_[position].sum(axis=0)
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-6)


@few
@given(seed=seeds, shape=shapes, pair=pairs, power=some.integers(-12, 12))
def test_units_do_not_matter_when_the_unit_is_the_mean(seed, shape, pair, power) -> None:
    tensor, costs, factors = random_problem(seed, shape, 2, 0.3, True)
    c = 10.0**power
    scaled = SparseTensor(tensor.modes, tensor.coordinates, c * tensor.values)
    one = fit(tensor, costs, factors, pair, value_unit="mean")
    two = fit(scaled, costs, [c * factors[0], *factors[1:]], pair, value_unit="mean")
    two.factors_[0] /= c
    two.objective_ /= c
    assert_same(one, two)


@few
@given(seed=seeds, shape=shapes, pair=pairs, c=some.floats(1e-3, 1e3))
def test_units_do_not_matter_when_the_unit_goes_along(seed, shape, pair, c) -> None:
    tensor, costs, factors = random_problem(seed, shape, 2, 0.3, True)
    scaled = SparseTensor(tensor.modes, tensor.coordinates, c * tensor.values)
    one = fit(tensor, costs, factors, pair)
    two = fit(scaled, costs, [c * factors[0], *factors[1:]], pair, value_unit=c)
    two.factors_[0] /= c
    two.objective_ /= c
    assert_same(one, two)


@few
@given(seed=seeds, shape=shapes, pair=pairs, data=some.data())
def test_empty_slices_change_nothing_else(seed, shape, pair, data) -> None:
    """An index without entries and without a place in the model may come or go."""
    tensor, costs, factors = random_problem(seed, shape, 2, 0.3, True)
    mode = data.draw(some.integers(0, len(shape) - 1))
    modes = list(tensor.modes)
    modes[mode] = Mode.numbered("longer", shape[mode] + 1)
    longer = SparseTensor(tuple(modes), tensor.coordinates, tensor.values)
    costs_l, factors_l = list(costs), list(factors)
    costs_l[mode] = np.pad(costs[mode], (0, 1), constant_values=0.5)
    costs_l[mode][-1, -1] = 0.0
    factors_l[mode] = np.vstack([factors[mode], np.zeros((1, 2))])
    one = fit(tensor, costs, factors, pair)
    two = fit(longer, costs_l, factors_l, pair)
    assert not two.factors_[mode][-1].any()
    two.factors_[mode] = two.factors_[mode][:-1]
    assert_same(one, two)


@few
@given(seed=seeds, pair=pairs)
def test_identical_features_get_identical_weights(seed, pair) -> None:
    """Two features with the same entries, the same distances and the same start."""
    tensor, costs, factors = random_problem(seed, (5, 4, 3), 2, 0.4, True)
    twin = tensor.coordinates[tensor.coordinates[:, 1] == 0]
    values = tensor.values[tensor.coordinates[:, 1] == 0]
    twin = np.column_stack([twin[:, 0], np.full(len(twin), 4), twin[:, 2]])
    both = SparseTensor.from_coordinates(
        np.r_[tensor.coordinates, twin], np.r_[tensor.values, values], shape=(5, 5, 3)
    )
    again = [0, 1, 2, 3, 0]
    costs = [costs[0], costs[1][np.ix_(again, again)], costs[2]]
    model = fit(both, costs, [factors[0], factors[1][again], factors[2]], pair)
    np.testing.assert_allclose(model.factors_[1][0], model.factors_[1][4], rtol=1e-6, atol=1e-9)


@few
@given(seed=seeds, shape=shapes, pair=pairs)
def test_zero_pattern_and_finiteness(seed, shape, pair) -> None:
    tensor, costs, factors = random_problem(seed, shape, 3, 0.3, True)
    random = np.random.default_rng(seed)
    factors = [factor * (random.random(factor.shape) < 0.7) for factor in factors]
    model = fit(tensor, costs, factors, pair, momentum=0.8, dtype="float32")
    assert np.isfinite(model.objective_)
    for got, start in zip(model.factors_, factors, strict=True):
        assert np.isfinite(got).all() and (got >= 0).all()
        assert not got[start == 0].any()


@few
@given(seed=seeds, shape=shapes, data=some.data())
def test_digest_sees_every_change(seed, shape, data) -> None:
    tensor, _, _ = random_problem(seed, shape, 1, 0.4, True)
    entry = data.draw(some.integers(0, tensor.n_entries - 1))
    values = tensor.values.copy()
    values[entry] = np.nextafter(values[entry], np.inf)
    keep = np.arange(tensor.n_entries) != entry
    changed = [
        SparseTensor(tensor.modes, tensor.coordinates, values),
        SparseTensor(tensor.modes, tensor.coordinates[keep], tensor.values[keep]),
    ]
    assert len({tensor.digest(), *(other.digest() for other in changed)}) == 3
