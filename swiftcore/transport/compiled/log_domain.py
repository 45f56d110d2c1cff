"""Columns too sharp for sweeps, solved one by one in logarithms.

When sharpness times cost is large, the kernel's entries leave the range of floating-point
numbers and each row settles on one place of the support: sweeps then creep. The dual of a
column's problem is concave in log v, so Newton's method with a line search solves it in a few
steps, and in one or two from a warm start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from swiftcore.transport.compiled.arguments import (
    DIVERGENCE,
    GAP,
    LOG_U,
    MASS,
    MOMENT,
    TILT,
    Weights,
)
from swiftcore.transport.compiled.blocks import (
    add_to,
    dot,
    gap_of,
    khatri_rao,
    scatter,
    weigh,
)
from swiftcore.transport.compiled.elementary import COMPILED, INLINED, exp, log
from swiftcore.transport.limits import BLOCK, MAX_NEWTON

COARSE_TOLERANCE, COARSE_STEPS = 1e-2, 20  # for the blunter problems that warm a column up


class _Column(NamedTuple):
    """One column: the rows of its nonzeros and their log values; the model, and its logarithm."""

    rows: Any
    log_x: Any
    model: Any
    log_model: Any


class _Plan(NamedTuple):
    """Where one column's plan is worked out, for s nonzeros and n rows.

    Attributes
    ----------
    shares : (s, n), how each row's mass is shared among the nonzeros
    top, log_kv : (n), the largest exponent of each row; log K v + offset
    delta : (n), the model-side marginal Delta
    psi, wanted : (s), the data-side marginal Psi, and x exp(-h / (lambda rho)), which it equals
        at the optimum
    """

    shares: Any
    top: Any
    log_kv: Any
    delta: Any
    psi: Any
    wanted: Any


@njit(**INLINED)
def _share_rows(rows: Any, h: Any, cost: Any, sharpness: float, plan: Any) -> None:
    """Row i's shares p[s, i] ~ exp(h[s] - sharpness C[s, i]) of the support, and log K v + offset.

    Differences are taken in float64 before they are rounded to the type of the cost.
    """
    p, top, log_kv = plan.shares, plan.top, plan.log_kv
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


@njit(**INLINED)
def _evaluate_column(column: Any, weights: Any, h: Any, plan: Any, q: Any, sums: Any) -> float:
    """Marginals and dual value / lambda of one column, given the shares of log v = h.

    Written: ``q``, ``sums``, and the marginals of the plan.
    """
    log_x, model, log_model = column.log_x, column.model, column.log_model
    delta = plan.delta
    sharpness, weight, offset = weights
    real, product = q.dtype.type, weight * sharpness
    phi = product / (product + 1.0)
    mass, log_u_moment = 0.0, 0.0
    for i in range(len(model)):
        alive = model[i] > 0
        gain = (log_model[i] if alive else 0.0) - plan.log_kv[i] + offset
        q[i] = exp(real(-(1.0 - phi) * gain)) if alive else real(0)
        delta[i] = q[i] * model[i]
        mass += delta[i]
        log_u_moment += delta[i] * (phi * gain)
    tilt, gap, h_moment, divergence, paid = 0.0, 0.0, 0.0, 0.0, 0.0
    for s in range(len(h)):
        there, data = max(np.float64(dot(plan.shares[s], delta)), 1e-300), exp(log_x[s])
        wanted = exp(log_x[s] - h[s] / product)
        plan.psi[s], plan.wanted[s] = there, wanted
        a = np.log(there) - log_x[s] + h[s] / product
        tilt += there * a
        gap += there * gap_of(a) if abs(a) < 1.0 else there * (a - 1.0) + wanted
        h_moment += h[s] * there
        divergence += there * (a - h[s] / product) - there + data
        paid += wanted
    sums[MASS], sums[LOG_U], sums[TILT], sums[GAP] = mass, log_u_moment, tilt, gap
    sums[MOMENT], sums[DIVERGENCE] = h_moment, divergence
    return -(1.0 + 1.0 / product) * mass - paid


@njit(**INLINED)
def _newton_step(plan: Any, product: float) -> Any:
    """Newton's step for the concave dual: (diag(Psi + wanted / product) - phi H) step = gradient.

    H = P diag(Delta) P' has row sums Psi: a graph Laplacian plus a positive diagonal. Columns
    with very many nonzeros take H's diagonal alone, which is most of it when rows have settled.
    """
    p, delta, psi, wanted = plan.shares, plan.delta, plan.psi, plan.wanted
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


@njit(**INLINED)
def _solve_column(
    column: Any,
    cost: Any,
    weights: Any,
    tolerance: float,
    steps: int,
    h: Any,
    q: Any,
    sums: Any,
) -> None:
    """Solve one column's problem by Newton steps on log v, each accepted by the dual value.

    Changed in place: ``h`` = log v, ``q`` = Q (0 where the model is 0) and the column's ``sums``.
    """
    sharpness, product = weights.sharpness, weights.sharpness * weights.marginal_weight
    size, n_rows = len(column.rows), len(column.model)
    plan = _Plan(
        np.empty((size, n_rows), cost.dtype),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows, cost.dtype),
        np.empty(size),
        np.empty(size),
    )
    _share_rows(column.rows, h, cost, sharpness, plan)
    dual = _evaluate_column(column, weights, h, plan, q, sums)
    size_of_column = 0.0
    for s in range(size):
        size_of_column += exp(column.log_x[s])
    trial = np.empty(size)
    for _ in range(steps):
        if sums[GAP] <= tolerance * (sums[MASS] + size_of_column):
            break
        step, length, before = _newton_step(plan, product), 1.0, dual
        while length > 1e-7:
            for s in range(size):
                trial[s] = h[s] + length * step[s]
            _share_rows(column.rows, trial, cost, sharpness, plan)
            dual = _evaluate_column(column, weights, trial, plan, q, sums)
            if dual >= before - 1e-9 * abs(before):
                break
            length *= 0.3
        for s in range(size):
            h[s] = trial[s]


@njit(**INLINED)
def _warm_up_column(column: Any, cost: Any, weights: Any, h: Any, q: Any, sums: Any) -> None:
    """A start for a sharp column: the same problem blunt, then four times sharper each time."""
    sharpness, weight, offset = weights
    blunt = sharpness
    while blunt > 30.0:
        blunt /= 4.0
    for s in range(len(h)):
        h[s] *= blunt / sharpness
    while blunt < sharpness:
        blunted = Weights(blunt, weight, offset)
        _solve_column(column, cost, blunted, COARSE_TOLERANCE, COARSE_STEPS, h, q, sums)
        for s in range(len(h)):
            h[s] *= 4.0
        blunt *= 4.0


@njit(**INLINED)
def _unscale_model(x: Any, peak: Any, log_model: Any) -> float:
    """One column of the model with its true size, and its logarithm; returns its mass."""
    mass = 0.0
    for i in range(len(x)):
        x[i] *= peak
        mass += x[i]
        log_model[i] = log(np.float64(x[i]))
    return mass


@njit(**COMPILED)
def solve_logs(
    columns: Any,
    h: Any,
    cost: Any,
    model: Any,
    weights: Any,
    patience: Any,
    numerators: Any,
    sums: Any,
) -> None:
    """Solve whole columns in logarithms: for kernels too sharp for numbers or for sweeps.

    Every column is brought to the tolerance here, or as near as the steps allowed come;
    ``h`` = log v is changed in place.
    """
    starts, rows, places, log_x = columns
    stacked, own = model
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
            sums[j, :] = 0.0
            if _unscale_model(x[b], own.dtype.type(peaks[b]), log_model) <= 0.0:
                sums[j, DIVERGENCE] = np.exp(log_x[part]).sum()
                continue
            column = _Column(rows[part], log_x[part], x[b], log_model)
            if patience.cold:
                _warm_up_column(column, cost, weights, h[part], q, sums[j])
            tolerance, steps, _ = patience
            _solve_column(column, cost, weights, tolerance, steps, h[part], q, sums[j])
            for i in range(n_rows):
                x[b, i] = q[i]
        if numerators.wanted:
            weigh(n, products, ones, peaks, weighted)
            add_to(numerators.own, np.dot(x[:n].T, weighted[:n]))
            back = np.dot(x[:n], own)
            scatter(first, n, places, stacked, back, ones, numerators)
