"""The direct Wasserstein factorization against the dense referee and against SWIFT."""

from __future__ import annotations

import numpy as np
import pytest
from reference.dense_swift import objective, reconstruct, sequential_step
from reference.known_problems import random_problem

from swiftcore.baselines.direct_wasserstein import (
    DirectWasserstein,
    dense_transport,
    estimate_memory,
    long_format,
    relaxation,
    stacked_update,
    unfolded,
)
from swiftcore.cost import build_costs
from swiftcore.errors import InvalidCost, InvalidSettings, NotEnoughMemory
from swiftcore.tensor import SparseTensor

SHAPES = [(9, 7), (8, 6, 5), (4, 4, 3, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_sweep_and_its_objective_are_those_of_the_referee(shape: tuple[int, ...]) -> None:
    tensor, costs, factors = random_problem(1, shape, rank=3, density=0.2, counts=True)
    model = DirectWasserstein(3, sweeps=600)
    model._prepare(tensor, costs, None)
    expected = factors
    for _ in range(3):
        value = model._loss(tensor, factors)
        wanted = objective(tensor.to_dense(), expected, costs, 10.0, 1.0).total
        assert value == pytest.approx(wanted, rel=1e-9)
        factors = model._sweep(tensor, factors)
        expected = sequential_step(tensor.to_dense(), expected, costs, 10.0, 1.0)
        for mine, other in zip(factors, expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9)


def test_the_long_format_is_the_model_in_the_order_of_each_term() -> None:
    _, _, factors = random_problem(3, (5, 4, 3, 2), rank=3, density=0.3, counts=True)
    dense = reconstruct(factors)
    for mode in range(4):
        for term in range(4):
            product = long_format(factors, mode, term) @ factors[mode].ravel()
            np.testing.assert_allclose(product, unfolded(dense, term).ravel(), rtol=1e-12)


def test_solved_transports_make_the_loss_fall_at_every_step() -> None:
    tensor, costs, _ = random_problem(5, (8, 6, 5), rank=3, density=0.2, counts=True)
    model = DirectWasserstein(3, sweeps=300, max_iterations=40, tolerance=0.0, random_state=0)
    losses = [step.objective for step in model.fit(tensor, costs).history_]
    assert np.diff(losses).max() <= 1e-9 * losses[0] and losses[-1] < 0.95 * losses[0]


def test_a_mode_without_cost_is_solved_in_closed_form() -> None:
    """A kernel so steep that nothing moves gives the same, after many sweeps."""
    rng = np.random.default_rng(0)
    model, data = rng.random((6, 9)), rng.integers(0, 3, (6, 9)).astype(float)
    still, value = dense_transport(model, data, None, 10.0, 1.0, 0)
    swept, same = dense_transport(model, data, np.exp(-1.0) * np.eye(6), 10.0, 1.0, 300)
    np.testing.assert_allclose(still, swept, rtol=1e-9)
    assert value == pytest.approx(same, rel=1e-9)
    assert relaxation(10.0, 1.0) == pytest.approx(10 / 11)


def test_a_dead_component_stays_dead_and_finite() -> None:
    tensor, costs, factors = random_problem(1, (8, 6, 5), rank=3, density=0.2, counts=True)
    factors[0][:, 1] = 0.0
    model = DirectWasserstein(3)
    model._prepare(tensor, costs, None)
    model._loss(tensor, factors)
    moved = stacked_update(factors, model._deltas, 0)
    assert np.isfinite(moved).all() and not moved[:, 1].any()


def test_what_it_cannot_do_is_refused_in_words() -> None:
    tensor, costs, _ = random_problem(1, (8, 6, 5), rank=3, density=0.2, counts=True)
    with pytest.raises(InvalidCost, match="mode 2, 3"):
        DirectWasserstein(3).fit(tensor, [None] * 3)
    with pytest.raises(InvalidCost, match="mode 3"):
        DirectWasserstein(3).fit(tensor, [*costs[:2], None])
    with pytest.raises(InvalidSettings, match="vanish"):
        DirectWasserstein(3, sharpness=1000.0).fit(tensor, costs)
    for bad in ({"sweeps": 0}, {"sharpness": 0.0}, {"marginal_weight": -1.0}):
        with pytest.raises(InvalidSettings, match=next(iter(bad))):
            DirectWasserstein(3, **bad).fit(tensor, costs)
    huge = SparseTensor.from_coordinates([[0, 0, 0], [1, 9, 9]], [1, 2], (50_000, 900, 900))
    small = [build_costs(huge.select(0, [0, 1]), "one-minus-identity", reference=huge)[1]] * 2
    with pytest.raises(NotEnoughMemory, match="every cell"):
        DirectWasserstein(3).fit(huge, [None, *small])


def test_the_estimate_covers_the_largest_matrix() -> None:
    _, _, factors = random_problem(1, (20, 30, 10), rank=8, density=0.2, counts=True)
    block = long_format(factors, 0, 1)
    held = block.data.nbytes + block.indices.nbytes + block.indptr.nbytes
    assert held < estimate_memory((20, 30, 10), 8) < 3 * held
