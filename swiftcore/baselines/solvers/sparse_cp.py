"""Sums over the nonzeros of a tensor against a CP model, and small algebra of CP models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import nnls

from swiftcore.tensor import SparseTensor

Factors = list[NDArray[np.float64]]


def gather(
    tensor: SparseTensor,
    factors: Sequence[NDArray[np.float64]],
    mode: int,
    power: int = 0,
    offset: float = 0.0,
) -> NDArray[np.float64]:
    """Weighted sums of Khatri-Rao rows: ``sum_e x_e / (x^_e + offset)^power KR_e`` per index.

    Power 0 is the MTTKRP of the data; 1 and 2 are the numerators of multiplicative updates
    for KL and gamma losses. Only nonzeros are touched.
    """
    out = np.zeros_like(factors[mode])
    _gather(tensor.coordinates, tensor.values, *_stacked(factors), mode, power, offset, out)
    return out


def model_at(tensor: SparseTensor, factors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The model's value at every nonzero of the tensor."""
    out = np.empty(tensor.n_entries)
    _model_at(tensor.coordinates, *_stacked(factors), out)
    return out


def gram(factors: Sequence[NDArray[np.float64]], skipped: int | None = None) -> NDArray[np.float64]:
    """Inner products of the components over all modes but the skipped one."""
    rank = factors[0].shape[1]
    product = np.ones((rank, rank))
    for mode, factor in enumerate(factors):
        if mode != skipped:
            product *= factor.T @ factor
    return product


def squared_error(tensor: SparseTensor, factors: Sequence[NDArray[np.float64]]) -> float:
    """``||X - X^||^2`` over all cells, from the nonzeros and the Gram matrices."""
    crossed = float(tensor.values @ model_at(tensor, factors))
    total = float(tensor.values @ tensor.values) - 2 * crossed + float(gram(factors).sum())
    return max(total, 0.0)


def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """part / whole, and 0 where that would overflow: a dead component stays dead and finite."""
    enough = whole > np.maximum(_TINY, 1e-300 * np.abs(part))
    return np.divide(part, whole, out=np.zeros_like(part), where=enough)


def sum_products(
    factors: Sequence[NDArray[np.float64]], skipped: int | None = None
) -> NDArray[np.float64]:
    """Product over the modes but one of the column sums: the mass of each component there."""
    sums = [factor.sum(axis=0) for mode, factor in enumerate(factors) if mode != skipped]
    return np.asarray(np.prod(sums, axis=0))


def weights_in_rows(factors: Sequence[NDArray[np.float64]]) -> Factors:
    """The same nonnegative model with feature columns that sum to 1."""
    return weights_in_mode(factors, 0)


def weights_in_mode(factors: Sequence[NDArray[np.float64]], mode: int) -> Factors:
    """The same nonnegative model with all columns summing to 1 but those of one mode."""
    weights = sum_products(factors, skipped=mode)
    scaled = [share(factor, factor.sum(axis=0)) for factor in factors]
    scaled[mode] = factors[mode] * weights
    return scaled


def random_factors(tensor: SparseTensor, rank: int, rng: np.random.Generator) -> Factors:
    """Uniform random factors whose model has the mass of the data."""
    factors = weights_in_rows([rng.uniform(0.1, 1.0, (size, rank)) for size in tensor.shape])
    factors[0] *= tensor.values.sum() / factors[0].sum()
    return factors


def even_memberships(tensor: SparseTensor, rank: int) -> NDArray[np.float64]:
    """Every row's own mass, equally on all components."""
    mass = np.bincount(tensor.coordinates[:, 0], tensor.values, minlength=tensor.shape[0])
    return np.repeat(mass[:, None] / rank, rank, axis=1)


def nonnegative_rows(
    tensor: SparseTensor, factors: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Memberships of 0 or more at the least squared error for fixed features, row by row."""
    values, vectors = np.linalg.eigh(gram(factors, skipped=0))
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    roots = np.sqrt(values[kept])
    system = roots[:, None] * vectors[:, kept].T
    targets = (gather(tensor, factors, 0) @ vectors[:, kept]) / roots
    rank = system.shape[1]
    return np.array([nnls(system, target, maxiter=30 * rank)[0] for target in targets])


def _stacked(
    factors: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Where each mode begins in the stack of all factors, and the stack."""
    sizes = [len(factor) for factor in factors]
    return np.cumsum([0, *sizes[:-1]]), np.concatenate(factors)


_TINY = 1e-290  # one over less may be infinite
# Sums over components may be taken in any order, so that they become vector loops.
_COMPILED: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract"},
}


@njit(**_COMPILED)  # type: ignore[untyped-decorator]
def _gather(
    places: Any,
    values: Any,
    tops: Any,
    stacked: Any,
    mode: int,
    power: int,
    offset: float,
    out: Any,
) -> None:
    rank, n_modes = stacked.shape[1], places.shape[1]
    first, last = 1 if mode == 0 else 0, n_modes - 2 if mode == n_modes - 1 else n_modes - 1
    product = np.empty(rank)
    for entry in range(len(values)):
        row = tops[first] + places[entry, first]
        for r in range(rank):
            product[r] = stacked[row, r] if first < last else 1.0  # 1: a matrix has one other mode
        for other in range(first + 1, last):
            if other != mode:
                row = tops[other] + places[entry, other]
                for r in range(rank):
                    product[r] *= stacked[row, r]
        row, own, model = tops[last] + places[entry, last], tops[mode] + places[entry, mode], offset
        for r in range(rank):
            product[r] *= stacked[row, r]
            model += product[r] * stacked[own, r]
        weight, line = values[entry], places[entry, mode]
        if power > 0:
            if not model > 0.0:
                continue
            if model < _TINY:
                for r in range(rank):
                    product[r] /= model
            else:
                weight /= model
            if power == 2:
                weight /= model
        for r in range(rank):
            out[line, r] += weight * product[r]


@njit(**_COMPILED)  # type: ignore[untyped-decorator]
def _model_at(places: Any, tops: Any, stacked: Any, out: Any) -> None:
    rank, last = stacked.shape[1], places.shape[1] - 1
    product = np.empty(rank)
    for entry in range(len(out)):
        factor = stacked[tops[0] + places[entry, 0]]
        for r in range(rank):
            product[r] = factor[r]
        for mode in range(1, last):
            factor = stacked[tops[mode] + places[entry, mode]]
            for r in range(rank):
                product[r] *= factor[r]
        factor, total = stacked[tops[last] + places[entry, last]], 0.0
        for r in range(rank):
            total += product[r] * factor[r]
        out[entry] = total
