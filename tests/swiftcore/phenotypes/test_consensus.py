"""Components of many fits: what they share is found, what one of them dreamt up is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from swiftcore.phenotypes.consensus import agreement, around, clustered, twins
from swiftcore.phenotypes.matching import match

Factors = list[NDArray[np.float64]]
RANK = 4


def truth(rng: np.random.Generator) -> Factors:
    """Components that share little: each has features of its own."""
    factors = []
    for size in (12, 16):
        own = np.repeat(np.eye(RANK), size // RANK, axis=0)
        factors.append(own * rng.uniform(0.5, 1.0, (size, RANK)) + 0.01)
    return [factor / factor.sum(axis=0) for factor in factors]


def disturbed(factors: Factors, rng: np.random.Generator, odd: bool) -> Factors:
    """The same in another order, a little off; the last one replaced if odd."""
    order = rng.permutation(RANK)
    moved = [factor * rng.uniform(0.9, 1.1, factor.shape) for factor in factors]
    if odd:
        for factor in moved:
            factor[:, -1] = rng.gamma(0.2, size=len(factor))
    return [(factor / factor.sum(axis=0))[:, order] for factor in moved]


@given(st.integers(0, 2**32 - 1), st.integers(4, 9))
def test_groups_are_the_components_that_fits_share(seed: int, n_fits: int) -> None:
    rng = np.random.default_rng(seed)
    real = truth(rng)
    fits = [disturbed(real, rng, odd=number == 1) for number in range(n_fits)]
    for found in (clustered(fits), around(fits[0], fits)):
        assert (match(real, found) > 0.99).all()
        for factor in found:
            np.testing.assert_allclose(factor.sum(axis=0), 1)
        counted = agreement(found, fits)
        assert sorted(counted.found_in)[1:] == [n_fits] * (RANK - 1)
        assert min(counted.found_in) >= n_fits - 1


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_fits_and_components_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    real = truth(rng)
    fits = [disturbed(real, rng, odd=number < 2) for number in range(5)]
    turned = [[factor[:, ::-1] for factor in fit] for fit in fits[::-1]]
    one, other = clustered(fits), clustered(turned)
    np.testing.assert_allclose(match(one, other), 1)


def test_spread_is_how_far_weights_are_from_the_result() -> None:
    result = [np.array([[0.5], [0.5], [0.0]])]
    near, far = [np.array([[0.6], [0.4], [0.0]])], [np.array([[0.0], [0.0], [1.0]])]
    counted = agreement(result, [near, far])
    assert counted.n_fits == 2 and counted.found_in == (1,)
    np.testing.assert_allclose(counted.spread[0], [[0.1], [0.1], [0.0]])
    assert agreement(result, [far]).found_in == (0,)
    assert not agreement(result, [far]).spread[0].any()


def test_dead_components_are_of_no_group() -> None:
    dead = [np.array([[1.0, 0.0], [0.0, 0.0]])]
    (around_it,) = around(dead, [dead, dead])
    np.testing.assert_array_equal(around_it, dead[0])
    (grouped,) = clustered([dead, dead, dead])
    assert np.isfinite(grouped).all() and match(dead, [grouped])[0] == pytest.approx(1)


def test_twins_are_told_the_nearest_first() -> None:
    profiles = np.array([[1.0, 0.9, 0.0, 0.0], [0.0, 0.1, 1.0, 1.0]])
    assert twins([profiles]) == [(2, 3), (0, 1)]
    assert twins([np.eye(3)]) == []
