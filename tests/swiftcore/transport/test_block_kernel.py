"""Mass that moves within neighbourhoods only, against the referee with a huge cost between them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from reference.dense_swift import marginals, objective, reconstruct
from reference.known_problems import random_problem
from support.refereed import TOLERANCE, check_parts
from support.settled import settle

from swiftcore.cost.neighbourhoods import GivenRows, Neighbourhoods
from swiftcore.transport.problem import TransportSettings, describe_problem

HUGE = 1e4  # of a cost: what is left of a plan there is beyond any number
PAIRS = [(1.0, 10.0), (0.1, 50.0), (10.0, 10.0), (1.0, 1000.0)]
CASES = [((9, 5), (0, 4, 9)), ((10, 5, 4), (0, 3, 7, 10)), ((6, 3, 3, 2), (0, 1, 6))]


def neighbourhoods(cost: np.ndarray, starts: tuple[int, ...], seed: int = 0) -> Neighbourhoods:
    """Rows dealt out at random, and the cost between those of one neighbourhood."""
    order = np.random.default_rng(seed).permutation(len(cost))
    parts = np.split(order, starts[1:-1])
    return Neighbourhoods(
        np.concatenate([np.sort(part) for part in parts]), np.array(starts), GivenRows(cost)
    )


def with_walls(cost: np.ndarray, rows: Neighbourhoods) -> np.ndarray:
    """The same cost for everybody who knows matrices only."""
    full = np.full(cost.shape, HUGE)
    for low, high in pairwise(rows.starts):
        inside = np.ix_(rows.order[low:high], rows.order[low:high])
        full[inside] = cost[inside]
    return full


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "starts"), CASES)
@pytest.mark.parametrize(("lam", "rho"), PAIRS)
def test_objective_and_numerators_are_those_of_a_huge_cost_between(
    lam: float, rho: float, shape: tuple[int, ...], starts: tuple[int, ...], dtype: str
) -> None:
    tensor, costs, factors = random_problem(4, shape, 3, 0.3, True)
    rows = neighbourhoods(costs[0], starts)
    walled, dense = [with_walls(costs[0], rows), *costs[1:]], tensor.to_dense()
    inside = [factors[0][rows.order], *factors[1:]]
    settled = settle(tensor, [rows, *costs[1:]], inside, rho, lam, dtype)
    check_parts(
        settled.value, objective(dense, factors, walled, rho, lam), rho, lam, TOLERANCE[dtype]
    )
    delta, _ = marginals(dense, factors, walled, rho, lam)
    ratio = np.sum(delta, axis=0) / reconstruct(factors)
    for mode, got in enumerate(settled.numerators):
        weights = [factors[0] / settled.scale, *factors[1:]]
        others = [other for other in range(len(shape)) if other != mode]
        letters = "abcd"[: len(shape)]
        terms = ",".join(letters[other] + "r" for other in others)
        form = f"{letters},{terms}->{letters[mode]}r"
        wanted = np.einsum(form, ratio, *(weights[other] for other in others))
        wanted = wanted[rows.order] if mode == 0 else wanted
        np.testing.assert_allclose(got, wanted, rtol=TOLERANCE[dtype])


def test_no_column_reaches_beyond_its_neighbourhood_or_its_part() -> None:
    tensor, costs, _ = random_problem(1, (60, 6, 5), 2, 0.3, True)
    rows = neighbourhoods(costs[0], tuple(range(0, 61, 3)))
    problem = describe_problem(tensor, [rows, *costs[1:]], TransportSettings())
    parts = {span.part for span in problem.spans}
    assert len(rows) == 20 and parts == {0, 1, 2}
    seen = dict.fromkeys(range(3), 0)
    for span in problem.spans:
        part = problem.unfoldings[span.mode]
        entries = slice(part.starts[span.first], part.starts[span.last])
        held = (
            part.rows[entries] if span.mode == 0 else part.column_places[span.first : span.last, 0]
        )
        width = 3 if span.mode == 0 else 24
        assert {int(row) // width for row in held} == {span.block}
        seen[span.mode] += entries.stop - entries.start
    assert set(seen.values()) == {tensor.n_entries}
