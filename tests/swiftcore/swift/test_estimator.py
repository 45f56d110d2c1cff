"""The estimator as its users meet it."""

from __future__ import annotations

import os

import numpy as np
import pytest
from reference.known_problems import random_problem
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from swiftcore import InvalidData, InvalidSettings, NotEnoughMemory, Swift, build_costs
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.data.synthetic.ehr_phenotypes import UNSTABLE
from swiftcore.runtime import memory
from swiftcore.tensor import SparseTensor

TENSOR, COSTS, FACTORS = random_problem(1, (8, 6, 5), 3, 0.2, True)


def blas_threads() -> list[int]:
    return [part["num_threads"] for part in threadpool_info() if part["user_api"] == "blas"]


@pytest.mark.parametrize("seed", range(5))
def test_planted_phenotypes_are_found(seed: int) -> None:
    ehr = generate_ehr(seed=seed)
    costs = build_costs(ehr.tensor, reference=ehr.tensor)
    model = Swift(12, random_state=seed).fit(ehr.tensor, costs)
    similarity = np.ones((12, 12))
    for mode in (1, 2):
        truth, found = ehr.truth[mode], model.factors_[mode]
        truth = truth / np.linalg.norm(truth, axis=0)
        similarity *= truth.T @ (found / np.linalg.norm(found, axis=0))
    rows, columns = linear_sum_assignment(-similarity)
    per_mode = np.mean(
        [cosines(ehr.truth[mode][:, rows], model.factors_[mode][:, columns]) for mode in (1, 2)],
        axis=0,
    )
    steady = per_mode[[p.role != UNSTABLE for p in ehr.phenotypes]]
    print(f"seed {seed}: mean {steady.mean():.3f}, minimum {steady.min():.3f}")
    # A single fit may miss one of them; all the others are found.
    assert np.sort(steady)[1:].mean() >= 0.97 and np.sort(steady)[1] >= 0.85


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one * other).sum(axis=0) / (np.linalg.norm(one, axis=0) * np.linalg.norm(other, axis=0))


def test_what_a_fit_leaves_behind() -> None:
    model = Swift(3, random_state=0, n_jobs=1)
    assert model.fit(TENSOR, COSTS) is model
    assert [factor.shape for factor in model.factors_] == [(8, 3), (6, 3), (5, 3)]
    assert model.memberships_ is model.factors_[0]
    assert model.modes_ == TENSOR.modes
    assert all(factor.dtype == np.float64 and (factor >= 0).all() for factor in model.factors_)
    for factor in model.factors_[1:]:
        np.testing.assert_allclose(factor.sum(axis=0), 1.0, rtol=1e-12)


def test_same_seed_same_numbers_and_another_seed_others() -> None:
    one, two, other = (Swift(3, random_state=s, n_jobs=1).fit(TENSOR, COSTS) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.memberships_, two.memberships_)
    assert not np.array_equal(one.memberships_, other.memberships_)


@pytest.mark.parametrize("start", ["kl", "random"])
def test_more_restarts_do_not_start_worse(start: str) -> None:
    def end(restarts: int) -> float:
        model = Swift(3, start=start, n_restarts=restarts, random_state=0, n_jobs=1)
        return model.fit(TENSOR, COSTS).objective_

    assert end(6) <= end(1) * (1 + 1e-2)


def test_float32_and_float64_agree() -> None:
    ends = [
        Swift(3, dtype=dtype, n_jobs=1, tolerance=0, momentum=0.0)
        .fit(TENSOR, COSTS, initial_factors=FACTORS)
        .objective_
        for dtype in ("float32", "float64")
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


def test_scikit_learns_conventions() -> None:
    model = Swift(4, sharpness=20.0, momentum=0.5, value_unit="mean")
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.set_params(rank=2).rank == 2
    model = Swift(3, random_state=0, n_jobs=1)
    before = model.get_params()
    model.fit(TENSOR, COSTS)
    assert model.get_params() == before
    assert not hasattr(clone(model), "factors_")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rank", 0),
        ("rank", 2.5),
        ("rank", True),
        ("rank", "3"),
        ("rank", None),
        ("sharpness", 0.0),
        ("sharpness", -1.0),
        ("sharpness", np.nan),
        ("sharpness", np.inf),
        ("sharpness", "10"),
        ("marginal_weight", 0),
        ("marginal_weight", np.inf),
        ("max_iterations", -1),
        ("max_iterations", 1.5),
        ("tolerance", -1e-9),
        ("tolerance", np.nan),
        ("start", "best"),
        ("n_restarts", 0),
        ("momentum", -0.1),
        ("momentum", np.inf),
        ("value_unit", 0.0),
        ("value_unit", "median"),
        ("value_unit", np.nan),
        ("dtype", "float16"),
        ("dtype", int),
        ("n_jobs", 0),
        ("n_jobs", "two"),
        ("n_jobs", 1.5),
        ("random_state", "seed"),
        ("random_state", -1),
        ("random_state", 1.5),
    ],
)
def test_settings_out_of_range(name: str, value: object) -> None:
    model = Swift(3, n_jobs=1).set_params(**{name: value})
    with pytest.raises(InvalidSettings) as error:
        model.fit(TENSOR, COSTS)
    assert [problem.code for problem in error.value.problems] == [f"setting-{name}"]
    assert repr(value) in error.value.problems[0].found


def test_all_bad_settings_are_named_at_once() -> None:
    with pytest.raises(InvalidSettings) as error:
        Swift(0, sharpness=-1, dtype="half").fit(TENSOR, COSTS)
    named = {problem.code for problem in error.value.problems}
    assert named == {"setting-rank", "setting-sharpness", "setting-dtype"}


def test_numbers_of_numpy_are_numbers() -> None:
    model = Swift(
        np.int64(3),
        sharpness=np.float32(10),
        marginal_weight=np.float64(1),
        max_iterations=np.int32(3),
        n_jobs=np.int64(1),
        random_state=np.int64(0),
    )
    assert model.fit(TENSOR, COSTS).n_iterations_ == 3


@pytest.mark.parametrize(
    ("start", "code"),
    [
        (FACTORS[:2], "start-shape"),
        ([factor[:, :2] for factor in FACTORS], "start-shape"),
        ([FACTORS[1], FACTORS[0], FACTORS[2]], "start-shape"),
        ([-FACTORS[0], *FACTORS[1:]], "start-values"),
        ([FACTORS[0] * np.nan, *FACTORS[1:]], "start-values"),
        ([FACTORS[0] + np.inf, *FACTORS[1:]], "start-values"),
        ([factor.astype(str) + "a" for factor in FACTORS], "start-type"),
        ([factor.astype(complex) for factor in FACTORS], "start-type"),
        ([[[1.0], [1.0, 2.0]], *FACTORS[1:]], "start-type"),
        (3, "start-type"),
    ],
)
def test_wrong_start(start: object, code: str) -> None:
    with pytest.raises(InvalidData) as error:
        Swift(3, n_jobs=1).fit(TENSOR, COSTS, initial_factors=start)  # type: ignore[arg-type]
    assert error.value.problems[0].code == code


def test_a_start_is_not_changed() -> None:
    given = [factor.copy() for factor in FACTORS]
    Swift(3, n_jobs=1).fit(TENSOR, COSTS, initial_factors=given)
    for one, other in zip(given, FACTORS, strict=True):
        np.testing.assert_array_equal(one, other)


def test_zeros_of_a_start_stay() -> None:
    start = [factor.copy() for factor in FACTORS]
    start[1][2, 0] = start[2][3, 1] = 0.0
    model = Swift(3, n_jobs=1).fit(TENSOR, COSTS, initial_factors=start)
    assert model.factors_[1][2, 0] == 0
    assert model.factors_[2][3, 1] == 0


@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_dead_components_are_reported(rho: float) -> None:
    start = [factor.copy() for factor in FACTORS]
    start[1][:, 1] = 0.0
    model = Swift(3, n_jobs=1, sharpness=rho).fit(TENSOR, COSTS, initial_factors=start)
    assert model.dead_components_ == (1,)
    assert not model.memberships_[:, 1].any()
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    alive = Swift(3, n_jobs=1).fit(TENSOR, COSTS, initial_factors=FACTORS)
    assert alive.dead_components_ == ()


def test_of_a_start_of_zeros_all_components_are_dead() -> None:
    zeros = [np.zeros_like(factor) for factor in FACTORS]
    model = Swift(3, n_jobs=1).fit(TENSOR, COSTS, initial_factors=zeros)
    assert model.dead_components_ == (0, 1, 2)
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weight", [1e-12, 1e-25, 1e-60, 1e-200])
@pytest.mark.parametrize("rho", [10.0, 50.0, 1000.0])
def test_a_start_with_one_vanishing_component(weight: float, rho: float, dtype: str) -> None:
    start = [factor.copy() for factor in FACTORS]
    start[0][:, 0] *= weight
    start[1][0, 1:] = 0.0  # some columns are reached by it alone
    model = Swift(3, n_jobs=1, sharpness=rho, dtype=dtype)
    model.fit(TENSOR, COSTS, initial_factors=start)
    assert np.isfinite(model.objective_)
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    assert model.objective_ < 3 * TENSOR.values.sum()


@pytest.mark.parametrize("rank", [1, 7, 30])
def test_any_rank(rank: int) -> None:
    model = Swift(rank, random_state=0, n_jobs=1).fit(TENSOR, COSTS)
    assert np.isfinite(model.objective_)
    assert model.memberships_.shape == (8, rank)


@pytest.mark.parametrize("which", [(0,), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_modes_in_which_nothing_moves(which: tuple[int, ...], rho: float) -> None:
    costs = [None if mode in which else cost for mode, cost in enumerate(COSTS)]
    model = Swift(3, random_state=0, n_jobs=1, sharpness=rho, tolerance=0).fit(TENSOR, costs)
    values = [entry.objective for entry in model.history_]
    assert values == sorted(values, reverse=True)
    assert np.isfinite(values).all()


def test_a_fit_that_would_not_fit_is_refused_with_numbers(monkeypatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000.0)
    with pytest.raises(NotEnoughMemory) as error:
        Swift(3, n_jobs=1).fit(TENSOR, COSTS)
    (problem,) = error.value.problems
    assert "MB needed" in problem.found and "0 MB to be had" in problem.found
    assert "cost None" in problem.cure and "(size 8)" in problem.cure


@pytest.mark.skipif(os.cpu_count() == 1, reason="BLAS has one thread anyway")
def test_blas_gets_its_threads_back(monkeypatch) -> None:
    """After an estimate, a fit, a refusal and a fit that was broken off."""

    def fail(_: object) -> None:
        raise KeyboardInterrupt

    with threadpool_limits(2, "blas"):
        before = blas_threads()
        assert max(before) == 2
        Swift(3, random_state=0).fit(TENSOR, COSTS)
        assert blas_threads() == before
        with pytest.raises(KeyboardInterrupt):
            Swift(3, random_state=0).fit(TENSOR, COSTS, callback=fail)
        assert blas_threads() == before
        Swift(3, random_state=0).estimate_memory(TENSOR, COSTS)
        assert blas_threads() == before, "estimate_memory leaves BLAS at one thread"
        monkeypatch.setattr(memory, "available_memory", lambda: 10_000.0)
        with pytest.raises(NotEnoughMemory):
            Swift(3, random_state=0).fit(TENSOR, COSTS)
        assert blas_threads() == before, "a refused fit leaves BLAS at one thread"


def test_changing_a_cost_after_the_fit_does_not_change_the_model() -> None:
    costs = [cost.copy() for cost in COSTS]
    model = Swift(3, random_state=0, n_jobs=1).fit(TENSOR, costs)
    before = model.transform(TENSOR, independent=True)
    costs[1][:] = 1.0 - np.eye(6)
    np.testing.assert_array_equal(model.transform(TENSOR, independent=True), before)


@pytest.mark.parametrize(
    ("sharpness", "weight"), [(10.0, 1e15), (1e20, 1.0), (1e9, 1e9), (1e-6, 1e-6)]
)
def test_settings_that_no_number_can_follow_are_refused(sharpness: float, weight: float) -> None:
    with pytest.raises(InvalidSettings) as error:
        Swift(3, sharpness=sharpness, marginal_weight=weight).fit(TENSOR, COSTS)
    assert error.value.problems[0].code == "setting-product"


@pytest.mark.parametrize(("sharpness", "weight"), [(1e7, 10.0), (1e-4, 1e-4), (1e5, 1e3)])
def test_the_extreme_settings_that_are_let_through_are_finite(
    sharpness: float, weight: float
) -> None:
    model = Swift(3, sharpness=sharpness, marginal_weight=weight, random_state=0, dtype="float64")
    model.fit(TENSOR, COSTS)
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    assert np.isfinite(model.objective_)


def test_a_huge_start_is_refused() -> None:
    with pytest.raises(InvalidData) as error:
        Swift(3).fit(TENSOR, COSTS, initial_factors=[FACTORS[0] + 1e200, *FACTORS[1:]])
    assert error.value.problems[0].code == "start-values"


def test_rows_without_a_cost_in_the_fit_have_none_in_the_projection() -> None:
    model = Swift(3, random_state=0, dtype="float64").fit(TENSOR, [None, *COSTS[1:]])
    np.testing.assert_array_equal(
        model.transform(TENSOR), model.transform(TENSOR, [None, *COSTS[1:]])
    )
    with pytest.raises(InvalidSettings, match="one by one"):
        model.transform(TENSOR, COSTS[0], independent=True)


@pytest.mark.parametrize("sharpness", [100.0, 1000.0])
def test_groups_that_share_nothing_leave_no_number_without_a_reciprocal(sharpness: float) -> None:
    """Two components for three separate groups: the model of the third dies to 1e-40 and less."""
    rng = np.random.default_rng(0)
    group = np.arange(54) % 3
    places = [
        (row, 3 * group[row] + rng.integers(3), 2 * group[row] + rng.integers(2))
        for row in range(54)
        for _ in range(6)
    ]
    tensor = SparseTensor.from_coordinates(places, np.ones(len(places)), shape=[54, 9, 6])
    model = Swift(2, marginal_weight=0.1, sharpness=sharpness, random_state=0, n_jobs=1)
    model.fit(tensor, build_costs(tensor, reference=tensor))
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    objectives = [entry.objective for entry in model.history_]
    assert all(np.diff(objectives) <= 0)
