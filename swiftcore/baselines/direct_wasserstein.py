"""Direct Wasserstein tensor factorization: SWIFT's problem without SWIFT's short cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import rel_entr, xlogy

from swiftcore.baselines.all_cells import khatri_rao
from swiftcore.baselines.base import PROJECTION_STEPS, CpBaseline
from swiftcore.baselines.solvers.checks import refuse_if_too_large
from swiftcore.baselines.solvers.sparse_cp import Factors, even_memberships
from swiftcore.cost.checks import check_costs
from swiftcore.cost.recipe import build_costs, row_cost
from swiftcore.errors import InvalidCost, InvalidSettings, refuse
from swiftcore.tensor import SparseTensor

Array = NDArray[np.float64]
FLOOR = 1e-200  # below any mass that counts; keeps the scalings of zero columns finite
MAX_EXPONENT = 400.0  # of sharpness * cost; beyond it products with the kernel are lost


class DirectWasserstein(CpBaseline):
    """Nonnegative CP factors at the smallest Wasserstein distance, every cell written out.

    Minimises the objective of :class:`swiftcore.Swift` as the paper's appendix does directly:
    transport runs over *all* columns of every unfolding by cold sweeps with the full kernel,
    and each factor update stacks the KL terms of all modes into one ::

        KL( [vec D_1; ...; vec D_N]  ||  [B_1; ...; B_N] vec(A_n) )

    with sparse matrices B_i of (cells x rank) entries. From the same start it returns what
    SWIFT returns, slowly and in much memory: meant for small data and for comparing times.

    Parameters
    ----------
    rank, max_iterations, tolerance, random_state
        As in :class:`swiftcore.baselines.base.CpBaseline`.
    sharpness, marginal_weight : float
        rho and lambda, as in :class:`swiftcore.Swift`.
    sweeps : int
        Sinkhorn sweeps per transport, from a cold start; the paper takes 25.

    Notes
    -----
    Costs left out are cosine costs. Given ones are needed for every mode; that of the rows may
    be None, and then no mass moves between rows. Rows are projected together, with a cosine cost
    between them if the fit had a row cost, as SWIFT does. The stacked form counts every term, so
    it contains the 1 / N that the paper's short form lost. With sweeps enough to solve the
    transports the loss never rises; 25 do not promise it.
    """

    loss_never_rises = False

    def __init__(
        self,
        rank: int = 10,
        *,
        sharpness: float = 10.0,
        marginal_weight: float = 1.0,
        max_iterations: int = 50,
        sweeps: int = 25,
        tolerance: float = 1e-5,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            rank, max_iterations=max_iterations, tolerance=tolerance, random_state=random_state
        )
        self.sharpness = sharpness
        self.marginal_weight = marginal_weight
        self.sweeps = sweeps

    def _prepare(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None,
        labels: ArrayLike | None,
    ) -> SparseTensor:
        checked = _all_costs(costs, tensor)
        self._kernels = self._dense_kernels(tensor, checked)
        self._feature_costs, self._rows_fixed = checked[1:], checked[0] is None
        return tensor

    def _dense_kernels(
        self, tensor: SparseTensor, costs: Sequence[Array | None]
    ) -> list[Array | None]:
        """exp(-sharpness C - 1) of every mode, if there is room for the whole computation."""
        _refuse_what_is_too_sharp(costs, self.sharpness)
        refuse_if_too_large(estimate_memory(tensor.shape, self.rank), tensor.shape)
        return [None if cost is None else np.exp(-self.sharpness * cost - 1.0) for cost in costs]

    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        """The objective at the transports of these factors, which the next sweep then uses."""
        self._deltas, value = self._transports(tensor, factors, self._kernels)
        return value

    def _sweep(self, tensor: SparseTensor, factors: Factors) -> Factors:
        moved = list(factors)
        for mode in range(tensor.n_modes):
            moved[mode] = stacked_update(moved, self._deltas, mode)
        return moved

    def _normalised(self, factors: Factors) -> Factors:
        del self._kernels, self._deltas  # as large as the dense tensor, and of no more use
        return super()._normalised(factors)

    def _project(self, tensor: SparseTensor, features: Factors) -> Array:
        row_costs = None if self._rows_fixed else row_cost(tensor)
        kernels = self._dense_kernels(tensor, [row_costs, *self._feature_costs])

        def step(rows: SparseTensor, factors: Factors) -> Array:
            return stacked_update(factors, self._transports(rows, factors, kernels)[0], 0)

        if self._rows_fixed:
            return self._climb_rows(tensor, features, step)
        rows = even_memberships(tensor, self.rank)
        for _ in range(PROJECTION_STEPS * self.max_iterations):  # all rows move together
            moved = step(tensor, [rows, *features])
            change, rows = np.abs(moved - rows).sum(axis=1), moved
            if (change <= 0.1 * self.tolerance * rows.sum(axis=1)).all():
                break
        return rows

    def _transports(
        self, tensor: SparseTensor, factors: Factors, kernels: Sequence[Array | None]
    ) -> tuple[list[Array], float]:
        """Delta of every mode, and the objective."""
        data = tensor.to_dense()
        model = (factors[0] @ khatri_rao(factors[1:]).T).reshape(data.shape)
        deltas, total = [], 0.0
        for mode, kernel in enumerate(kernels):
            delta, value = dense_transport(
                unfolded(model, mode),
                unfolded(data, mode),
                kernel,
                self.sharpness,
                self.marginal_weight,
                self.sweeps,
            )
            deltas.append(delta)
            total += value
        return deltas, total


def estimate_memory(shape: Sequence[int], rank: int) -> int:
    """Bytes at the peak: one B_i with its products, ten dense tensors, and the kernels."""
    cells = int(np.prod([int(size) for size in shape]))
    entries = cells * rank
    per_entry = 8 + (4 if entries < 2**31 else 8)
    return entries * per_entry + 10 * 8 * cells + 16 * sum(int(size) ** 2 for size in shape)


def unfolded(dense: Array, mode: int) -> Array:
    """The mode in rows, all other modes in columns, the last moving fastest."""
    return np.moveaxis(dense, mode, 0).reshape(dense.shape[mode], -1)


def dense_transport(
    model: Array,
    data: Array,
    kernel: Array | None,
    sharpness: float,
    marginal_weight: float,
    sweeps: int,
) -> tuple[Array, float]:
    """Delta of all columns of an unfolding after cold sweeps, and their objective.

    Parameters
    ----------
    model, data : ndarray, (size x columns)
    kernel : ndarray or None
        exp(-sharpness * cost - 1); None if no mass moves, which has a closed form.
    sharpness, marginal_weight : float
    sweeps : int
    """
    phi = relaxation(sharpness, marginal_weight)
    model = np.maximum(model, FLOOR)
    if kernel is None:
        moved = (model * data) ** (phi / (1 + phi)) * np.exp((phi - 1) / (phi + 1))
        inner = xlogy(moved, moved).sum() / sharpness
        return moved, float(inner + marginal_weight * (_kl(moved, model) + _kl(moved, data)))
    u, v = dense_scalings(model, data, kernel, phi, sweeps)
    delta, psi = u * (kernel @ v), v * (kernel.T @ u)
    inner = (xlogy(delta, u).sum() + xlogy(psi, v).sum() - delta.sum()) / sharpness
    return delta, float(inner + marginal_weight * (_kl(delta, model) + _kl(psi, data)))


def relaxation(sharpness: float, marginal_weight: float) -> float:
    """The exponent phi of the scaling equations."""
    return marginal_weight * sharpness / (marginal_weight * sharpness + 1.0)


def dense_scalings(
    model: Array, data: Array, kernel: Array, phi: float, sweeps: int
) -> tuple[Array, Array]:
    """The scalings u and v of all columns after cold sweeps; v is 0 in a zero column."""
    from_model, from_data = _raised(np.maximum(model, FLOOR), phi), data**phi
    u = np.full(data.shape, 1.0 / len(data))
    v = np.empty_like(data)
    for _ in range(sweeps):
        _scale(from_data, np.matmul(kernel.T, u, out=v), phi)
        _scale(from_model, np.matmul(kernel, v, out=u), phi)
    _scale(from_data, np.matmul(kernel.T, u, out=v), phi)
    return u, v


def _scale(side: Array, transported: Array, phi: float) -> None:
    """(side / transported) ** phi in place; ``side`` is already raised to phi."""
    np.maximum(transported, FLOOR, out=transported)
    np.multiply(side, _raised(transported, -phi), out=transported)


def _raised(array: Array, power: float) -> Array:
    """Positive entries to a power, in place: faster than numpy.power."""
    np.log(array, out=array)
    array *= power
    return np.exp(array, out=array)


def _kl(part: Array, whole: Array) -> float:
    return float((rel_entr(part, whole) - part + whole).sum())


def stacked_update(factors: Factors, deltas: Sequence[Array], mode: int) -> Array:
    """One multiplicative step of vec(A_n) on the stacked KL, one block of rows at a time."""
    vector = factors[mode].ravel()
    upward, downward = np.zeros_like(vector), np.zeros_like(vector)
    for term, delta in enumerate(deltas):
        block = long_format(factors, mode, term)
        model = block @ vector
        ratio = np.divide(delta.ravel(), model, out=np.zeros_like(model), where=model > 0)
        upward += block.T @ ratio
        downward += block.T @ np.ones_like(model)
    kept = np.divide(upward, downward, out=np.ones_like(vector), where=downward > 0)
    return (vector * kept).reshape(factors[mode].shape)


def long_format(factors: Factors, mode: int, term: int) -> Any:
    """The block B_i (i = term) with vec(X^_(i)) = B_i vec(A_n) (n = mode), in compressed rows.

    The row of a cell holds the product of the other modes' factors, rank entries in all.
    """
    size, rank = factors[mode].shape
    order = [term, *(other for other in range(len(factors)) if other != term)]
    values = khatri_rao([np.ones((size, rank)) if m == mode else factors[m] for m in order])
    shape = [len(factors[m]) for m in order]
    index = np.int32 if values.size < 2**31 else np.int64
    wide = [1] * len(order)
    wide[order.index(mode)] = size
    first = np.broadcast_to(np.arange(0, size * rank, rank, dtype=index).reshape(wide), shape)
    columns = (first.reshape(-1, 1) + np.arange(rank, dtype=index)).ravel()
    starts = np.arange(0, values.size + 1, rank, dtype=index)
    return sparse.csr_array((values.ravel(), columns, starts), shape=(len(values), size * rank))


def _all_costs(
    costs: Sequence[ArrayLike | None] | None, tensor: SparseTensor
) -> list[Array | None]:
    """Checked costs, cosine if left out; every feature mode must have one."""
    given = build_costs(tensor, reference=tensor) if costs is None else costs
    checked = check_costs(given, tensor.shape)
    missing = [str(mode + 1) for mode in range(1, tensor.n_modes) if checked[mode] is None]
    if missing:
        raise refuse(
            "cost-missing",
            "A Wasserstein factorization needs the cost of every feature mode",
            f"mode {', '.join(missing)}",
            "no cost matrix",
            "Build the costs with build_costs.",
            kind=InvalidCost,
        )
    return checked


def _refuse_what_is_too_sharp(costs: Sequence[Array | None], sharpness: float) -> None:
    largest = max((float(cost.max(initial=0.0)) for cost in costs if cost is not None), default=0.0)
    if sharpness * largest > MAX_EXPONENT:
        raise refuse(
            "sharpness-kernel",
            "The dense kernel would vanish at this sharpness",
            "sharpness",
            f"{sharpness:g} with costs up to {largest:.3g}",
            f"Give at most {MAX_EXPONENT / largest:.0f}, or use SWIFT.",
            kind=InvalidSettings,
        )
