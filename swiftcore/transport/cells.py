"""Modes in which no mass moves: every nonzero is a problem of its own, with a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from swiftcore.transport.elementary import COMPILED


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
