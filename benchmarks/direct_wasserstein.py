"""Direct Wasserstein tensor factorization: the slow method the paper compares itself with.

For three modes, as its appendix defines it. Transport runs over *all* columns of every
unfolding, zero columns included. The factor update writes the three KL terms as one,

    KL( [vec D_1; vec D_2; vec D_3]  ||  [B_1; B_2; B_3] vec(A_n) ),

with the sparse matrices B_i of equations A1_long_format, A2_long_format and A3_long_format,
and multiplies ``vec(A_n)`` by ``B'(d / (B vec(A_n))) / B'1``. The stacked ``B'1`` counts every
term, so this form of the paper's own update contains the 1 / N that the printed short form
lost. In A3_long_format the second block prints a row of I_2 ones; the sizes need I_3.

Transport is that of the baseline in swiftcore, which makes the same matrices B_i for any number
of modes at once; here they are multiplied out as the appendix writes them.

Unfoldings are the paper's: columns in Fortran order, vec() stacks columns.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.paper_dense import PAPER_SWEEPS
from swiftcore.baselines.direct_wasserstein import dense_scalings, relaxation
from swiftcore.errors import InvalidData, NotEnoughMemory, Problem
from swiftcore.tensor import SparseTensor

Array = NDArray[np.float64]


def estimate_memory(shape: Sequence[int], rank: int) -> int:
    """Bytes at the peak of one iteration.

    The widest moment is a block (A kron I)(...) being multiplied out: its left matrix beside the
    product, each with cells x rank entries of 12 bytes (16 beyond 2^31 entries), on top of ten
    dense tensors (data, model, three Delta, work space) and the kernels.
    """
    cells = int(np.prod([int(size) for size in shape]))
    entries = cells * rank
    per_entry = 8 + (4 if entries < 2**31 else 8)
    return 2 * entries * per_entry + 10 * 8 * cells + 8 * sum(int(size) ** 2 for size in shape)


def fit_direct_wasserstein(
    tensor: SparseTensor,
    costs: Sequence[Array],
    initial_factors: Sequence[Array],
    sharpness: float,
    marginal_weight: float,
    iterations: int,
    memory_budget: int,
    sweeps: int = PAPER_SWEEPS,
) -> tuple[list[Array], list[float]]:
    """Run the direct method; the factors and the seconds of each outer iteration.

    Raises
    ------
    NotEnoughMemory
        At once, if the estimate passes ``memory_budget`` (bytes).
    InvalidData
        If the tensor has not three modes.
    """
    factors = [np.asarray(factor, np.float64) for factor in initial_factors]
    _check(tensor, factors[0].shape[1], memory_budget)
    dense = tensor.to_dense()
    kernels = [np.exp(-sharpness * cost - 1.0) for cost in costs]
    phi = relaxation(sharpness, marginal_weight)
    seconds = []
    for _ in range(iterations):
        started = time.perf_counter()
        model = np.einsum("ir,jr,kr->ijk", *factors, optimize=True)
        deltas = []
        for mode, kernel in enumerate(kernels):
            u, v = dense_scalings(
                _unfolded(model, mode), _unfolded(dense, mode), kernel, phi, sweeps
            )
            deltas.append(u * (kernel @ v))
        for mode in range(3):
            factors[mode] = _updated(factors, deltas, mode)
        seconds.append(time.perf_counter() - started)
    return factors, seconds


def _check(tensor: SparseTensor, rank: int, memory_budget: int) -> None:
    if tensor.n_modes != 3:
        raise InvalidData(
            Problem(
                "direct-modes",
                "The direct method is written for three modes",
                "tensor",
                f"{tensor.n_modes} modes",
                "Give a tensor with three modes.",
            )
        )
    needed = estimate_memory(tensor.shape, rank)
    if needed > memory_budget:
        raise NotEnoughMemory(
            Problem(
                "direct-memory",
                "The direct method would not fit into memory",
                f"shape {tensor.shape}, rank {rank}",
                f"{needed / 1e9:.1f} GB needed, {memory_budget / 1e9:.1f} GB allowed",
                "Take a smaller tensor or rank, or allow more.",
            )
        )


def _unfolded(dense: Array, mode: int) -> Array:
    return np.moveaxis(dense, mode, 0).reshape(dense.shape[mode], -1, order="F")


def _updated(factors: Sequence[Array], deltas: Sequence[Array], mode: int) -> Array:
    """The multiplicative update of vec(A_n) on the stacked KL, one block of rows at a time."""
    vector = factors[mode].ravel(order="F")
    numerator, denominator = np.zeros_like(vector), np.zeros_like(vector)
    for term, delta in enumerate(deltas):
        data = (delta if term == mode else delta.T).ravel(order="F")
        upper, lower = _weighed(_long_format(factors, mode, term), vector, data)
        numerator += upper
        denominator += lower
    kept = np.divide(numerator, denominator, out=np.ones_like(vector), where=denominator > 0)
    return (vector * kept).reshape(factors[mode].shape, order="F")


def _weighed(matrix: Any, vector: Array, data: Array) -> tuple[Array, Array]:
    """B'(d / (B a)) and B'1 of one block."""
    product = matrix @ vector
    ratio = np.divide(data, product, out=np.zeros_like(data), where=product > 0)
    return matrix.T @ ratio, matrix.T @ np.ones_like(data)


def _long_format(factors: Sequence[Array], mode: int, term: int) -> Any:
    """The block B_i of A_n's long format (i = term, n = mode), cells x (I_n R), sparse.

    With H the higher and L the lower of the two modes beside i, X^_(i) = A_i (H kr L)'. For i = n,
    vec(X^_(n)) = ((H kr L) kron I) vec(A_n). For i != n, A_n is H or L, so the block is taken
    from vec(X^_(i)') = (A_i kron I) vec(H kr L), and A_n is pulled out of vec(H kr L).
    """
    size, rank = factors[mode].shape
    low, high = (axis for axis in range(3) if axis != term)
    if term == mode:
        khatri_rao = factors[high][:, None, :] * factors[low]
        return _kron_identity(*_full_rows(khatri_rao.reshape(-1, rank)), size)
    third = factors[high if mode == low else low]
    if mode == low:  # vec(H kr A_n) = ((I_R kr H) kron I) vec(A_n)
        columns, values = np.repeat(np.arange(rank), len(third)), third.T.ravel()
        inner = _kron_identity(columns[:, None], values[:, None], size)
    else:  # vec(A_n kr L) = (I_(I_n R) kr (L (I_R kron 1'))) vec(A_n)
        columns = np.repeat(np.arange(size * rank), len(third))
        values = np.repeat(third.T, size, axis=0).ravel()
        inner = _kron_identity(columns[:, None], values[:, None], 1)
    return _kron_identity(*_full_rows(factors[term]), size * len(third)) @ inner


def _full_rows(matrix: Array) -> tuple[NDArray[np.int64], Array]:
    """Column numbers and values of a matrix none of whose entries is left out."""
    return np.broadcast_to(np.arange(matrix.shape[1]), matrix.shape), matrix


def _kron_identity(columns: NDArray[np.int64], values: Array, size: int) -> Any:
    """(M kron I) in compressed rows, for M with equally many entries in every row.

    scipy.sparse.kron goes by way of coordinates, in three times the memory and time.
    """
    n_rows, per_row = values.shape
    width = size * (int(columns.max()) + 1)
    index = np.dtype(np.int32 if values.size * size < 2**31 else np.int64)
    first: NDArray[Any] = (size * columns).astype(index)
    indices = (first[:, None, :] + np.arange(size, dtype=index)[:, None]).ravel()
    entries = np.broadcast_to(values[:, None, :], (n_rows, size, per_row)).ravel()
    starts = np.arange(0, entries.size + 1, per_row, dtype=index)
    return sparse.csr_array((entries, indices, starts), shape=(n_rows * size, width))
