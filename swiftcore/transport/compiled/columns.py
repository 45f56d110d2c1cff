"""Compiled loops over the columns of one unfolding: half a Sinkhorn sweep and its by-products.

For one column with data x on a support S and model x^ = (Khatri-Rao row) A', given v on S:

    K v  ->  u = (x^ / K v)^phi  ->  Delta = u * K v,   Q = Delta / x^,   K'u on S

v has the sparsity of x, so K v is a sum over S and K'u is needed on S only. The model block
and both products with Q are matrix products; everything between them stays in the L1 cache.

Of the paper's Algorithm 1 this is the inner loop, lines 8 to 11 (``# 1.9`` marks line 9; lines
are counted from "K_n = ..." without the "end"s). Line 9 updates U by way of V = (X / K'U)^Phi;
here the state between sweeps is V, so a sweep begins in the middle of line 9.

Legend: phi = relaxation, kv = K v, ktu = K'u, x = model, q = Q. Each column is scaled so that
nothing can overflow: its Khatri-Rao row by its sum ``peak``, v by exp(shift); the
true logarithms are ``log u = phi (log(x / kv) + kappa)``, kappa = log peak - shift + offset,
where K = exp(-sharpness C - offset).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from swiftcore.transport.compiled.arguments import (
    DIVERGENCE,
    GAP,
    LOG_U,
    MASS,
    MOMENT,
    TILT,
)
from swiftcore.transport.compiled.blocks import (
    add_to,
    gap_of,
    khatri_rao,
    scatter,
    weigh,
)
from swiftcore.transport.compiled.elementary import COMPILED, exp, log
from swiftcore.transport.limits import BLOCK, TILE


@njit(**COMPILED)
def _kernel_times(bases: Any, start: int, stop: int, v: Any, kernel: Any, kv: Any) -> None:
    """kv = K v for the rows of a tile: a sum over the column's support, four at a time.

    ``bases[p]`` is where in the flat kernel the tile's part of entry p's row begins; unsigned,
    because signed indices would be tested for negative values in the innermost loop.
    """
    width = np.uint64(len(kv))
    for i in range(width):
        kv[i] = 0
    p = start
    while p + 4 <= stop:
        b0, b1, b2, b3 = bases[p], bases[p + 1], bases[p + 2], bases[p + 3]
        v0, v1, v2, v3 = v[p], v[p + 1], v[p + 2], v[p + 3]
        for i in range(width):
            kv[i] += (v0 * kernel[b0 + i] + v1 * kernel[b1 + i]) + (
                v2 * kernel[b2 + i] + v3 * kernel[b3 + i]
            )
        p += 4
    while p < stop:
        b0, v0 = bases[p], v[p]
        for i in range(width):
            kv[i] += v0 * kernel[b0 + i]
        p += 1


@njit(**COMPILED)
def _kernel_transposed_times(
    bases: Any, start: int, stop: int, kernel: Any, u: Any, ktu: Any
) -> None:
    """Add the part of K'u on the support that the tile's rows give, four at a time."""
    width, p = np.uint64(len(u)), start
    zero = u.dtype.type(0)
    while p + 4 <= stop:
        b0, b1, b2, b3 = bases[p], bases[p + 1], bases[p + 2], bases[p + 3]
        t0, t1, t2, t3 = zero, zero, zero, zero
        for i in range(width):
            t0 += kernel[b0 + i] * u[i]
            t1 += kernel[b1 + i] * u[i]
            t2 += kernel[b2 + i] * u[i]
            t3 += kernel[b3 + i] * u[i]
        ktu[p] += t0
        ktu[p + 1] += t1
        ktu[p + 2] += t2
        ktu[p + 3] += t3
        p += 4
    while p < stop:
        b0, t0 = bases[p], zero
        for i in range(width):
            t0 += kernel[b0 + i] * u[i]
        ktu[p] += t0
        p += 1


@njit(**COMPILED)
def _scale_rows(x: Any, kv: Any, phi: Any, u: Any) -> Any:
    """u = (x / kv)^phi; x becomes Q = (kv / x)^(1 - phi).

    Where the model is zero nothing is sent: u = Delta = 0, and Q is taken as 0.
    """
    zero, floor = x.dtype.type(0), x.dtype.type(np.finfo(x.dtype).tiny * 1e8)
    mass, moment = zero, zero
    for i in range(len(kv)):
        alive = x[i] > floor
        ratio = kv[i] / (x[i] if alive else floor)
        log_ratio = log(ratio)
        ui = exp(-phi * log_ratio) if alive else zero
        delta = ui * kv[i]
        u[i] = ui
        mass += delta
        moment -= delta * log_ratio
        x[i] = ui * ratio
    return mass, moment


@njit(**COMPILED)
def sweep_columns(
    columns: Any,
    scaling: Any,
    kernel: Any,
    model: Any,
    relaxation: float,
    offset: float,
    numerators: Any,
    half: Any,
) -> None:
    """Half a sweep of a range of columns, block by block, and within it tile by tile of rows.

    Written: ``half``; and added to the numerators of the factor update, when they are wanted.
    """
    starts, rows, places, _ = columns
    stacked, own = model
    n_rows, rank = own.shape
    phi, width = own.dtype.type(relaxation), min(TILE, n_rows)
    products, weighted = np.empty((BLOCK, rank), own.dtype), np.empty((BLOCK, rank), own.dtype)
    back = np.empty((BLOCK, rank), own.dtype)
    tile = np.empty(BLOCK * width, own.dtype)
    kv, u = np.empty(width, own.dtype), np.empty(width, own.dtype)
    peaks, scales = np.empty(BLOCK), np.empty(BLOCK)
    bases, flat = np.empty(len(rows), np.uint64), kernel.reshape(kernel.size)
    for first in range(0, len(places), BLOCK):
        n = min(BLOCK, len(places) - first)
        khatri_rao(first, n, places, stacked, products, peaks)
        _note_scales(first, n, peaks, scaling.shift, relaxation, offset, scales, half.sums)
        weigh(n, products, scales, peaks, weighted)
        back[:] = 0
        for low in range(0, n_rows, width):
            high = min(low + width, n_rows)
            x = tile[: n * (high - low)].reshape((n, high - low))
            np.dot(products[:n], own[low:high].T, x)  # X^_(n), up to its peak
            for p in range(starts[first], starts[first + n]):
                bases[p] = rows[p] * n_rows + low
            for b in range(n):
                j = first + b
                kv_here, u_here = kv[: high - low], u[: high - low]
                # 1.9: U = X^^Phi / (K V)^Phi, and 1.11: Delta = U * (K V)
                _kernel_times(bases, starts[j], starts[j + 1], scaling.v, flat, kv_here)
                mass, moment = _scale_rows(x[b], kv_here, phi, u_here)
                # K'U, for the next V
                _kernel_transposed_times(bases, starts[j], starts[j + 1], flat, u_here, half.ktu)
                half.sums[j, 1] += mass
                half.sums[j, 2] += moment
            if numerators.wanted:  # (Delta / X^) times the factors, for line 14
                add_to(back, np.dot(x, own[low:high]))
                add_to(numerators.own[low:high], np.dot(x.T, weighted[:n]))
        if numerators.wanted:
            scatter(first, n, places, stacked, back, scales, numerators)
    _unscale_sums(relaxation, half.sums)


@njit(**COMPILED)
def _note_scales(
    first: int,
    n: int,
    peaks: Any,
    shift: Any,
    relaxation: float,
    offset: float,
    scales: Any,
    column_sums: Any,
) -> None:
    """Per column: kappa, and what turns the scaled Q (in ``scales``) and Delta into the true."""
    for b in range(n):
        alive = peaks[b] > 0
        kappa = (np.log(peaks[b]) if alive else 0.0) - shift[first + b] + offset
        scales[b] = np.exp(-(1.0 - relaxation) * kappa) if alive else 0.0
        column_sums[first + b, 0] = kappa
        column_sums[first + b, 1] = 0.0
        column_sums[first + b, 2] = 0.0
        column_sums[first + b, 3] = scales[b] * peaks[b]


@njit(**COMPILED)
def _unscale_sums(relaxation: float, column_sums: Any) -> None:
    """The true mass of Delta and <log u, Delta> of every column."""
    for j in range(len(column_sums)):
        kappa, true = column_sums[j, 0], column_sums[j, 3]
        column_sums[j, 2] = true * relaxation * (column_sums[j, 2] + kappa * column_sums[j, 1])
        column_sums[j, 1] *= true


@njit(**COMPILED)
def finish_sweep(
    columns: Any, half: Any, relaxation: float, offset: float, scaling: Any, sums: Any
) -> None:
    """The other half of the sweep: new log v from K'u, deflated, with the duality gap.

    With a = (h - h') / phi on the support, h' = phi (log x - log K'u) and Psi = exp(h + log K'u):
    the primal value exceeds the dual by ``lambda sum Psi (a - 1 + exp(-a))``. The all-ones
    direction contracts only by phi^2 per sweep; it is removed exactly (deflation). A column that
    the model cannot reach (K'u = 0) keeps its log v and sends nothing.
    """
    log_x, h = columns.log_x, scaling.log_v
    slow = relaxation * relaxation / (1.0 - relaxation * relaxation)
    for j in range(len(scaling.shift)):
        tilt, gap, moment, divergence = 0.0, 0.0, 0.0, 0.0
        psi_sum, change, lift = 0.0, 0.0, 0.0
        start, stop = columns.starts[j], columns.starts[j + 1]
        reachable = half.ktu[start] > 0
        top = -np.inf
        for p in range(start, stop):
            divergence += exp(log_x[p])
            if reachable:
                log_ktu = log(np.float64(half.ktu[p])) + relaxation * half.sums[j, 0] - offset
                new = relaxation * (log_x[p] - log_ktu)  # 1.10: V = (X / K'U)^Phi
                psi = exp(h[p] + log_ktu)
                a = (h[p] - new) / relaxation
                tilt += psi * a
                gap += psi * gap_of(a)
                moment += h[p] * psi
                divergence += psi * (h[p] + log_ktu - log_x[p]) - psi
                psi_sum += psi
                change += psi * (new - h[p])
                h[p] = new
            top = h[p] if h[p] > top else top
        if psi_sum > 0:
            lift = slow * change / psi_sum
        scaling.shift[j] = top + lift
        for p in range(start, stop):
            scaling.v[p] = exp(h[p] - top)
            h[p] += lift
        sums[j, MASS], sums[j, LOG_U] = half.sums[j, 1], half.sums[j, 2]
        sums[j, TILT], sums[j, GAP] = tilt, gap
        sums[j, MOMENT], sums[j, DIVERGENCE] = moment, divergence
