"""Compiled parts that every loop over blocks of columns shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from swiftcore.transport.compiled.elementary import COMPILED, exp


@njit(**COMPILED)
def khatri_rao(first: int, n: int, places: Any, stacked: Any, products: Any, peaks: Any) -> None:
    """Rows of the Khatri-Rao product of the other factors, each divided by its sum."""
    rank, tiny = stacked.shape[1], np.finfo(products.dtype).tiny
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
        if peak < tiny:  # what is smaller has no reciprocal: the model has nothing here
            peak = products.dtype.type(0)
        peaks[b] = peak
        inverse = products.dtype.type(1) / peak if peak > 0 else peak
        for r in range(rank):
            row[r] *= inverse


@njit(**COMPILED)
def scatter(
    first: int, n: int, places: Any, stacked: Any, back: Any, scales: Any, numerators: Any
) -> None:
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
            target = numerators.others[places[j, o] + numerators.shifts[o]]
            for r in range(rank):
                target[r] += term[r]


@njit(**COMPILED)
def weigh(n: int, products: Any, scales: Any, peaks: Any, weighted: Any) -> None:
    """The Khatri-Rao rows times their columns' true scales."""
    for b in range(n):
        weight = products.dtype.type(scales[b] * peaks[b])
        for r in range(products.shape[1]):
            weighted[b, r] = weight * products[b, r]


@njit(**COMPILED)
def add_to(total: Any, part: Any) -> None:
    """total += part; the total may have more digits than the part."""
    for i in range(part.shape[0]):
        for r in range(part.shape[1]):
            total[i, r] += part[i, r]


@njit(**COMPILED)
def dot(left: Any, right: Any) -> Any:
    """Inner product."""
    total = left.dtype.type(0)
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@njit(**COMPILED)
def gap_of(a: float) -> float:
    """a - 1 + exp(-a), without loss of digits near zero."""
    if abs(a) < 1e-3:
        return a * a * (0.5 - a * (1.0 / 6.0 - a / 24.0))
    return a - 1.0 + exp(-a)
