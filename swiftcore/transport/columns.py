"""Compiled loops over the columns of one unfolding: half a Sinkhorn sweep and its by-products.

For one column with data x on a support S and model x^ = (Khatri-Rao row) A', given v on S:

    K v  ->  u = (x^ / K v)^phi  ->  Delta = u * K v,   Q = Delta / x^,   K'u on S

v has the sparsity of x, so K v is a sum over S and K'u is needed on S only. The model block
and both products with Q are matrix products; everything between them stays in the L1 cache.

Legend: phi = relaxation, kv = K v, ktu = K'u, x = model, q = Q. Each column is scaled so that
nothing can overflow: its Khatri-Rao row by its sum ``peak``, v by exp(shift); the
true logarithms are ``log u = phi (log(x / kv) + kappa)``, kappa = log peak - shift + offset,
where K = exp(-sharpness C - offset).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from swiftcore.transport.elementary import COMPILED, exp, log

LARGEST_NEWTON = 512  # nonzeros of a column up to which Newton's matrix is full
BLOCK = 128  # columns worked on at a time
TILE = 512  # rows worked on at a time: block, tile and the kernel rows they share fit the L2 cache


@njit(**COMPILED)
def _khatri_rao(first: int, n: int, places: Any, stacked: Any,
                products: Any, peaks: Any) -> None:  # fmt: skip
    """Rows of the Khatri-Rao product of the other factors, each divided by its sum."""
    rank = stacked.shape[1]
    for b in range(n):
        row, factor = products[b], stacked[places[first + b, 0]]
        for r in range(rank):
            row[r] = factor[r]
        for o in range(1, places.shape[1]):
            factor = stacked[places[first + b, o]]
            for r in range(rank):
                row[r] *= factor[r]
        peak = products.dtype.type(0)
        for r in range(rank):
            peak += row[r]
        peaks[b] = peak
        inverse = products.dtype.type(1) / peak if peak > 0 else peak
        for r in range(rank):
            row[r] *= inverse


@njit(**COMPILED)
def _scatter(first: int, n: int, places: Any, stacked: Any, back: Any, scales: Any,
             other_sums: Any, other_shift: Any) -> None:  # fmt: skip
    """Add (Q A) * the other factors' rows to the numerators of the other modes."""
    rank = stacked.shape[1]
    term = np.empty(rank, stacked.dtype)
    for b in range(n):
        j = first + b
        scale = stacked.dtype.type(scales[b])
        for o in range(places.shape[1]):
            for r in range(rank):
                term[r] = scale * back[b, r]
            for rest in range(places.shape[1]):
                if rest != o:
                    factor = stacked[places[j, rest]]
                    for r in range(rank):
                        term[r] *= factor[r]
            target = other_sums[places[j, o] + other_shift[o]]
            for r in range(rank):
                target[r] += term[r]


@njit(**COMPILED)
def _weigh(n: int, products: Any, scales: Any, peaks: Any, weighted: Any) -> None:
    """The Khatri-Rao rows times their columns' true scales."""
    for b in range(n):
        weight = products.dtype.type(scales[b] * peaks[b])
        for r in range(products.shape[1]):
            weighted[b, r] = weight * products[b, r]


@njit(**COMPILED)
def _add_to(total: Any, part: Any) -> None:
    for i in range(part.shape[0]):
        for r in range(part.shape[1]):
            total[i, r] += part[i, r]


@njit(**COMPILED)
def _divide(q: Any, model: Any) -> None:
    """q / model in place, 0 where the model is 0."""
    tiny, zero = np.finfo(q.dtype).tiny, q.dtype.type(0)
    for b in range(q.shape[0]):
        for i in range(q.shape[1]):
            q[b, i] = q[b, i] / model[b, i] if model[b, i] > tiny else zero


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
def _kernel_transposed_times(bases: Any, start: int, stop: int, kernel: Any, u: Any,
                             ktu: Any) -> None:  # fmt: skip
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
def _scale_rows(x: Any, kv: Any, phi: Any, fresh: bool, u: Any) -> Any:
    """u = (x / kv)^phi; x becomes Q = (kv / x)^(1 - phi), or Delta unless ``fresh``.

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
        x[i] = ui * ratio if fresh else delta
    return mass, moment


@njit(**COMPILED)
def _dot(left: Any, right: Any) -> Any:
    total = left.dtype.type(0)
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@njit(**COMPILED)
def sweep_columns(starts: Any, rows: Any, places: Any, v: Any, shift: Any,
                  kernel: Any, stacked: Any, own: Any, moved: Any, own_moved: Any,
                  relaxation: float, offset: float, gather: bool, fresh: bool,
                  own_sum: Any, other_sums: Any, other_shift: Any,
                  ktu: Any, column_sums: Any) -> None:  # fmt: skip
    """Half a sweep of a range of columns, block by block, and within it tile by tile of rows.

    Written: ``ktu`` on the support (zeros before), ``column_sums`` = kappa, mass of Delta,
    <log u, Delta>. With ``gather`` the numerators of the factor update are added to
    ``own_sum`` and ``other_sums``; unless ``fresh``, for factors ``moved`` since.
    """
    real = own.dtype.type
    n_rows, rank = own.shape
    phi, width = real(relaxation), min(TILE, n_rows)
    products, weighted = np.empty((BLOCK, rank), own.dtype), np.empty((BLOCK, rank), own.dtype)
    now, back = np.empty((BLOCK, rank), own.dtype), np.empty((BLOCK, rank), own.dtype)
    tile = np.empty(BLOCK * width, own.dtype)
    kv, u = np.empty(width, own.dtype), np.empty(width, own.dtype)
    peaks, scales, peaks_now = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    bases, flat = np.empty(len(rows), np.uint64), kernel.reshape(kernel.size)
    for first in range(0, len(places), BLOCK):
        n = min(BLOCK, len(places) - first)
        _khatri_rao(first, n, places, stacked, products, peaks)
        _note_scales(first, n, peaks, shift, relaxation, offset, scales, column_sums)
        _weigh(n, products, scales, peaks, weighted)
        if gather and not fresh:
            _khatri_rao(first, n, places, moved, now, peaks_now)
            for b in range(n):
                scales[b] *= peaks[b] / peaks_now[b] if peaks_now[b] > 0 else 0.0
            _weigh(n, now, scales, peaks_now, weighted)
        back[:] = 0
        for low in range(0, n_rows, width):
            high = min(low + width, n_rows)
            x = tile[: n * (high - low)].reshape((n, high - low))
            np.dot(products[:n], own[low:high].T, x)
            for p in range(starts[first], starts[first + n]):
                bases[p] = rows[p] * n_rows + low
            for b in range(n):
                j = first + b
                kv_here, u_here = kv[: high - low], u[: high - low]
                _kernel_times(bases, starts[j], starts[j + 1], v, flat, kv_here)
                mass, moment = _scale_rows(x[b], kv_here, phi, fresh, u_here)
                _kernel_transposed_times(bases, starts[j], starts[j + 1], flat, u_here, ktu)
                column_sums[j, 1] += mass
                column_sums[j, 2] += moment
            if gather:
                here = own[low:high]
                if not fresh:
                    here = own_moved[low:high]
                    _divide(x, np.dot(now[:n], here.T))
                _add_to(back, np.dot(x, here))
                _add_to(own_sum[low:high], np.dot(x.T, weighted[:n]))
        if gather:
            _scatter(first, n, places, moved, back, scales, other_sums, other_shift)
    for j in range(len(places)):
        kappa, true = column_sums[j, 0], column_sums[j, 3]
        column_sums[j, 2] = true * relaxation * (column_sums[j, 2] + kappa * column_sums[j, 1])
        column_sums[j, 1] *= true


@njit(**COMPILED)
def _note_scales(first: int, n: int, peaks: Any, shift: Any, relaxation: float, offset: float,
                 scales: Any, column_sums: Any) -> None:  # fmt: skip
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
def _gap_of(a: float) -> float:
    """a - 1 + exp(-a), without loss of digits near zero."""
    if abs(a) < 1e-3:
        return a * a * (0.5 - a * (1.0 / 6.0 - a / 24.0))
    return a - 1.0 + exp(-a)


@njit(**COMPILED)
def _evaluate_column(log_x: Any, log_model: Any, model: Any, numbers: Any, h: Any, log_kv: Any,
                     p: Any, q: Any, delta: Any, psi: Any, wanted: Any,
                     sums: Any) -> float:  # fmt: skip
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
        there, data = max(np.float64(_dot(p[s], delta)), 1e-300), exp(log_x[s])
        psi[s], wanted[s] = there, exp(log_x[s] - h[s] / product)
        a = np.log(there) - log_x[s] + h[s] / product
        tilt += there * a
        gap += there * _gap_of(a) if abs(a) < 1.0 else there * (a - 1.0) + wanted[s]
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
    if size > LARGEST_NEWTON:
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
def _solve_column(rows: Any, log_x: Any, log_model: Any, model: Any, cost: Any, numbers: Any,
                  tolerance: float, turns: int, h: Any, q: Any, sums: Any) -> None:  # fmt: skip
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
    dual = _evaluate_column(log_x, log_model, model, numbers, h, log_kv, p, q, delta,
                            psi, wanted, sums)  # fmt: skip
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
            dual = _evaluate_column(log_x, log_model, model, numbers, trial, log_kv, p, q, delta,
                                    psi, wanted, sums)  # fmt: skip
            if dual >= before - 1e-9 * abs(before):
                break
            length *= 0.3
        for s in range(size):
            h[s] = trial[s]


@njit(**COMPILED)
def _warm_up_column(rows: Any, log_x: Any, log_model: Any, model: Any, cost: Any, numbers: Any,
                    h: Any, q: Any, sums: Any) -> None:  # fmt: skip
    """A start for a sharp column: the same problem blunt, then four times sharper each time."""
    sharpness, weight, offset = numbers
    blunt = sharpness
    while blunt > 30.0:
        blunt /= 4.0
    for s in range(len(h)):
        h[s] *= blunt / sharpness
    while blunt < sharpness:
        _solve_column(rows, log_x, log_model, model, cost, (blunt, weight, offset), 1e-2, 20,
                      h, q, sums)  # fmt: skip
        for s in range(len(h)):
            h[s] *= 4.0
        blunt *= 4.0


@njit(**COMPILED)
def solve_logs(starts: Any, rows: Any, places: Any, log_x: Any, h: Any, cost: Any, numbers: Any,
               tolerance: float, turns: int, cold: bool,
               stacked: Any, own: Any, moved: Any, own_moved: Any, gather: bool, fresh: bool,
               own_sum: Any, other_sums: Any, other_shift: Any,
               column_sums: Any) -> None:  # fmt: skip
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
        _khatri_rao(first, n, places, stacked, products, peaks)
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
                _warm_up_column(rows[part], log_x[part], log_model, x[b], cost, numbers,
                                h[part], q, column_sums[j])  # fmt: skip
            _solve_column(rows[part], log_x[part], log_model, x[b], cost, numbers,
                          tolerance, turns, h[part], q, column_sums[j])  # fmt: skip
            for i in range(n_rows):
                x[b, i] = q[i] if fresh else q[i] * x[b, i]
        if not gather:
            continue
        if not fresh:
            _khatri_rao(first, n, places, moved, products, peaks)
        _weigh(n, products, ones, peaks, weighted)
        if not fresh:
            _divide(x[:n], np.dot(weighted[:n], own_moved.T))
        _add_to(own_sum, np.dot(x[:n].T, weighted[:n]))
        back = np.dot(x[:n], own_moved)
        _scatter(first, n, places, moved, back, ones, other_sums, other_shift)


@njit(**COMPILED)
def sweep_cells(starts: Any, rows: Any, places: Any, log_x: Any, stacked: Any, own: Any,
                powers: tuple[float, float, float], gather: bool,
                own_sum: Any, other_sums: Any, other_shift: Any,
                column_sums: Any) -> None:  # fmt: skip
    """Columns in which no mass moves: log Q = level + data_power log x - model_power log x^.

    With a kernel that is a multiple of the identity every nonzero is a problem of its own,
    solved in closed form; level 0 and powers 1 give the plain KL factorization (Delta = x).
    Written per column: sum Delta, sum Delta log(Delta / x^), sum Delta log(Delta / x), sum x.
    """
    level, data_power, model_power = powers
    rank = stacked.shape[1]
    product = np.empty(rank)
    for j in range(len(column_sums)):
        for r in range(rank):
            product[r] = stacked[places[j, 0], r]
        for o in range(1, places.shape[1]):
            for r in range(rank):
                product[r] *= stacked[places[j, o], r]
        column_sums[j, :] = 0.0
        for p in range(starts[j], starts[j + 1]):
            own_row = own[rows[p]]
            model = 0.0
            for r in range(rank):
                model += product[r] * own_row[r]
            column_sums[j, 3] += np.exp(log_x[p])
            if model <= 0.0:
                continue
            log_model = np.log(model)
            log_q = level + data_power * log_x[p] - model_power * log_model
            q = np.exp(log_q)
            column_sums[j, 0] += q * model
            column_sums[j, 1] += q * model * log_q
            column_sums[j, 2] += q * model * (log_q + log_model - log_x[p])
            if not gather:
                continue
            for r in range(rank):
                own_sum[rows[p], r] += q * product[r]
            for o in range(places.shape[1]):
                target = other_sums[places[j, o] + other_shift[o]]
                for r in range(rank):
                    term = q * own_row[r]
                    for rest in range(places.shape[1]):
                        if rest != o:
                            term *= stacked[places[j, rest], r]
                    target[r] += term


@njit(**COMPILED)
def finish_sweep(starts: Any, log_x: Any, ktu: Any, kappas: Any, relaxation: float,
                 offset: float, deflate: bool, h: Any, v: Any, shift: Any,
                 column_sums: Any) -> None:  # fmt: skip
    """The other half of the sweep: new log v from K'u, deflated, with the duality gap.

    With a = (h - h') / phi on the support, h' = phi (log x - log K'u) and Psi = exp(h + log K'u):
    the primal value exceeds the dual by ``lambda sum Psi (a - 1 + exp(-a))``. The all-ones
    direction contracts only by phi^2 per sweep; ``deflate`` removes it exactly. A column that
    the model cannot reach (K'u = 0) keeps its log v and sends nothing.
    Written per column: sum Psi a, the gap / lambda, <h, Psi>, KL(Psi || x).
    """
    slow = relaxation * relaxation / (1.0 - relaxation * relaxation)
    for j in range(len(shift)):
        tilt, gap, moment, divergence = 0.0, 0.0, 0.0, 0.0
        psi_sum, change, lift = 0.0, 0.0, 0.0
        start, stop = starts[j], starts[j + 1]
        reachable = ktu[start] > 0
        top = -np.inf
        for p in range(start, stop):
            divergence += exp(log_x[p])
            if reachable:
                log_ktu = log(np.float64(ktu[p])) + relaxation * kappas[j] - offset
                new = relaxation * (log_x[p] - log_ktu)
                psi = exp(h[p] + log_ktu)
                a = (h[p] - new) / relaxation
                tilt += psi * a
                gap += psi * _gap_of(a)
                moment += h[p] * psi
                divergence += psi * (h[p] + log_ktu - log_x[p]) - psi
                psi_sum += psi
                change += psi * (new - h[p])
                h[p] = new
            top = h[p] if h[p] > top else top
        if deflate and psi_sum > 0:
            lift = slow * change / psi_sum
        shift[j] = top + lift
        for p in range(start, stop):
            v[p] = exp(h[p] - top)
            h[p] += lift
        column_sums[j, 0] = tilt
        column_sums[j, 1] = gap
        column_sums[j, 2] = moment
        column_sums[j, 3] = divergence
