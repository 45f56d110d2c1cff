"""Similarity-based and Supervised CP against their published form, written out densely."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.known_problems import random_cost
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression
from support.small_counts import DENSE, RANK, SHAPE, START, TENSOR, Array, full

from swiftcore.baselines.similarity_cp import SimilarityCp, feature_loss, similarity_objective
from swiftcore.baselines.solvers.checks import class_signs
from swiftcore.baselines.solvers.elastic_net import L1_SHARE, fit_weights, log_losses
from swiftcore.baselines.solvers.feature_similarity import (
    graph_error,
    similarity_graph,
    spectral_start,
)
from swiftcore.baselines.solvers.sparse_cp import gather, squared_error
from swiftcore.baselines.supervised_cp import SupervisedCp, labelled_row_loss

RNG = np.random.default_rng(2)
GRAPHS = [None, *[similarity_graph(random_cost(RNG, size)) for size in SHAPE[1:]]]
LABELS = np.arange(SHAPE[0]) % 3 == 0


def kim_objective(
    factors: list[Array], mu: float, omega: float, signs: Array, theta: Array
) -> float:
    """As published, over dense arrays."""
    total = ((DENSE - full(factors)) ** 2).sum()
    for factor, graph in zip(factors[1:], GRAPHS[1:], strict=True):
        assert graph is not None
        total += mu * np.linalg.norm(factor @ factor.T - graph.toarray(), "fro") ** 2
    margins = signs * (factors[0] @ theta[:-1] + theta[-1])
    return float(total + omega / len(signs) * np.log(1 + np.exp(-margins)).sum())


def test_the_similarity_graph_on_a_line_of_features() -> None:
    places = np.arange(5)
    cost = np.abs(places[:, None] - places) / 4  # keeps itself and floor(log2 5) + 1 = 3 others
    W = np.where(cost < 1, 1 - cost, 0)
    W[0, 4] = W[4, 0] = 0
    degrees = W.sum(axis=1)
    wanted = W / np.sqrt(degrees[:, None] * degrees)
    np.testing.assert_allclose(similarity_graph(cost).toarray(), wanted)
    assert np.linalg.eigvalsh(wanted)[-1] == pytest.approx(1)


def test_the_graph_is_symmetric_and_sparse() -> None:
    graph = similarity_graph(random_cost(np.random.default_rng(0), 64)).toarray()
    np.testing.assert_allclose(graph, graph.T, rtol=1e-14)
    assert 64 * 8 <= np.count_nonzero(graph) <= 2 * 64 * 8


def test_the_spectral_start_finds_blocks() -> None:
    block = np.arange(12) // 4
    graph = sparse.csr_array((block[:, None] == block).astype(float) / 4)
    start = spectral_start(graph, 3, np.random.default_rng(0))
    assert len({tuple(start[block == one].argmax(axis=1)) for one in range(3)}) == 3
    assert graph_error(start, graph) < 0.2 * graph_error(0 * start, graph)


def test_kim_objective_is_the_published_one() -> None:
    rng = np.random.default_rng(4)
    signs, theta = class_signs(LABELS, SHAPE[0]), rng.normal(size=(RANK + 1, 1))
    ours = similarity_objective(TENSOR, START, GRAPHS, 7.0)
    assert ours == pytest.approx(kim_objective(START, 7.0, 0.0, signs, theta), rel=1e-9)
    labelled = ours + 3.0 / SHAPE[0] * float(log_losses(START[0], signs, theta).sum())
    assert labelled == pytest.approx(kim_objective(START, 7.0, 3.0, signs, theta), rel=1e-9)


def test_kim_slopes_are_those_of_the_published_objective() -> None:
    rng = np.random.default_rng(4)
    signs, theta = class_signs(LABELS, SHAPE[0]), rng.normal(size=(RANK + 1, 1))
    mu, omega = 7.0, 300.0
    losses = [
        labelled_row_loss(TENSOR, START, signs, theta, omega / SHAPE[0]),
        *[feature_loss(TENSOR, START, mode, GRAPHS[mode], mu) for mode in (1, 2)],
    ]
    for mode, loss in enumerate(losses):
        for column in range(RANK):

            def moved(entries: Array, mode: int = mode, column: int = column) -> list[Array]:
                factors = [factor.copy() for factor in START]
                factors[mode][:, column] = entries
                return factors

            def value(entries: Array, moved: Any = moved) -> float:
                return kim_objective(moved(entries), mu, omega, signs, theta)

            def slope(
                entries: Array, moved: Any = moved, mode: int = mode, column: int = column
            ) -> Array:
                return losses[mode].slope(moved(entries)[mode], column)[0]

            here = START[mode][:, column]
            scale = np.linalg.norm(slope(here))
            assert check_grad(value, slope, here) <= 1e-4 * scale
        difference = loss.value(2 * START[mode]) - loss.value(START[mode])
        doubled = [2 * f if m == mode else f for m, f in enumerate(START)]
        wanted = kim_objective(doubled, mu, omega if mode == 0 else 0.0, signs, theta)
        wanted -= kim_objective(START, mu, omega if mode == 0 else 0.0, signs, theta)
        assert difference == pytest.approx(wanted, rel=1e-8)


COSTS = [None, *[random_cost(RNG, size) for size in SHAPE[1:]]]


def unscaled(**settings: Any) -> tuple[SimilarityCp, list[Array]]:
    """A fit and its factors as they enter the objective, before columns are made to sum to 1."""
    ends: list[list[Array]] = []

    class Keeping(SimilarityCp):
        def _normalised(self, factors: list[Array]) -> list[Array]:
            ends.append(factors)
            return super()._normalised(factors)

    model = Keeping(RANK, random_state=0, growth=1.0, **settings).fit(TENSOR, COSTS)
    return model, ends[0]


def test_similarity_cp_with_still_weights_never_rises_and_ends_at_a_minimum() -> None:
    model, factors = unscaled(tolerance=0.0, max_iterations=2000)
    losses = np.array([progress.objective for progress in model.history_])
    assert np.diff(losses).max() <= 1e-9 * losses[0]
    for mode, cost in enumerate(COSTS):
        graph = None if cost is None else similarity_graph(cost)
        loss = feature_loss(TENSOR, factors, mode, graph, model.similarity_weight)
        slopes = np.column_stack([loss.slope(factors[mode], column)[0] for column in range(RANK)])
        scale = np.abs(gather(TENSOR, factors, mode)).max()
        assert slopes.min() >= -1e-4 * scale  # nothing is gained by growing
        assert np.abs(slopes * factors[mode]).max() <= 1e-3 * scale * factors[mode].max()


def test_similarity_weight_pulls_the_features_to_the_graph() -> None:
    fits, apart = [], []
    for weight in (0.0, 10.0, 1e4):
        _, factors = unscaled(similarity_weight=weight, max_iterations=200, tolerance=0.0)
        fits.append(squared_error(TENSOR, factors))
        graphs = [similarity_graph(cost) for cost in COSTS if cost is not None]
        apart.append(sum(map(graph_error, factors[1:], graphs)))
    assert fits[0] < fits[1] < fits[2]
    assert apart[0] > apart[1] > apart[2]


@pytest.mark.parametrize("strength", [0.01, 0.3])
def test_elastic_net_weights_are_those_of_scikit_learn(strength: float) -> None:
    rng = np.random.default_rng(1)
    rows = rng.gamma(1.0, size=(80, 4))
    labels = rows @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=80) > 0.3
    signs = class_signs(labels, 80)
    found = fit_weights(rows, signs, strength, np.zeros((5, 1)), steps=5000)
    theirs = LogisticRegression(
        solver="saga",
        l1_ratio=L1_SHARE,
        C=1 / (80 * strength),
        tol=1e-9,
        max_iter=20000,
        random_state=0,
    ).fit(rows, labels)
    np.testing.assert_allclose(found[:-1, 0], theirs.coef_[0], atol=1e-4)
    np.testing.assert_allclose(found[-1, 0], theirs.intercept_[0], atol=1e-4)


def test_labels_pull_classes_apart_and_unknown_ones_do_not_count() -> None:
    def log_loss(weight: float, labels: Any) -> tuple[float, Any]:
        model = SupervisedCp(
            RANK,
            random_state=0,
            growth=1.0,
            label_weight=weight,
            similarity_weight=0.0,
            max_iterations=60,
            tolerance=0.0,
        ).fit(TENSOR, labels=labels)
        signs = class_signs(LABELS, SHAPE[0])
        rows, start = model.memberships_, np.zeros((RANK + 1, 1))
        weights = fit_weights(rows, signs, model.label_penalty, start, steps=2000)
        return float(log_losses(rows, signs, weights).mean()), model

    plain, strong = log_loss(1e-6, LABELS)[0], log_loss(5000.0, LABELS)[0]
    assert strong < 0.7 * plain
    half: list[Any] = list(LABELS[:15]) + [None] * 15
    flipped = [*half[:15], *[float("nan")] * 15]
    one, two = log_loss(50.0, half)[1], log_loss(50.0, flipped)[1]
    np.testing.assert_array_equal(one.memberships_, two.memberships_)


def test_signs_of_classes() -> None:
    two = class_signs(["b", "a", None, "b"], 4)
    np.testing.assert_array_equal(two, [[1], [-1], [0], [1]])
    three = class_signs([2, 1, 3, float("nan")], 4)
    np.testing.assert_array_equal(three, [[-1, 1, -1], [1, -1, -1], [-1, -1, 1], [0, 0, 0]])
