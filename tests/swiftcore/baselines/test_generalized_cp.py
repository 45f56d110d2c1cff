"""CP-Binary and CP-Continuous against pyttb and against their majorizers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pyttb import ktensor
from pyttb import tensor as dense_tensor
from pyttb.gcp.fg import evaluate
from pyttb.gcp.handles import bernoulli_odds, bernoulli_odds_grad, gamma, gamma_grad
from pyttb.gcp.optimizers import LBFGSB
from pyttb.gcp_opt import gcp_opt
from scipy.optimize import minimize
from support.small_counts import (
    DENSE,
    RANK,
    SHAPE,
    START,
    TENSOR,
    Array,
    as_ktensor,
    from_start,
    full,
)

from swiftcore import SparseTensor
from swiftcore.baselines.cp_binary import CpBinary
from swiftcore.baselines.cp_continuous import CpContinuous

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
        dense_tensor(data),
        RANK,
        (*handles, 0.0),
        LBFGSB(maxiter=2000, factr=10.0, pgtol=1e-8),
        init=as_ktensor([0, 1, 2]),
        printitn=0,
    )
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
