"""CP-ALS, CP-NMU and CP-APR against their libraries, and the sums all baselines share."""

from __future__ import annotations

import numpy as np
import pytest
from pyttb.cp_als import cp_als
from pyttb.cp_apr import cp_apr
from support.small_counts import (
    DENSE,
    FEATURES_FIRST,
    RANK,
    SHAPE,
    START,
    TENSOR,
    Array,
    as_ktensor,
    as_sptensor,
    from_start,
    full,
)
from tensorly.cp_tensor import CPTensor
from tensorly.decomposition import non_negative_parafac

from swiftcore import SparseTensor
from swiftcore.baselines.all_cells import gather_all
from swiftcore.baselines.cp_als import CpAls
from swiftcore.baselines.cp_apr import CpApr, kl_divergence
from swiftcore.baselines.cp_nmu import CpNmu
from swiftcore.baselines.solvers.sparse_cp import (
    gather,
    gram,
    model_at,
    nonnegative_rows,
    squared_error,
)


def test_sums_over_nonzeros_are_those_over_all_cells() -> None:
    model = full(START)
    np.testing.assert_allclose(model_at(TENSOR, START), model[tuple(TENSOR.coordinates.T)])
    np.testing.assert_allclose(squared_error(TENSOR, START), ((DENSE - model) ** 2).sum())


@pytest.mark.parametrize("power", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(5, 4), (5, 4, 3), (5, 4, 3, 2)])
def test_weighted_sums_over_nonzeros(sizes: tuple[int, ...], power: int) -> None:
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.7, sizes).astype(float)
    tensor = SparseTensor.from_coordinates(np.argwhere(dense), dense[dense > 0], sizes)
    factors = [rng.random((size, 2)) for size in sizes]
    letters = "ijkl"[: len(sizes)]
    terms = ",".join(f"{letter}r" for letter in letters)
    weighted = dense / (np.einsum(f"{terms}->{letters}", *factors) + 0.3) ** power
    for mode, letter in enumerate(letters):
        others = [factor for other, factor in enumerate(factors) if other != mode]
        inputs = ",".join(f"{other}r" for other in letters if other != letter)
        wanted = np.einsum(f"{letters},{inputs}->{letter}r", weighted, *others)
        np.testing.assert_allclose(gather(tensor, factors, mode, power, 0.3), wanted)


def test_sums_stay_finite_where_one_over_the_model_is_not() -> None:
    tensor = SparseTensor.from_coordinates([[0, 0, 0]], [4.0], (1, 1, 1))
    factors = [np.array([[1e-100, 0.0]]), np.array([[1e-100, 0.0]]), np.array([[1e-110, 0.0]])]
    np.testing.assert_allclose(gather(tensor, factors, 0, power=1), [[4e100, 0.0]])
    assert (gather(tensor, [0 * factor for factor in factors], 0, power=1) == 0).all()


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
        as_sptensor(FEATURES_FIRST),
        RANK,
        "mu",
        0.0,
        maxiters=8,
        printitn=0,
        init=as_ktensor(FEATURES_FIRST),
        kappa=0.0,
        epsDivZero=1e-300,
    )
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
        as_sptensor([0, 1, 2]),
        RANK,
        0.0,
        12,
        dimorder=np.array(FEATURES_FIRST),
        init=as_ktensor([0, 1, 2]),
        printitn=0,
    )
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


def test_what_fades_to_nothing_stays_a_number() -> None:
    """Denominators below the normal range used to overflow: inf, then nan."""
    rng = np.random.default_rng(0)
    tensor = _binary(rng)
    model = CpNmu(4, random_state=0)
    factors = [rng.random((size, 4)) for size in tensor.shape]
    factors[1][3] = 5e-324  # what hundreds of multiplications leave of a useless feature
    for _ in range(5):
        factors = model._sweep(tensor, factors)
        assert all(np.isfinite(factor).all() for factor in factors)


@pytest.mark.parametrize("rank", [20, 40])
def test_no_nan_on_binary_data_with_more_components_than_it_has(rank: int) -> None:
    tensor = _binary(np.random.default_rng(1))
    model = CpNmu(rank, random_state=0, max_iterations=3000, tolerance=0.0).fit(tensor)
    assert all(np.isfinite(factor).all() for factor in model.factors_)


def _binary(rng: np.random.Generator) -> SparseTensor:
    places = np.unique(np.column_stack([rng.integers(0, n, 150) for n in (30, 8, 6)]), axis=0)
    return SparseTensor.from_coordinates(places, np.ones(len(places)), (30, 8, 6))
