"""Every baseline against its library, or against its published form written out densely."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pyttb import ktensor, sptensor
from pyttb import tensor as dense_tensor
from pyttb.cp_als import cp_als
from pyttb.cp_apr import cp_apr
from pyttb.gcp.fg import evaluate
from pyttb.gcp.handles import (
    bernoulli_odds,
    bernoulli_odds_grad,
    gamma,
    gamma_grad,
)
from pyttb.gcp.optimizers import LBFGSB
from pyttb.gcp_opt import gcp_opt
from reference.known_problems import random_cost
from scipy import sparse
from scipy.optimize import check_grad, minimize
from sklearn.linear_model import LogisticRegression
from tensorly.cp_tensor import CPTensor
from tensorly.decomposition import non_negative_parafac

from swiftcore import SparseTensor
from swiftcore.baselines import (
    CpAls,
    CpApr,
    CpBinary,
    CpContinuous,
    CpNmu,
    SimilarityCp,
    SupervisedCp,
)
from swiftcore.baselines.all_cells import gather_all
from swiftcore.baselines.checks import class_signs
from swiftcore.baselines.cp_apr import kl_divergence
from swiftcore.baselines.elastic_net import L1_SHARE, fit_weights, log_losses
from swiftcore.baselines.feature_similarity import graph_error, similarity_graph, spectral_start
from swiftcore.baselines.similarity_cp import feature_loss, similarity_objective
from swiftcore.baselines.sparse_cp import (
    gather,
    gram,
    model_at,
    nonnegative_rows,
    random_factors,
    squared_error,
)
from swiftcore.baselines.supervised_cp import labelled_row_loss

Array = NDArray[np.float64]
SHAPE, RANK = (30, 12, 10), 3
FEATURES_FIRST = [1, 2, 0]  # the order in which a sweep goes through the modes


def make_tensor() -> SparseTensor:
    rng = np.random.default_rng(5)
    mean = np.einsum("ir,jr,kr->ijk", *[rng.gamma(0.4, size=(size, RANK)) for size in SHAPE])
    counts = rng.poisson(400 * mean / mean.sum())
    places = np.argwhere(counts)
    return SparseTensor.from_coordinates(places, counts[tuple(places.T)], SHAPE)


TENSOR = make_tensor()
DENSE = TENSOR.to_dense()
START = random_factors(TENSOR, RANK, np.random.default_rng(8))


def full(factors: Any) -> Array:
    return np.einsum("ir,jr,kr->ijk", *factors)


def from_start(method: Any, **settings: Any) -> Any:
    """The method fitted from START instead of its own start."""

    class FromStart(method):  # type: ignore[misc]
        def _start(self, tensor: SparseTensor, rng: np.random.Generator) -> list[Array]:
            return [factor.copy() for factor in START]

    return FromStart(RANK, **settings)


def as_ktensor(order: list[int]) -> Any:
    return ktensor([np.asfortranarray(START[mode]) for mode in order])


def as_sptensor(order: list[int]) -> Any:
    shape = tuple(SHAPE[mode] for mode in order)
    return sptensor(TENSOR.coordinates[:, order], TENSOR.values[:, None], shape)


def test_sums_over_nonzeros_are_those_over_all_cells() -> None:
    model = full(START)
    np.testing.assert_allclose(model_at(TENSOR, START), model[tuple(TENSOR.coordinates.T)])
    np.testing.assert_allclose(squared_error(TENSOR, START), ((DENSE - model) ** 2).sum())
    for power, weighted in (
        (0, DENSE),
        (1, DENSE / (model + 0.1)),
        (2, DENSE / (model + 0.1) ** 2),
    ):
        found = [gather(TENSOR, START, mode, power, 0.1 if power else 0.0) for mode in range(3)]
        A, B, C = START
        np.testing.assert_allclose(found[0], np.einsum("ijk,jr,kr->ir", weighted, B, C))
        np.testing.assert_allclose(found[1], np.einsum("ijk,ir,kr->jr", weighted, A, C))
        np.testing.assert_allclose(found[2], np.einsum("ijk,ir,jr->kr", weighted, A, B))


@pytest.mark.parametrize("sizes", [(5, 4), (5, 4, 3), (5, 4, 3, 2)])
def test_sums_over_all_cells(sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swiftcore.baselines.all_cells.CELLS_AT_A_TIME", 30)  # several strips
    rng = np.random.default_rng(0)
    factors = [rng.random((size, 2)) for size in sizes]
    letters = "ijkl"[: len(sizes)]
    terms = ",".join(f"{letter}r" for letter in letters)
    inverse = 1 / (np.einsum(f"{terms}->{letters}", *factors) + 0.3)
    for mode, letter in enumerate(letters):
        others = [factor for other, factor in enumerate(factors) if other != mode]
        inputs = ",".join(f"{other}r" for other in letters if other != letter)
        wanted = np.einsum(f"{letters},{inputs}->{letter}r", inverse, *others)
        np.testing.assert_allclose(gather_all(factors, mode, 0.3), wanted)


def test_cp_apr_takes_the_steps_of_pyttb(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without the lifting of entries at 0: pyttb lifts where the ratio is above 0, not 1 as
    # published. It has a test of its own below.
    monkeypatch.setattr("swiftcore.baselines.cp_apr.LIFTED_BY", 0.0)
    model = from_start(CpApr, max_iterations=8, tolerance=0.0).fit(TENSOR)
    theirs, _, _ = cp_apr(
        as_sptensor(FEATURES_FIRST), RANK, "mu", 0.0, maxiters=8, printitn=0,
        init=as_ktensor(FEATURES_FIRST), kappa=0.0, epsDivZero=1e-300,
    )  # fmt: skip
    wanted = theirs.full().data.transpose(2, 0, 1)
    np.testing.assert_allclose(full(model.factors_), wanted, rtol=1e-6, atol=1e-9 * wanted.max())


def test_cp_apr_loss_is_the_divergence_and_leaves_it_at_rest() -> None:
    model = CpApr(RANK, random_state=0, tolerance=1e-12, max_iterations=2000).fit(TENSOR)
    fitted = full(model.factors_)
    logs = np.log(np.where(DENSE > 0, DENSE, 1) / np.where(DENSE > 0, fitted, 1))
    np.testing.assert_allclose(model.objective_, (DENSE * logs - DENSE + fitted).sum(), rtol=1e-9)
    np.testing.assert_allclose(fitted.sum(), DENSE.sum(), rtol=1e-6)  # as at every KL optimum
    assert kl_divergence(TENSOR, [0 * START[0], *START[1:]]) == np.inf


def test_cp_apr_projects_a_row_whose_features_have_next_to_no_weight() -> None:
    """1 / 1e-315 is infinite, and infinity times a weight of 0 is no number."""
    model = CpApr(2, random_state=0, max_iterations=3).fit(TENSOR)
    first, second = np.zeros((SHAPE[1], 2)), np.zeros((SHAPE[2], 2))
    first[:3, 0], first[3, 1] = [1, 1e-160, 1e-170], 1
    second[:3, 0], second[3, 1] = [1, 1e-155, 1e-170], 1
    model.factors_[1:] = [first, second]
    places = [[0, 1, 1], [1, 2, 2], [2, 3, 3], [3, 3, 0], [3, 0, 0]]
    rows = SparseTensor.from_coordinates(places, [1, 2, 3, 4, 5], (4, *SHAPE[1:]))
    memberships = model.transform(rows)
    assert np.isfinite(memberships).all()
    np.testing.assert_allclose(memberships[0], [1, 0])  # faint, but the only one
    np.testing.assert_array_equal(memberships[1], 0)  # 1e-340: no model at all
    np.testing.assert_allclose(memberships[2:], [[0, 3], [5, 0]])


def test_cp_apr_lifts_entries_that_are_stuck_at_zero() -> None:
    truth = CpApr(RANK, random_state=0, tolerance=1e-8, max_iterations=500).fit(TENSOR)
    stuck = [factor.copy() for factor in truth.factors_]
    largest = np.unravel_index(stuck[0].argmax(), stuck[0].shape)
    stuck[0][largest] = 0.0

    class Stuck(CpApr):
        def _start(self, tensor: SparseTensor, rng: np.random.Generator) -> list[Array]:
            return stuck

    again = Stuck(RANK, tolerance=1e-8, max_iterations=500).fit(TENSOR)
    assert again.factors_[0][largest] > 0
    assert again.objective_ <= truth.objective_ * (1 + 1e-4)


def test_cp_nmu_takes_the_steps_of_tensorly() -> None:
    model = from_start(CpNmu, max_iterations=25, tolerance=0.0).fit(TENSOR)
    init = CPTensor((np.ones(RANK), [START[mode].copy() for mode in FEATURES_FIRST]))
    theirs = non_negative_parafac(
        DENSE.transpose(FEATURES_FIRST), RANK, n_iter_max=25, init=init, tol=0
    )
    B, C, A = theirs.factors
    wanted = full([A * theirs.weights, B, C])
    np.testing.assert_allclose(full(model.factors_), wanted, rtol=1e-6, atol=1e-9 * wanted.max())


def test_nonnegative_rows_are_the_exact_minimum() -> None:
    rows = nonnegative_rows(TENSOR, START)
    slope = rows @ gram(START, skipped=0) - gather(TENSOR, START, 0)
    assert rows.min() >= 0 and (rows == 0).any() and (rows > 0).any()
    scale = np.abs(gather(TENSOR, START, 0)).max()
    assert slope.min() >= -1e-9 * scale
    assert np.abs(slope[rows > 0]).max() <= 1e-9 * scale


def test_cp_als_takes_the_steps_of_pyttb() -> None:
    model = from_start(CpAls, max_iterations=12, tolerance=0.0).fit(TENSOR)
    theirs, _, output = cp_als(
        as_sptensor([0, 1, 2]), RANK, 0.0, 12, dimorder=np.array(FEATURES_FIRST),
        init=as_ktensor([0, 1, 2]), printitn=0,
    )  # fmt: skip
    wanted = theirs.full().data
    np.testing.assert_allclose(full(model.factors_), wanted, atol=1e-6 * np.abs(wanted).max())
    fit = 1 - np.sqrt(model.objective_) / np.linalg.norm(DENSE)
    assert fit == pytest.approx(float(output["fit"]), abs=1e-8)


def test_cp_als_projects_as_least_squares() -> None:
    model = CpAls(RANK, random_state=0).fit(TENSOR)
    _, B, C = model.factors_
    product = np.einsum("jr,kr->jkr", B, C).reshape(-1, RANK)
    wanted = np.linalg.lstsq(product, DENSE.reshape(SHAPE[0], -1).T)[0].T
    np.testing.assert_allclose(model.transform(TENSOR), wanted, atol=1e-8 * np.abs(wanted).max())


# --- Kim et al. 2017 ---------------------------------------------------------------------

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
        solver="saga", l1_ratio=L1_SHARE, C=1 / (80 * strength), tol=1e-9,
        max_iter=20000, random_state=0,
    ).fit(rows, labels)  # fmt: skip
    np.testing.assert_allclose(found[:-1, 0], theirs.coef_[0], atol=1e-4)
    np.testing.assert_allclose(found[-1, 0], theirs.intercept_[0], atol=1e-4)


def test_labels_pull_classes_apart_and_unknown_ones_do_not_count() -> None:
    def log_loss(weight: float, labels: Any) -> tuple[float, Any]:
        model = SupervisedCp(
            RANK, random_state=0, growth=1.0, label_weight=weight, similarity_weight=0.0,
            max_iterations=60, tolerance=0.0,
        ).fit(TENSOR, labels=labels)  # fmt: skip
        signs = class_signs(LABELS, SHAPE[0])
        return float(log_losses(model.memberships_, signs, model.label_weights_).mean()), model

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


# --- generalized CP ----------------------------------------------------------------------

GENERALIZED = pytest.mark.parametrize(
    ("method", "handles", "data"),
    [
        (CpBinary, (bernoulli_odds, bernoulli_odds_grad), (DENSE > 0).astype(float)),
        (CpContinuous, (gamma, gamma_grad), DENSE + 0.5),
    ],
)


def all_places(data: Array) -> SparseTensor:
    places = np.argwhere(data)
    return SparseTensor.from_coordinates(places, data[tuple(places.T)], SHAPE)


@GENERALIZED
def test_generalized_cp_ends_where_pyttb_does(method: Any, handles: Any, data: Array) -> None:
    model = from_start(method, max_iterations=3000, tolerance=1e-9).fit(all_places(data))
    theirs, _, _ = gcp_opt(
        dense_tensor(data), RANK, (*handles, 0.0), LBFGSB(maxiter=2000, factr=10.0, pgtol=1e-8),
        init=as_ktensor([0, 1, 2]), printitn=0,
    )  # fmt: skip
    ours = evaluate(ktensor(model.factors_), dense_tensor(data), None, handles[0])
    best = evaluate(theirs, dense_tensor(data), None, handles[0])
    assert model.objective_ == pytest.approx(float(ours), rel=1e-7)  # the same loss
    assert float(ours) <= float(best) + 2e-3 * abs(float(best))


def test_generalized_steps_are_those_of_their_majorizers() -> None:
    A, B, C = START
    model = full(START)

    def against(weights: Array) -> Array:
        return np.einsum("ijk,ir,kr->jr", weights, A, C)

    odds = B * against((DENSE > 0) / (model + 1e-10)) / against(1 / (1 + model))
    binary = from_start(CpBinary, max_iterations=0).fit(TENSOR)
    ones = SparseTensor(TENSOR.modes, TENSOR.coordinates, np.ones(TENSOR.n_entries))
    np.testing.assert_allclose(B * binary._ratio(ones, START, 1), odds)
    # The gamma step needs its root: without it the majorizer is not at its minimum.
    mean = B * np.sqrt(against(DENSE / (model + 0.5) ** 2) / against(1 / (model + 0.5)))
    continuous = from_start(CpContinuous, max_iterations=0, floor=0.5).fit(TENSOR)
    np.testing.assert_allclose(B * continuous._ratio(TENSOR, START, 1), mean)


@GENERALIZED
def test_generalized_projection_is_a_minimum_for_each_row(
    method: Any, handles: Any, data: Array
) -> None:
    tensor = all_places(data)
    model = method(RANK, random_state=0, tolerance=1e-8, max_iterations=500).fit(tensor)
    rows = model.transform(tensor)
    _, B, C = model.factors_
    product = np.einsum("jr,kr->jkr", B, C).reshape(-1, RANK)
    for row in (0, 7, 21):
        cells = data[row].ravel()

        def value(memberships: Array, cells: Array = cells) -> float:
            return float(handles[0](cells, product @ memberships).sum())

        found = minimize(value, rows[row] + 1e-3, bounds=[(0, None)] * RANK, method="L-BFGS-B")
        assert value(rows[row]) <= found.fun + 1e-4 * abs(found.fun)


def test_the_gamma_loss_on_empty_cells_is_degenerate_but_finite() -> None:
    model = CpContinuous(RANK, random_state=0).fit(TENSOR)
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    assert model.objective_ < -10 * DENSE.size  # the floor is nearly all there is to the loss
    tamed = CpContinuous(RANK, random_state=0, floor=0.5).fit(TENSOR)
    assert tamed.memberships_.sum() == pytest.approx(DENSE.sum(), rel=0.5)


def test_amounts_do_not_matter_to_the_binary_model() -> None:
    ones = SparseTensor(TENSOR.modes, TENSOR.coordinates, np.ones(TENSOR.n_entries))
    one, two = (CpBinary(RANK, random_state=0, max_iterations=5).fit(t) for t in (TENSOR, ones))
    np.testing.assert_array_equal(one.memberships_, two.memberships_)
    np.testing.assert_array_equal(one.transform(TENSOR), two.transform(ones))
