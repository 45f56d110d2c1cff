"""What the machine can do at best with the arithmetic that one iteration cannot avoid."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

from swiftcore.tensor import SparseTensor, unfold
from swiftcore.transport.compiled.elementary import COMPILED, exp, log


@njit(**COMPILED)
def _log_exp(times: int, x: Any, out: Any) -> None:
    for t in range(times):
        shift = x[t % len(x)]
        for i in range(len(x)):
            out[i] = exp(-log(x[i] + shift))


@njit(**COMPILED)
def _four_rows(times: int, x: Any, out: Any) -> None:
    """The engine's own loop, four rows at a time, with everything in the L1 cache."""
    for t in range(times):
        v0, v1 = x[0, t % x.shape[1]], x[1, t % x.shape[1]]
        for i in range(x.shape[1]):
            out[i] += (v0 * x[0, i] + v1 * x[1, i]) + (v0 * x[2, i] + v1 * x[3, i])


def _best(run: Callable[[], object], repeats: int = 7) -> float:
    run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def arithmetic_floor(tensor: SparseTensor, rank: int, dtype: str, cores: int) -> dict[str, float]:
    """Seconds one iteration would take if each kind of arithmetic ran at its best rate.

    Per mode: three matrix products of (columns x rows x rank), one logarithm and one
    exponential per model cell, and two sparse products of (entries x rows). The rates are
    those of one core, times the cores.
    """
    rng = np.random.default_rng(0)
    big = rng.random((1024, 1024)).astype(dtype)
    with threadpool_limits(1):
        gemm_rate = 2 * 1024**3 / _best(lambda: big @ big)
    x = (rng.random(4096) + 0.5).astype(dtype)
    out = np.empty_like(x)
    log_exp_rate = 100 * len(x) / _best(lambda: _log_exp(100, x, out))
    rows = x[:1024].reshape(4, 256)
    sparse_rate = 8 * 256 * 20000 / _best(lambda: _four_rows(20000, rows, np.zeros(256, dtype)))
    cells = entries = 0
    for mode in range(tensor.n_modes):
        part = unfold(tensor, mode)
        cells += part.n_columns * part.n_rows
        entries += part.n_entries * part.n_rows
    parts = {
        "gemm": 3 * 2 * cells * rank / gemm_rate / cores,
        "log_exp": cells / log_exp_rate / cores,
        "sparse": 2 * 2 * entries / sparse_rate / cores,
    }
    return {
        **parts,
        "total": sum(parts.values()),
        "gemm_gflops_per_core": gemm_rate / 1e9,
        "log_exp_ns_per_cell": 1e9 / log_exp_rate,
        "sparse_gflops_per_core": sparse_rate / 1e9,
    }
