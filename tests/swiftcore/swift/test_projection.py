"""New rows for fixed features: together as in the paper, or each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from reference.dense_swift import objective, projection_step
from reference.known_problems import random_problem

from swiftcore import InvalidCost, InvalidData, InvalidSettings, Mode, SparseTensor, Swift

TENSOR, COSTS, FACTORS = random_problem(1, (10, 6, 5), 3, 0.25, True)
NEW, NEW_COSTS, _ = random_problem(2, (7, 6, 5), 3, 0.2, True)


def fitted(**settings: object) -> Swift:
    model = Swift(3, n_jobs=1, **settings)  # type: ignore[arg-type]
    return model.fit(TENSOR, COSTS, initial_factors=FACTORS)


def test_training_rows_come_back_where_they_were() -> None:
    model = fitted(dtype="float64", tolerance=1e-10, max_iterations=3000)
    back = model.transform(TENSOR, COSTS[0], max_iterations=3000)
    difference = np.abs(back - model.memberships_).max()
    assert difference <= 0.02 * model.memberships_.max()


@pytest.mark.parametrize("rho", [10.0, 1000.0])
def test_joint_projection_leaves_the_referees_step_nothing_to_gain(rho: float) -> None:
    model = fitted(dtype="float64", sharpness=rho, tolerance=0)
    found = model.transform(NEW, NEW_COSTS[0], max_iterations=500)
    factors = [found, *model.factors_[1:]]
    costs = [NEW_COSTS[0], *COSTS[1:]]
    step = projection_step(NEW.to_dense(), factors, costs, rho, 1.0)
    here = objective(NEW.to_dense(), factors, costs, rho, 1.0).total
    assert here - objective(NEW.to_dense(), step, costs, rho, 1.0).total <= 1e-5 * here


def test_all_costs_or_the_row_cost_alone() -> None:
    model = fitted()
    alone = model.transform(NEW, NEW_COSTS[0])
    together = model.transform(NEW, [NEW_COSTS[0], *COSTS[1:]])
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("independent", [False, True])
def test_the_model_is_not_moved(independent: bool) -> None:
    model = fitted()
    before = [factor.copy() for factor in model.factors_]
    model.transform(NEW, independent=independent)
    for factor, old in zip(model.factors_, before, strict=True):
        np.testing.assert_array_equal(factor, old)


@pytest.mark.parametrize("unit", [1.0, 7.0, "mean"])
@pytest.mark.parametrize(("lam", "rho"), [(1.0, 10.0), (0.1, 10.0), (10.0, 50.0), (1.0, 1000.0)])
def test_each_row_alone_is_what_it_is_in_the_batch(lam: float, rho: float, unit: object) -> None:
    model = fitted(marginal_weight=lam, sharpness=rho, value_unit=unit)
    batch = model.transform(NEW, independent=True)
    for row in range(7):
        if not np.any(NEW.coordinates[:, 0] == row):
            continue
        alone = model.transform(NEW.select(0, [row]), independent=True)
        np.testing.assert_allclose(alone[0], batch[row], rtol=1e-9, atol=1e-9 * batch[row].max())


def test_subsets_and_order_do_not_matter() -> None:
    model = fitted()
    batch = model.transform(NEW, independent=True)
    order = np.array([4, 0, 6, 2])
    some = model.transform(NEW.select(0, order), independent=True)
    np.testing.assert_allclose(some, batch[order], rtol=1e-9, atol=1e-12)


def test_a_heavy_neighbour_does_not_matter() -> None:
    """The scale of the batch is another row's business."""
    model = fitted()
    values = NEW.values.copy()
    values[NEW.coordinates[:, 0] == 0] *= 1e6
    heavy = SparseTensor(NEW.modes, NEW.coordinates, values)
    plain = model.transform(NEW, independent=True)
    np.testing.assert_allclose(
        model.transform(heavy, independent=True)[1:], plain[1:], rtol=1e-9, atol=1e-9
    )


def test_together_rows_do_lean_on_each_other() -> None:
    """The reason for the independent way: in the paper's, mass moves between rows."""
    model = fitted()
    near = 0.01 * (np.ones((7, 7)) - np.eye(7))
    batch = model.transform(NEW, near)
    alone = model.transform(NEW.select(0, [3]), np.zeros((1, 1)))
    assert np.abs(alone[0] - batch[3]).max() > 1e-3 * batch[3].max()


@pytest.mark.parametrize("independent", [False, True])
def test_rows_without_entries_get_nothing(independent: bool) -> None:
    modes = (Mode.numbered("mode 1", 9), *NEW.modes[1:])
    longer = SparseTensor(modes, NEW.coordinates, NEW.values)
    got = fitted().transform(longer, independent=independent)
    assert not got[7:].any()
    assert np.isfinite(got).all()
    assert got[:7].any()


def test_dead_components_get_no_members() -> None:
    start = [factor.copy() for factor in FACTORS]
    start[2][:, 1] = 0.0
    model = Swift(3, n_jobs=1).fit(TENSOR, COSTS, initial_factors=start)
    for independent in (False, True):
        got = model.transform(NEW, independent=independent)
        assert not got[:, 1].any()
        assert got[:, [0, 2]].any()


def test_unfitted_and_misfitting() -> None:
    model = fitted()
    with pytest.raises(InvalidSettings) as not_fitted:
        Swift(3).transform(NEW)
    assert not_fitted.value.problems[0].code == "not-fitted"
    other, _, _ = random_problem(2, (7, 5, 6), 3, 0.2, True)
    with pytest.raises(InvalidData) as misfit:
        model.transform(other)
    assert misfit.value.problems[0].code == "feature-count"
    four, _, _ = random_problem(2, (7, 6, 5, 2), 3, 0.2, True)
    with pytest.raises(InvalidData) as misfit:
        model.transform(four)
    assert misfit.value.problems[0].code == "feature-count"
    renamed = Mode("mode 2", ("0", "1", "5", "3", "4", "2"))
    swapped = SparseTensor((NEW.modes[0], renamed, NEW.modes[2]), NEW.coordinates, NEW.values)
    with pytest.raises(InvalidData) as misfit:
        model.transform(swapped)
    assert misfit.value.problems[0].code == "feature-order"
    assert misfit.value.problems[0].where == "mode 2, index 2"


@pytest.mark.parametrize("independent", [False, True])
def test_rows_that_are_all_empty_are_refused(independent: bool) -> None:
    empty = SparseTensor(NEW.modes, NEW.coordinates[:0], NEW.values[:0])
    with pytest.raises(InvalidData) as error:
        fitted().transform(empty, independent=independent)
    assert error.value.problems[0].code == "all-zero"


def test_many_rows_are_projected_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row by itself, so that it does not matter with whom; a row may have no entry."""
    tensor, costs, _ = random_problem(6, (11, 6, 5), 3, 0.2, True)
    kept = tensor.coordinates[:, 0] != 4
    rows = SparseTensor(tensor.modes, tensor.coordinates[kept], tensor.values[kept])
    model = Swift(3, random_state=0, n_jobs=1, max_iterations=5).fit(tensor, costs)
    whole = model.transform(rows, independent=True)
    monkeypatch.setattr("swiftcore.swift.estimator.ALONE_AT_ONCE", 2)
    np.testing.assert_allclose(model.transform(rows, independent=True), whole, rtol=1e-6, atol=1e-9)
    assert not whole[4].any()


def test_a_bad_row_cost_is_refused() -> None:
    with pytest.raises(InvalidCost):
        fitted().transform(NEW, np.eye(7))
    with pytest.raises(InvalidCost):
        fitted().transform(NEW, COSTS[0])


def test_no_iteration_means_the_start() -> None:
    """max_iterations=0 is a number, not the absence of one."""
    model = fitted()
    start = model.transform(NEW, independent=True, max_iterations=0)
    np.testing.assert_allclose(start, np.repeat(start[:, :1], 3, axis=1))
