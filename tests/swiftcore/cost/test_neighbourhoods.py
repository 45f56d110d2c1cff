"""Neighbourhoods of rows: whole, balanced, of similar rows, and never a matrix of all rows."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from reference.known_problems import random_problem
from scipy import sparse

from swiftcore import InvalidCost
from swiftcore.cost import check_costs, row_cost
from swiftcore.cost.cosine import cosine_cost, row_features
from swiftcore.cost.neighbourhoods import cut_rows
from swiftcore.cost.recipe import row_neighbourhoods
from swiftcore.spec import row_relation

MOST = 7


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_relation, "NEIGHBOURHOOD", MOST)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=some.integers(0, 10_000), rows=some.integers(1, 120), features=some.integers(1, 12))
def test_every_row_is_in_one_neighbourhood_and_all_have_the_same_size(
    seed: int, rows: int, features: int
) -> None:
    random = np.random.default_rng(seed)
    table = sparse.csr_array((random.random((rows, features)) < 0.3).astype(float))
    order, starts = cut_rows(table)
    sizes = np.diff(starts)
    assert sorted(order.tolist()) == list(range(rows))
    assert len(sizes) == -(-rows // MOST) and sizes.max() <= MOST and np.ptp(sizes) <= 1
    for low, high in pairwise(starts):
        assert (np.diff(order[low:high]) > 0).all()
    again = cut_rows(table.copy())
    assert (again[0] == order).all() and (again[1] == starts).all()


def test_groups_that_share_nothing_are_not_mixed() -> None:
    random = np.random.default_rng(0)
    group = np.repeat([0, 1, 2, 3], MOST)
    random.shuffle(group)
    table = np.zeros((4 * MOST, 24))
    for row, kind in enumerate(group):
        table[row, 6 * kind + random.choice(6, 4, replace=False)] = 1.0
    order, starts = cut_rows(sparse.csr_array(table))
    assert [len(set(group[part])) for part in np.split(order, starts[1:-1])] == [1, 1, 1, 1]


@pytest.mark.parametrize("words", [False, True])
def test_within_a_neighbourhood_the_cost_is_the_dense_one(words: bool) -> None:
    tensor, _, _ = random_problem(3, (30, 8, 6), 2, 0.1, True)
    random = np.random.default_rng(1)
    counts = sparse.csr_array(random.poisson(0.4, (30, 25))) if words else None
    dense, near = row_cost(tensor, counts), row_neighbourhoods(tensor, word_counts=counts)
    for number, rows in enumerate(np.split(near.order, near.starts[1:-1])):
        np.testing.assert_allclose(near.cost(number), dense[np.ix_(rows, rows)], atol=1e-15)


@pytest.mark.parametrize("recipe", ["one-minus-identity", "random"])
def test_other_recipes_keep_their_meaning_within(recipe: str) -> None:
    tensor, _, _ = random_problem(3, (30, 8, 6), 2, 0.1, True)
    near = row_neighbourhoods(tensor, recipe, seed=2)
    for number in range(len(near)):
        cost = near.cost(number)
        assert (cost == cost.T).all() and not cost.diagonal().any()
        assert (near.cost(number) == cost).all()
        assert recipe == "random" or (cost + np.eye(len(cost)) == 1).all()
    first, second = (near.cost(number)[0, 1:5] for number in (0, 1))
    assert (first == second).all() == (recipe != "random")


def test_neighbourhoods_of_other_rows_are_refused() -> None:
    tensor, costs, _ = random_problem(3, (30, 8, 6), 2, 0.1, True)
    near = row_neighbourhoods(tensor)
    assert check_costs([near, *costs[1:]], tensor.shape)[0] is near
    with pytest.raises(InvalidCost, match="30 rows for a mode of size 29"):
        check_costs([near, *costs[1:]], (29, 8, 6))
    with pytest.raises(InvalidCost, match="mode 2"):
        check_costs([costs[0], near, costs[2]], (30, 30, 6))


def test_memory_grows_with_the_features_not_with_the_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_relation, "NEIGHBOURHOOD", 500)
    random = np.random.default_rng(0)
    table = sparse.random_array((20_000, 50), density=0.1, rng=random, format="csr")
    tracemalloc.start()
    cut_rows(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * (table.data.nbytes + table.indices.nbytes)  # a matrix would be 3,200 MB


def test_both_ways_to_a_cosine_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sparse products and of full ones, across several tiles; and they are symmetric."""
    tensor, _, _ = random_problem(5, (70, 20, 15), 2, 0.04, True)
    found = []
    monkeypatch.setattr("swiftcore.cost.cosine.ROWS_AT_A_TIME", 16)
    for share in (0.0, 1.1):
        monkeypatch.setattr("swiftcore.cost.cosine.SPARSE_SHARE", share)
        found.append(cosine_cost(row_features(tensor)))
    full = row_features(tensor).toarray()
    lengths = np.linalg.norm(full, axis=1)
    wanted = 1 - full @ full.T / np.outer(lengths, lengths)
    np.fill_diagonal(wanted, 0.0)
    assert (found[0] == found[1]).all() and (found[0] == found[0].T).all()
    np.testing.assert_allclose(found[0], wanted, atol=1e-12)
