"""The start of a guided refit: each step does what it says, and every row keeps its mass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from reference.known_problems import random_problem

from swiftcore import InvalidSettings, SparseTensor
from swiftcore.phenotypes.guidance_checks import Changes
from swiftcore.swift.factor_update import normalize
from swiftcore.swift.guided_start import guided_start

few = settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
seeds = some.integers(0, 10_000)
shapes = some.lists(some.integers(3, 6), min_size=2, max_size=4).map(tuple)
RANK = 4


def problem(seed: int, shape: tuple[int, ...]):
    tensor, costs, factors = random_problem(seed, shape, RANK, 0.4, True)
    return tensor, costs, normalize(factors, range(len(shape)))


def start_of(tensor, costs, factors, changes: Changes) -> list[np.ndarray]:
    start = guided_start(tensor, factors, changes, costs, 10.0)
    assert [part.shape for part in start] == [(size, changes.new_rank) for size in tensor.shape]
    np.testing.assert_allclose(start[0].sum(axis=1), factors[0].sum(axis=1))  # rows keep theirs
    for part in start[1:]:
        np.testing.assert_allclose(part.sum(axis=0), 1.0)
    assert all((part >= 0).all() for part in start)
    return start


@few
@given(seed=seeds, shape=shapes, pair=some.sampled_from([(0, 1), (1, 3), (0, 3)]))
def test_merged_profiles_are_the_mean_by_mass(seed, shape, pair) -> None:
    tensor, costs, factors = problem(seed, shape)
    changes = Changes(RANK, merges=(pair,))
    start = start_of(tensor, costs, factors, changes)
    mass, at = factors[0].sum(axis=0), changes.origins().index(pair)
    np.testing.assert_allclose(start[0][:, at], factors[0][:, list(pair)].sum(axis=1))
    for got, before in zip(start[1:], factors[1:], strict=True):
        one, other = (mass[part] * before[:, part] for part in pair)
        np.testing.assert_allclose(got[:, at], (one + other) / (mass[pair[0]] + mass[pair[1]]))
    assert_untouched(start, factors, changes, pair)


def assert_untouched(start, factors, changes: Changes, touched: tuple[int, ...]) -> None:
    kept = [at for at, origin in enumerate(changes.origins()) if not {*origin} & {*touched}]
    old = [changes.origins()[at][0] for at in kept]
    for got, before in zip(start, factors, strict=True):
        np.testing.assert_array_equal(got[:, kept], before[:, old])


@few
@given(seed=seeds, shape=shapes, part=some.integers(0, RANK - 1))
def test_halves_share_what_the_whole_had(seed, shape, part) -> None:
    tensor, costs, factors = problem(seed, shape)
    factors[1][0, part] = 0.0
    factors = normalize(factors, range(len(shape)))
    changes = Changes(RANK, splits=(part,))
    start = start_of(tensor, costs, factors, changes)
    np.testing.assert_allclose(start[0][:, [part, RANK]].sum(axis=1), factors[0][:, part])
    assert not start[1][0, [part, RANK]].any()  # a feature it did not have
    assert_untouched(start, factors, changes, (part,))
    again = guided_start(tensor, factors, changes, costs, 10.0)
    for one, other in zip(start, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_mixture_of_two_groups_is_split_into_them() -> None:
    """Rows 0 to 19 have features 0 to 2, the others 3 to 5; one component carries them all."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 20)
    places = [
        (row, 3 * group[row] + f, 2 * group[row] + rng.integers(2))
        for row in range(40)
        for f in range(3)
    ]
    tensor = SparseTensor.from_coordinates(places, np.ones(len(places)), shape=(40, 6, 4))
    factors = [np.full((40, 1), 3.0), np.full((6, 1), 1 / 6), np.full((4, 1), 1 / 4)]
    start = guided_start(tensor, factors, Changes(1, splits=(0,)), [None] * 3, 10.0)
    for part, own in ((start[1], 3), (start[2], 2)):
        inside = part[:own].sum(axis=0)
        assert sorted(np.round(inside)) == [0, 1] and np.abs(inside - np.round(inside)).max() < 0.05
    half = start[0] / start[0].sum(axis=1, keepdims=True)
    assert (half.max(axis=1) > 0.9).all() and len({*half.argmax(axis=1)[:20]}) == 1


@few
@given(seed=seeds, shape=shapes, data=some.data())
def test_dropped_features_are_zero_and_the_rest_keeps_its_proportions(seed, shape, data) -> None:
    tensor, costs, factors = problem(seed, shape)
    axis = data.draw(some.integers(1, len(shape) - 1))
    index = data.draw(some.integers(0, shape[axis] - 1))
    changes = Changes(RANK, drops=((2, (axis, index)),))
    start = start_of(tensor, costs, factors, changes)
    assert start[axis][index, 2] == 0
    left = np.delete(factors[axis][:, 2], index)
    np.testing.assert_allclose(np.delete(start[axis][:, 2], index), left / left.sum())
    assert_untouched(start, factors, changes, (2,))


@few
@given(seed=seeds, shape=shapes)
def test_a_drop_holds_for_what_its_phenotype_becomes(seed, shape) -> None:
    tensor, costs, factors = problem(seed, shape)
    drops = ((0, (1, 1)), (2, (1, 2)))
    changes = Changes(RANK, merges=((0, 1),), splits=(2,), drops=drops)
    start = start_of(tensor, costs, factors, changes)
    assert changes.origins() == [(0, 1), (2,), (3,), (2,)]
    assert start[1][1, 0] == 0 and not start[1][2, [1, 3]].any()


@few
@given(seed=seeds, shape=shapes, data=some.data())
def test_a_seed_is_its_features_and_a_little_of_what_is_near(seed, shape, data) -> None:
    tensor, costs, factors = problem(seed, shape)
    entry = tensor.coordinates[data.draw(some.integers(0, tensor.n_entries - 1))]
    named = {(1, int(entry[1])), (1, data.draw(some.integers(0, shape[1] - 1)))}
    changes = Changes(RANK, seeds=(tuple(sorted(named)),))
    start = start_of(tensor, costs, factors, changes)
    profile, own = start[1][:, RANK], [index for _, index in named]
    assert (profile > 0).all() and profile[own].sum() >= 0.9
    others = np.setdiff1d(np.arange(shape[1]), own)
    near = np.exp(-10.0 * costs[1][:, own]).sum(axis=1)[others]
    assert (np.argsort(profile[others]) == np.argsort(near)).all()
    assert start[0][int(entry[0]), RANK] > 0
    for got, before in zip(start[1:], factors[1:], strict=True):
        np.testing.assert_array_equal(got[:, :RANK], before)


def test_a_seed_goes_to_the_rows_that_have_it_with_what_they_have_beside_it() -> None:
    places = [(row, row % 3, row % 3) for row in range(12)]
    tensor = SparseTensor.from_coordinates(places, np.ones(12), shape=(12, 4, 3))
    even = [np.full((12, 1), 1.0), np.full((4, 1), 1 / 4), np.full((3, 1), 1 / 3)]
    start = guided_start(tensor, even, Changes(1, seeds=(((1, 2),),)), [None] * 3, 10.0)
    share = start[0][:, 1] / start[0].sum(axis=1)
    assert share[2::3].min() > 0.8 and np.delete(share, range(2, 12, 3)).max() < 0.1
    assert start[2][2, 1] > 0.98
    with pytest.raises(InvalidSettings, match="no row has"):
        guided_start(tensor, even, Changes(1, seeds=(((1, 3),),)), [None] * 3, 10.0)


def test_what_explains_nothing_cannot_be_split() -> None:
    tensor = SparseTensor.from_coordinates([(0, 0), (1, 1)], [1.0, 1.0], shape=(2, 3))
    factors = [np.ones((2, 2)), np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]])]
    with pytest.raises(InvalidSettings, match="explains"):
        guided_start(tensor, factors, Changes(2, splits=(1,)), [None] * 2, 10.0)
