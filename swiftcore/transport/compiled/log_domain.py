"""Columns too sharp for sweeps, solved one by one in logarithms.

When sharpness times cost is large, the kernel's entries leave the range of floating-point
numbers and each row settles on one place of the support: sweeps then creep. The dual of a
column's problem is concave in log v, so Newton's method with a line search solves it in a few
steps, and in one or two from a warm start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from swiftcore.transport.compiled.blocks import (
    BLOCK,
    add_to,
    dot,
    gap_of,
    khatri_rao,
    scatter,
    weigh,
)
from swiftcore.transport.compiled.elementary import COMPILED, exp, log

MAX_NEWTON = 512  # nonzeros of a column up to which Newton's matrix is full


@njit(**COMPILED)
def _shares(rows: Any, h: Any, cost: Any, sharpness: float, p: Any, top: Any, log_kv: Any) -> None:
    """Row i's shares p[s, i] ~ exp(h[s] - sharpness C[s, i]) of the support, and log K v + offset.

    Differences are taken in float64 before they are rounded to the type of the cost.
    """
    real = cost.dtype.type
    size, n_rows = len(rows), len(top)
    for i in range(n_rows):
        top[i] = -np.inf
        log_kv[i] = 0
    for s in range(size):
        c_row, value = cost[rows[s]], h[s]
        for i in range(n_rows):
            here = value - sharpness * c_row[i]
            top[i] = here if here > top[i] else top[i]
    for s in range(size):
        c_row, value, p_row = cost[rows[s]], h[s], p[s]
        for i in range(n_rows):
            p_row[i] = exp(real(value - sharpness * c_row[i] - top[i]))
            log_kv[i] += p_row[i]
    for s in range(size):
        p_row = p[s]
        for i in range(n_rows):
            p_row[i] = p_row[i] / real(log_kv[i])
    for i in range(n_rows):
        log_kv[i] = top[i] + log(log_kv[i])


@njit(**COMPILED)
def _evaluate_column(
    log_x: Any,
    log_model: Any,
    model: Any,
    numbers: Any,
    h: Any,
    log_kv: Any,
    p: Any,
    q: Any,
    delta: Any,
    psi: Any,
    wanted: Any,
    sums: Any,
) -> float:
    """Marginals and dual value / lambda of one column, given the shares p of log v = h.

    ``psi`` and ``wanted`` = x exp(-h / (lambda rho)) agree exactly at the optimum; ``sums``
    as in ``_solve_column``.
    """
    sharpness, weight, offset = numbers
    real, product = q.dtype.type, weight * sharpness
    phi = product / (product + 1.0)
    mass, log_u_moment = 0.0, 0.0
    for i in range(len(model)):
        alive = model[i] > 0
        gain = (log_model[i] if alive else 0.0) - log_kv[i] + offset
        q[i] = exp(real(-(1.0 - phi) * gain)) if alive else real(0)
        delta[i] = q[i] * model[i]
        mass += delta[i]
        log_u_moment += delta[i] * (phi * gain)
    tilt, gap, h_moment, divergence, paid = 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(len(h)):
        there, data = max(np.float64(dot(p[s], delta)), 1e-300), exp(log_x[s])
        psi[s], wanted[s] = there, exp(log_x[s] - h[s] / product)
        a = np.log(there) - log_x[s] + h[s] / product
        tilt += there * a
        gap += there * gap_of(a) if abs(a) < 1.0 else there * (a - 1.0) + wanted[s]
        h_moment += h[s] * there
        divergence += there * (a - h[s] / product) - there + data
        paid += wanted[s]
    sums[0], sums[1], sums[2], sums[3] = mass, log_u_moment, tilt, gap
    sums[4], sums[5] = h_moment, divergence
    return -(1.0 + 1.0 / product) * mass - paid


@njit(**COMPILED)
def _newton_step(p: Any, delta: Any, psi: Any, wanted: Any, product: float) -> Any:
    """Newton's step for the concave dual: (diag(Psi + wanted / product) - phi H) step = gradient.

    H = P diag(Delta) P' has row sums Psi: a graph Laplacian plus a positive diagonal. Columns
    with very many nonzeros take H's diagonal alone, which is most of it when rows have settled.
    """
    size, phi = len(psi), product / (product + 1.0)
    step = np.empty(size)
    if size > MAX_NEWTON:
        for s in range(size):
            own = 0.0
            for i in range(len(delta)):
                own += p[s, i] * p[s, i] * delta[i]
            step[s] = (wanted[s] - psi[s]) / (psi[s] + wanted[s] / product - phi * own)
        return step
    weighted = p * delta
    matrix = np.dot(weighted, p.T).astype(np.float64)
    for s in range(size):
        row_sum = 0.0
        for other in range(size):
            row_sum += matrix[s, other]
        for other in range(size):
            matrix[s, other] *= -phi
        matrix[s, s] += row_sum + wanted[s] / product
        step[s] = wanted[s] - psi[s]
    return np.linalg.solve(matrix, step)


@njit(**COMPILED)
def _solve_column(
    rows: Any,
    log_x: Any,
    log_model: Any,
    model: Any,
    cost: Any,
    numbers: Any,
    tolerance: float,
    turns: int,
    h: Any,
    q: Any,
    sums: Any,
) -> None:
    """Solve one column's problem by Newton steps on log v, each accepted by the dual value.

    ``numbers`` = sharpness, marginal weight, offset. ``h`` and ``q`` are changed in place: log v,
    and Q (0 where the model is). Written to ``sums``: mass, <log u, Delta>, sum Psi a,
    gap / lambda, <h, Psi>, KL(Psi || x).
    """
    sharpness, product = numbers[0], numbers[0] * numbers[1]
    size, n_rows = len(rows), len(model)
    p = np.empty((size, n_rows), cost.dtype)
    top, log_kv = np.empty(n_rows), np.empty(n_rows)
    delta, psi, wanted = np.empty(n_rows, cost.dtype), np.empty(size), np.empty(size)
    _shares(rows, h, cost, sharpness, p, top, log_kv)
    dual = _evaluate_column(
        log_x, log_model, model, numbers, h, log_kv, p, q, delta, psi, wanted, sums
    )
    size_of_column = 0.0
    for s in range(size):
        size_of_column += exp(log_x[s])
    trial = np.empty(size)
    for _ in range(turns):
        if sums[3] <= tolerance * (sums[0] + size_of_column):
            break
        step, length, before = _newton_step(p, delta, psi, wanted, product), 1.0, dual
        while length > 1e-7:
            for s in range(size):
                trial[s] = h[s] + length * step[s]
            _shares(rows, trial, cost, sharpness, p, top, log_kv)
            dual = _evaluate_column(
                log_x, log_model, model, numbers, trial, log_kv, p, q, delta, psi, wanted, sums
            )
            if dual >= before - 1e-9 * abs(before):
                break
            length *= 0.3
        for s in range(size):
            h[s] = trial[s]


@njit(**COMPILED)
def _warm_up_column(
    rows: Any,
    log_x: Any,
    log_model: Any,
    model: Any,
    cost: Any,
    numbers: Any,
    h: Any,
    q: Any,
    sums: Any,
) -> None:
    """A start for a sharp column: the same problem blunt, then four times sharper each time."""
    sharpness, weight, offset = numbers
    blunt = sharpness
    while blunt > 30.0:
        blunt /= 4.0
    for s in range(len(h)):
        h[s] *= blunt / sharpness
    while blunt < sharpness:
        _solve_column(
            rows, log_x, log_model, model, cost, (blunt, weight, offset), 1e-2, 20, h, q, sums
        )
        for s in range(len(h)):
            h[s] *= 4.0
        blunt *= 4.0


@njit(**COMPILED)
def solve_logs(
    starts: Any,
    rows: Any,
    places: Any,
    log_x: Any,
    h: Any,
    cost: Any,
    numbers: Any,
    tolerance: float,
    turns: int,
    cold: bool,
    stacked: Any,
    own: Any,
    gather: bool,
    own_sum: Any,
    other_sums: Any,
    other_shift: Any,
    column_sums: Any,
) -> None:
    """Solve whole columns in logarithms: for kernels too sharp for numbers or for sweeps.

    Every column is brought to ``tolerance`` here, or as near as ``turns`` steps come; ``h`` is
    changed in place.
    """
    n_rows, rank = own.shape
    products, weighted = np.empty((BLOCK, rank), own.dtype), np.empty((BLOCK, rank), own.dtype)
    x = np.empty((BLOCK, n_rows), own.dtype)
    q, log_model = np.empty(n_rows, own.dtype), np.empty(n_rows)
    peaks, ones = np.empty(BLOCK), np.ones(BLOCK)
    for first in range(0, len(places), BLOCK):
        n = min(BLOCK, len(places) - first)
        khatri_rao(first, n, places, stacked, products, peaks)
        np.dot(products[:n], own.T, x[:n])
        for b in range(n):
            j = first + b
            part = slice(starts[j], starts[j + 1])
            mass = 0.0
            for i in range(n_rows):
                x[b, i] *= own.dtype.type(peaks[b])
                mass += x[b, i]
                log_model[i] = log(np.float64(x[b, i]))
            column_sums[j, :] = 0.0
            if mass <= 0.0:
                column_sums[j, 5] = np.exp(log_x[part]).sum()
                continue
            if cold:
                _warm_up_column(
                    rows[part],
                    log_x[part],
                    log_model,
                    x[b],
                    cost,
                    numbers,
                    h[part],
                    q,
                    column_sums[j],
                )
            _solve_column(
                rows[part],
                log_x[part],
                log_model,
                x[b],
                cost,
                numbers,
                tolerance,
                turns,
                h[part],
                q,
                column_sums[j],
            )
            for i in range(n_rows):
                x[b, i] = q[i]
        if not gather:
            continue
        weigh(n, products, ones, peaks, weighted)
        add_to(own_sum, np.dot(x[:n].T, weighted[:n]))
        back = np.dot(x[:n], own)
        scatter(first, n, places, stacked, back, ones, other_sums, other_shift)
