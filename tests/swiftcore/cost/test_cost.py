"""Cost recipes against plain NumPy; every bad matrix is refused with its place."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from reference.known_problems import random_problem
from scipy import sparse
from sklearn.metrics.pairwise import cosine_distances

from swiftcore import CostRecipe, InvalidCost, InvalidSettings, SparseTensor, build_costs
from swiftcore.cost import check_cost, check_costs, row_cost
from swiftcore.cost.cosine import cosine_cost, unit_rows
from swiftcore.cost.memory import kept_bytes, making_bytes
from swiftcore.cost.tf_idf import tf_idf

GOOD = np.array([[0.0, 0.3, 1.0], [0.3, 0.0, 0.5], [1.0, 0.5, 0.0]])


def changed(*cells: tuple[int, int, float]) -> np.ndarray:
    matrix = GOOD.copy()
    for i, j, value in cells:
        matrix[i, j] = value
    return matrix


def test_cosine_costs_are_the_papers() -> None:
    """Rows by their features of all other modes side by side, features by who has them."""
    tensor, _, _ = random_problem(4, (9, 6, 5), 1, 0.15, True)
    costs = build_costs(tensor, "cosine", reference=tensor)
    there = tensor.to_dense() > 0
    rows = np.hstack([there.any(axis=2), there.any(axis=1)]).astype(float)
    features = [there.any(axis=2).T.astype(float), there.any(axis=1).T.astype(float)]
    for cost, table in zip(costs, [rows, *features], strict=True):
        wanted = cosine_distances(table)
        empty = ~table.any(axis=1)
        wanted[empty], wanted[:, empty] = 1.0, 1.0
        np.fill_diagonal(wanted, 0.0)
        np.testing.assert_allclose(cost, wanted, atol=1e-12)
        assert check_cost(cost, len(cost), "here") is not None


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("density", [0.01, 0.2])
def test_costs_built_in_strips_are_those_of_one_product_to_the_bit(
    density: float, in_order: bool
) -> None:
    features = sparse.random_array(
        (1300, 60), density=density, format="csr", rng=np.random.default_rng(0)
    )
    features.sort_indices()
    if not in_order:  # the second half of the rows backwards
        half = features[650:]
        half = sparse.csr_array((half.data[::-1], half.indices[::-1], half.indptr), half.shape)
        features = sparse.csr_array(sparse.vstack([features[:650], half]))
        assert not features.has_sorted_indices
    unit = unit_rows(features)
    whole = np.clip(1.0 - (unit @ unit.T).toarray(), 0.0, None)
    np.fill_diagonal(whole, 0.0)
    np.testing.assert_array_equal(cosine_cost(features), whole)


def test_a_random_cost_is_its_upper_half_mirrored() -> None:
    tensor, _, _ = random_problem(4, (9, 6, 5), 1, 0.15, True)
    rng = np.random.default_rng(7)
    for cost, size in zip(
        build_costs(tensor, "random", reference=tensor, seed=7), (9, 6, 5), strict=True
    ):
        upper = np.triu(rng.uniform(size=(size, size)), 1)
        np.testing.assert_array_equal(cost, upper + upper.T)


@pytest.mark.parametrize("recipe", list(CostRecipe))
def test_building_costs_takes_the_memory_it_is_said_to(recipe: CostRecipe) -> None:
    """The costs themselves and one strip of products: not three matrices at once."""
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.integers(0, size, 20_000) for size in (2500, 40)])
    tensor = SparseTensor.from_coordinates(places, np.ones(20_000), (2500, 40))
    tracemalloc.start()
    build_costs(tensor, recipe, reference=tensor)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept_bytes(tensor.shape) < peak
    assert peak < 1.05 * (kept_bytes(tensor.shape) + making_bytes(tensor.shape))


def test_feature_costs_come_from_the_reference_alone() -> None:
    """Whatever stands in the rows to be projected, nothing of it is in the feature costs."""
    training, _, _ = random_problem(1, (9, 6, 5), 1, 0.15, True)
    one, _, _ = random_problem(2, (4, 6, 5), 1, 0.3, True)
    other, _, _ = random_problem(3, (4, 6, 5), 1, 0.3, True)
    first = build_costs(one, "cosine", reference=training)
    second = build_costs(other, "cosine", reference=training)
    for mode in (1, 2):
        np.testing.assert_array_equal(first[mode], second[mode])
    assert not np.array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[0], row_cost(one))


def test_a_feature_nobody_had_in_training_is_at_distance_one() -> None:
    tensor = SparseTensor.from_coordinates([[0, 0], [1, 1]], [1, 1], shape=(2, 3))
    cost = build_costs(tensor, reference=tensor)[1]
    assert cost[2].tolist() == [1.0, 1.0, 0.0]
    assert cost[:, 2].tolist() == [1.0, 1.0, 0.0]


def test_two_modes_and_four_modes() -> None:
    for shape in ((6, 5), (5, 4, 3, 2)):
        tensor, _, _ = random_problem(1, shape, 1, 0.4, True)
        costs = build_costs(tensor, reference=tensor)
        assert [cost.shape for cost in costs] == [(size, size) for size in shape]
        check_costs(costs, shape)


def test_one_minus_identity_and_random() -> None:
    tensor, _, _ = random_problem(1, (4, 3), 1, 0.5, True)
    plain = build_costs(tensor, CostRecipe.ONE_MINUS_IDENTITY, reference=tensor)
    np.testing.assert_array_equal(plain[1], np.ones((3, 3)) - np.eye(3))
    one, same, other = (
        build_costs(tensor, "random", reference=tensor, seed=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one[0], same[0])
    assert not np.array_equal(one[0], other[0])
    check_costs(one, tensor.shape)


def test_documents_are_compared_by_tf_idf() -> None:
    counts = np.array([[2, 1, 0], [0, 1, 3], [2, 1, 0], [0, 0, 0]])
    tensor = SparseTensor.from_coordinates([[0, 0, 0], [3, 1, 1]], [1, 1], shape=(4, 2, 2))
    cost = row_cost(tensor, sparse.csr_array(counts))
    idf = np.log(5 / (1 + np.array([2, 3, 1]))) + 1
    wanted = cosine_distances(counts[:3] * idf)
    np.testing.assert_allclose(cost[:3, :3], wanted, atol=1e-12)
    assert cost[3].tolist() == [1.0, 1.0, 1.0, 0.0]


def test_inverse_document_frequency_comes_from_the_reference() -> None:
    counts = sparse.csr_array(np.array([[1.0, 1.0]]))
    reference = sparse.csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]))
    wanted = np.log(4 / np.array([3, 1])) + 1
    np.testing.assert_allclose(tf_idf(counts, reference).toarray()[0], wanted)


def test_unknown_recipe_and_other_features_are_refused() -> None:
    tensor, _, _ = random_problem(1, (4, 3), 1, 0.5, True)
    other, _, _ = random_problem(1, (4, 5), 1, 0.5, True)
    with pytest.raises(InvalidSettings, match="one-minus-identity"):
        build_costs(tensor, "euclid", reference=tensor)
    with pytest.raises(InvalidCost) as error:
        build_costs(tensor, reference=other)
    assert error.value.problems[0].code == "reference-features"


@pytest.mark.parametrize(
    ("matrix", "code", "place"),
    [
        (changed((0, 1, np.nan), (1, 0, np.nan)), "cost-nan", "(0, 1), (1, 0)"),
        (changed((0, 2, np.inf), (2, 0, np.inf)), "cost-infinite", "(0, 2), (2, 0)"),
        (changed((0, 1, -0.1), (1, 0, -0.1)), "cost-negative", "(0, 1), (1, 0)"),
        (changed((0, 1, 0.4)), "cost-asymmetric", "(0, 1), (1, 0)"),
        (changed((1, 1, 0.2)), "cost-diagonal", "diagonal 1"),
        (np.eye(3), "cost-identity", "mode 2"),
        (np.eye(3, dtype=int), "cost-identity", "mode 2"),
        (np.zeros((3, 4)), "cost-shape", "mode 2"),
        (np.zeros((4, 4)), "cost-shape", "mode 2"),
        (np.zeros(3), "cost-shape", "mode 2"),
        (GOOD.astype(object), "cost-shape", "mode 2"),
        (GOOD.astype(complex), "cost-shape", "mode 2"),
        (GOOD.astype(str), "cost-shape", "mode 2"),
        ([[0.0, 1.0, 1.0], [1.0, 0.0]], "cost-shape", "mode 2"),
    ],
)
def test_a_bad_matrix_is_refused_with_its_place(matrix: object, code: str, place: str) -> None:
    with pytest.raises(InvalidCost) as error:
        check_cost(matrix, 3, "mode 2")  # type: ignore[arg-type]
    assert [problem.code for problem in error.value.problems] == [code]
    assert place in error.value.problems[0].where


def test_the_reason_against_an_identity_is_said() -> None:
    with pytest.raises(InvalidCost, match=r"staying put.*one-minus-identity"):
        check_cost(np.eye(4), 4, "mode 1")


def test_all_faults_of_all_matrices_are_reported_at_once() -> None:
    bad = changed((0, 1, np.nan), (1, 0, np.nan), (0, 2, -1.0), (2, 2, 0.5))
    with pytest.raises(InvalidCost) as error:
        check_costs([bad, None, np.eye(3)], (3, 3, 3))
    assert [problem.code for problem in error.value.problems] == [
        "cost-nan",
        "cost-negative",
        "cost-asymmetric",
        "cost-diagonal",
        "cost-identity",
    ]


def test_wrong_number_of_matrices() -> None:
    with pytest.raises(InvalidCost) as error:
        check_costs([GOOD], (3, 3))
    assert error.value.problems[0].code == "cost-count"


def test_faults_beyond_the_first_strip_are_found() -> None:
    size = 1030
    matrix = np.ones((size, size)) - np.eye(size)
    matrix[1029, 3] = 0.5
    with pytest.raises(InvalidCost) as error:
        check_cost(matrix, size, "mode 1")
    assert "(3, 1029), (1029, 3)" in error.value.problems[0].where


def test_what_rounding_leaves_behind_is_forgiven() -> None:
    """1 - cosine is often -1e-17 where it should be 0, and differs in the last digit."""
    matrix = changed((0, 1, -1e-17), (1, 0, -1e-17), (0, 2, 1.0 + 1e-15))
    used = check_cost(matrix, 3, "mode 1")
    assert used.min() >= 0.0


def test_whole_numbers_and_float32_are_taken() -> None:
    assert check_cost(1 - np.eye(3, dtype=int), 3, "m").dtype == np.float64
    assert check_cost(GOOD.astype(np.float32), 3, "m").dtype == np.float32


def test_reference_with_the_same_features_in_another_order_is_refused() -> None:
    tensor, _, _ = random_problem(1, (6, 4, 3), 1, 0.5, True)
    with pytest.raises(InvalidCost) as error:
        build_costs(tensor, reference=tensor.select(1, [1, 0, 2, 3]))
    assert error.value.problems[0].code == "reference-features"
