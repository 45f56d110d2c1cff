"""Modes in which no mass moves: every nonzero is a problem of its own, with a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from swiftcore.transport.compiled.blocks import dot, khatri_rao, scatter
from swiftcore.transport.compiled.elementary import COMPILED, exp, log


@njit(**COMPILED)
def sweep_cells(
    columns: Any,
    model: Any,
    powers: tuple[float, float, float],
    numerators: Any,
    column_sums: Any,
) -> None:
    """Columns in which no mass moves: log Q = level + data_power log x - model_power log x^.

    With a kernel that is a multiple of the identity every nonzero is a problem of its own,
    solved in closed form; level 0 and powers 1 give the plain KL factorization (Delta = x).
    Written per column: sum Delta, sum Delta log(Delta / x^), sum Delta log(Delta / x), sum x.
    """
    level, data_power, model_power = powers
    starts, rows, places, log_x = columns
    stacked, own = model
    rank = stacked.shape[1]
    product, back = np.empty((1, rank), stacked.dtype), np.empty((1, rank))
    peaks, ones = np.empty(1), np.ones(1)
    for j in range(len(column_sums)):
        khatri_rao(j, 1, places, stacked, product, peaks)
        row, mass, log_q_sum, log_x_sum, data = product[0], 0.0, 0.0, 0.0, 0.0
        back[:] = 0.0
        for p in range(starts[j], starts[j + 1]):
            data += exp(log_x[p])
            own_row = own[rows[p]]
            cell = np.float64(dot(row, own_row)) * peaks[0]
            if cell <= 0.0:
                continue
            log_cell = log(cell)
            log_q = level + data_power * log_x[p] - model_power * log_cell
            q = exp(log_q)
            mass += q * cell
            log_q_sum += q * cell * log_q
            log_x_sum += q * cell * (log_q + log_cell - log_x[p])
            if numerators.wanted:
                weight, target = q * peaks[0], numerators.own[rows[p]]
                for r in range(rank):
                    target[r] += weight * row[r]
                    back[0, r] += q * own_row[r]
        if numerators.wanted:
            scatter(j, 1, places, stacked, back, ones, numerators)
        column_sums[j, 0], column_sums[j, 1] = mass, log_q_sum
        column_sums[j, 2], column_sums[j, 3] = log_x_sum, data
