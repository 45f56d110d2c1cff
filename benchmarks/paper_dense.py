"""The paper's SWIFT in plain NumPy: the opponent that speed is measured against.

Algorithm 1 as its authors describe it. Zero columns of every unfolding are dropped; the
others are dense I_n x NNZ_n blocks. Each outer iteration solves the transports by 25 cold
Sinkhorn sweeps from U = 1 / I_n with full matrix products, then updates one factor after
another from dense tensors. Two things differ from the print:

- the factor update carries the 1 / N without which the objective rises;
- powers are exp(phi log x), the sum of the Delta is made once per iteration, and the unfolded
  products are taken on reshaped views, so that nothing is permuted in memory. These only make
  it faster.

Like the original it works on K itself and not in logarithms: with costs up to 1, K underflows
beyond a sharpness of about 700 (85 in float32), and such settings are out of its reach.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from swiftcore.tensor import SparseTensor, unfold

Array = NDArray[Any]
PAPER_SWEEPS = 25
BLOCKS_PER_THREAD = 16


@dataclass(frozen=True, eq=False)
class _Block:
    """Some nonzero columns of one unfolding.

    Attributes
    ----------
    places : ndarray of int, (columns, modes - 1)
        The index of each column in each of the other modes.
    relaxed : ndarray, (I_n, columns)
        X_(n) ** phi, dense.
    """

    places: Array
    relaxed: Array


class PaperDense:
    """One tensor made ready; :meth:`step` is one outer iteration.

    Parameters
    ----------
    tensor, costs, sharpness, marginal_weight
        The problem.
    sweeps : int
        Cold Sinkhorn sweeps per transport; the paper takes 25.
    dtype : numpy dtype
        Of all dense arrays.
    threads : int
        1: whole matrices, BLAS on all cores. More: that many threads share the columns, each
        with one BLAS thread, so that the elementwise powers run side by side too (the paper's
        "parallelization of the optimal transport computation").
    """

    def __init__(
        self,
        tensor: SparseTensor,
        costs: Sequence[Array],
        sharpness: float,
        marginal_weight: float,
        sweeps: int = PAPER_SWEEPS,
        dtype: DTypeLike = np.float64,
        threads: int = 1,
    ) -> None:
        self.shape = tensor.shape
        self.phi = marginal_weight * sharpness / (marginal_weight * sharpness + 1.0)
        self.sweeps = sweeps
        self.dtype = np.dtype(dtype)
        self.threads = threads
        self.kernels = [np.exp(-sharpness * cost - 1.0).astype(self.dtype) for cost in costs]
        self.blocks = [self._blocks(tensor, mode) for mode in range(tensor.n_modes)]

    def _blocks(self, tensor: SparseTensor, mode: int) -> list[_Block]:
        unfolding = unfold(tensor, mode)
        dense = np.zeros((unfolding.n_rows, unfolding.n_columns), self.dtype)
        columns = np.repeat(np.arange(unfolding.n_columns), np.diff(unfolding.starts))
        dense[unfolding.rows, columns] = unfolding.values**self.phi
        pieces = 1 if self.threads == 1 else BLOCKS_PER_THREAD * self.threads
        cuts = np.linspace(0, unfolding.n_columns, pieces + 1).astype(int)
        return [
            _Block(unfolding.column_places[left:right], np.ascontiguousarray(dense[:, left:right]))
            for left, right in pairwise(cuts)
        ]

    def step(self, factors: Sequence[Array]) -> list[Array]:
        """One outer iteration: all transports, then the factors one after another."""
        return self.update_factors(factors, self.solve_transports(factors))

    def solve_transports(self, factors: Sequence[Array]) -> Array:
        """Sum over the modes of Delta_n, as a dense tensor of the shape of X."""
        total = np.zeros(self.shape, self.dtype)
        blas = None if self.threads == 1 else 1
        with threadpool_limits(blas, "blas"), ThreadPoolExecutor(self.threads) as pool:
            for mode, blocks in enumerate(self.blocks):
                into = np.moveaxis(total, mode, 0)
                deltas = pool.map(partial(self._delta, mode, factors), blocks)
                for block, delta in zip(blocks, deltas, strict=True):
                    into[(slice(None), *block.places.T)] += delta
        return total

    def _delta(self, mode: int, factors: Sequence[Array], block: _Block) -> Array:
        """Lines 5 to 11 of Algorithm 1 for some columns; u and v are its U_n and V_n."""
        kernel, phi = self.kernels[mode], self.phi
        others = [factor for axis, factor in enumerate(factors) if axis != mode]
        xhat = factors[mode] @ _gathered(others, block.places).T
        xhat = raised(xhat, phi)
        u = np.full_like(xhat, 1.0 / len(kernel))
        v = np.empty_like(xhat)
        for _ in range(self.sweeps):
            self._data_side(kernel, u, block, v)
            np.matmul(kernel, v, out=u)
            np.multiply(xhat, raised(u, -phi), out=u)
        self._data_side(kernel, u, block, v)
        u *= np.matmul(kernel, v, out=xhat)
        return u

    def _data_side(self, kernel: Array, u: Array, block: _Block, v: Array) -> None:
        """v = (x / K'u) ** phi, in place."""
        np.matmul(kernel.T, u, out=v)
        np.multiply(block.relaxed, raised(v, -self.phi), out=v)

    def update_factors(self, factors: Sequence[Array], total: Array) -> list[Array]:
        """A_n *= ((sum_i Delta_i / X^) A_kr) / (N * 1 A_kr), for n = 1, ..., N in turn."""
        updated = list(factors)
        tiny = np.finfo(self.dtype).tiny
        for mode in range(len(updated)):
            model = updated[0] @ _khatri_rao(updated[1:]).T
            np.maximum(model, tiny, out=model)
            ratio = np.divide(total.reshape(model.shape), model, out=model)
            numerator = _matricized_product(ratio.reshape(self.shape), updated, mode)
            sums = [factor.sum(axis=0) for axis, factor in enumerate(updated) if axis != mode]
            updated[mode] = updated[mode] * numerator / (len(updated) * np.prod(sums, axis=0))
        return updated


def fit_paper_dense(
    tensor: SparseTensor,
    costs: Sequence[Array],
    initial_factors: Sequence[Array],
    sharpness: float,
    marginal_weight: float,
    iterations: int,
    dtype: DTypeLike = np.float64,
    threads: int = 1,
) -> tuple[list[Array], list[float]]:
    """Run the paper's SWIFT; the factors and the seconds of each outer iteration.

    Laying out the dense blocks and computing the kernels is done once and not counted.
    """
    problem = PaperDense(tensor, costs, sharpness, marginal_weight, PAPER_SWEEPS, dtype, threads)
    factors = [np.asarray(factor, problem.dtype) for factor in initial_factors]
    seconds = []
    for _ in range(iterations):
        started = time.perf_counter()
        factors = problem.step(factors)
        seconds.append(time.perf_counter() - started)
    return factors, seconds


def raised(array: Array, power: float) -> Array:
    """Positive entries to a power, in place: faster than numpy.power."""
    np.log(array, out=array)
    array *= power
    return np.exp(array, out=array)


def _gathered(factors: Sequence[Array], places: Array) -> Array:
    """The rows of the Khatri-Rao product that belong to the given columns."""
    rows = factors[0][places[:, 0]]
    for axis, factor in enumerate(factors[1:], start=1):
        rows *= factor[places[:, axis]]
    return rows


def _khatri_rao(factors: Sequence[Array]) -> Array:
    """Columnwise Kronecker product, the last factor's index running fastest."""
    product = factors[0]
    for factor in factors[1:]:
        product = (product[:, None, :] * factor).reshape(-1, factor.shape[1])
    return product


def _matricized_product(ratio: Array, factors: Sequence[Array], mode: int) -> Array:
    """The mode-n unfolding of ``ratio`` times A_kr, by products on views of it."""
    size, rank = factors[mode].shape
    n_after = int(np.prod(ratio.shape[mode + 1 :]))
    before, after = factors[:mode], factors[mode + 1 :]
    if not after:
        product: Array = ratio.reshape(-1, size).T @ _khatri_rao(before)
        return product
    product = (ratio.reshape(-1, n_after) @ _khatri_rao(after)).reshape(-1, size, rank)
    if before:
        product = np.einsum("bir,br->ir", product, _khatri_rao(before))
    return product.reshape(size, rank)
