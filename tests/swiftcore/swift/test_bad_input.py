"""Fourteen kinds of awkward input: a clear refusal, or a right result."""

from __future__ import annotations

import numpy as np
import pytest
from reference.dense_swift import objective
from reference.known_problems import random_problem

from swiftcore import InvalidCost, SparseTensor, Swift, SwiftError, build_costs

TENSOR, COSTS, FACTORS = random_problem(1, (6, 5, 4), 2, 0.3, True)


def with_values(values: object) -> SparseTensor:
    return SparseTensor.from_coordinates(TENSOR.coordinates, values, shape=TENSOR.shape)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "values", "code"),
    [
        ("NaN", np.full(36, np.nan), "value-nan"),
        ("inf", np.full(36, np.inf), "value-infinite"),
        ("negative", -np.ones(36), "value-negative"),
        ("object", np.ones(36, dtype=object), "value-type"),
        ("strings", np.full(36, "1"), "value-type"),
        ("complex", np.ones(36, dtype=complex), "value-type"),
    ],
)
def test_refused_as_a_tensor(kind: str, values: object, code: str) -> None:
    with pytest.raises(SwiftError) as error:
        with_values(values)
    (problem,) = error.value.problems
    assert problem.code == code
    assert all((problem.what, problem.where, problem.found, problem.cure))


@pytest.mark.parametrize("independent", [None, "fit"])
def test_all_zero(independent: object) -> None:
    with pytest.raises(SwiftError, match="nothing to factorize"):
        Swift(2, n_jobs=1).fit(with_values(np.zeros(36)), COSTS)


def test_empty_mode() -> None:
    with pytest.raises(SwiftError, match="no index at all"):
        SparseTensor.from_coordinates(np.empty((0, 3), dtype=int), [], shape=(3, 0, 2))


def test_bool_is_ones() -> None:
    plain, flags = with_values(np.ones(36)), with_values(np.ones(36, dtype=bool))
    assert plain == flags


def check_against_referee(model: Swift, tensor, costs, unit: float, tolerance: float) -> None:
    """The referee sees the data in the given unit; the objective is proportional to it."""
    factors = [model.factors_[0] / unit, *model.factors_[1:]]
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    wanted = objective(
        tensor.to_dense() / unit, factors, costs, model.sharpness, model.marginal_weight
    ).total
    last = model.history_[-1]
    slack = tolerance * abs(wanted)
    assert last.objective / unit + slack >= wanted >= (last.objective - last.gap) / unit - slack
    assert last.gap / unit <= 1e-2 * abs(wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_zero_slices(rho: float, dtype: str) -> None:
    places = TENSOR.coordinates[(TENSOR.coordinates[:, 0] != 2) & (TENSOR.coordinates[:, 1] != 1)]
    tensor = SparseTensor.from_coordinates(places, np.ones(len(places)), shape=TENSOR.shape)
    costs = build_costs(tensor, reference=tensor)
    model = Swift(2, sharpness=rho, random_state=0, n_jobs=1, dtype=dtype).fit(tensor, costs)
    check_against_referee(model, tensor, costs, 1.0, 1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 1, 1), (4, 3, 2)])
@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_one_cell(rho: float, shape: tuple[int, ...], dtype: str) -> None:
    tensor = SparseTensor.from_coordinates([[0] * len(shape)], [5.0], shape=shape)
    costs = build_costs(tensor, "one-minus-identity", reference=tensor)
    model = Swift(1, sharpness=rho, random_state=0, n_jobs=1, dtype=dtype).fit(tensor, costs)
    check_against_referee(model, tensor, costs, 1.0, 1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rho", [10.0, 1000.0])
@pytest.mark.parametrize("size", [1e-300, 1e-15, 1e15, 1e300])
def test_extreme_values_in_their_own_unit(size: float, rho: float, dtype: str) -> None:
    tensor = with_values(size * TENSOR.values)
    for unit in ("mean", size):
        model = Swift(2, sharpness=rho, value_unit=unit, random_state=0, n_jobs=1, dtype=dtype)
        model.fit(tensor, COSTS)
        counted_in = size * TENSOR.values.mean() if unit == "mean" else size
        check_against_referee(model, tensor, COSTS, counted_in, 1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1e-300, 1e-15, 1e15, 1e300])
def test_extreme_values_in_the_papers_unit(size: float, dtype: str) -> None:
    """The paper's entropy then outweighs all else; the answer may be odd but must be finite."""
    tensor = with_values(size * TENSOR.values)
    model = Swift(2, random_state=0, n_jobs=1, dtype=dtype).fit(tensor, COSTS)
    assert all(np.isfinite(factor).all() and (factor >= 0).all() for factor in model.factors_)
    values = [entry.objective for entry in model.history_]
    assert np.isfinite(values).all()
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1e-15, 1e15])
def test_large_counts_in_the_papers_unit_are_right(size: float, dtype: str) -> None:
    tensor = with_values(size * TENSOR.values)
    model = Swift(2, random_state=0, n_jobs=1, dtype=dtype).fit(tensor, COSTS)
    check_against_referee(model, tensor, COSTS, 1.0, 1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_values_of_very_different_sizes(rho: float, dtype: str) -> None:
    tensor = with_values(10.0 ** np.linspace(-12, 12, 36))
    model = Swift(2, sharpness=rho, value_unit="mean", random_state=0, n_jobs=1, dtype=dtype)
    model.fit(tensor, COSTS)
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    check_against_referee(model, tensor, COSTS, float(tensor.values.mean()), 1e-4)


def test_costs_are_checked_in_a_fit() -> None:
    bad = [COSTS[0], np.eye(5), COSTS[2] * np.nan]
    with pytest.raises(InvalidCost) as error:
        Swift(2).fit(TENSOR, bad)
    assert [problem.code for problem in error.value.problems][:2] == ["cost-identity", "cost-nan"]


@pytest.mark.parametrize("costs", [3, COSTS[:2], COSTS[0]])
def test_costs_that_are_no_list_of_matrices(costs: object) -> None:
    with pytest.raises(SwiftError):
        Swift(2).fit(TENSOR, costs)  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [None, np.ones((3, 3)), [[1, 2]], "tensor"])
def test_what_is_no_tensor(thing: object) -> None:
    with pytest.raises(SwiftError):
        Swift(2).fit(thing, COSTS)  # type: ignore[arg-type]
