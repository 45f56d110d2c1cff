"""exp(-sharpness C) in the form the sweeps want it, chosen so that no entry is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.neighbourhoods import Neighbourhoods
from swiftcore.transport.limits import MAX_EXPONENT

ROWS_AT_A_TIME = 512  # of the cost, so that no float64 copy of it is made


@dataclass(frozen=True, eq=False)
class DenseKernel:
    """The kernel itself, as a matrix."""

    matrix: NDArray[Any]


@dataclass(frozen=True, eq=False)
class LogKernel:
    """The cost, from which exponentials are taken on the fly: the kernel would be too sharp."""

    cost: NDArray[Any]


@dataclass(frozen=True)
class IdentityKernel:
    """No mass moves within the mode: the kernel is a multiple of the identity."""


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """Mass moves within neighbourhoods only: each has a kernel of its own.

    Attributes
    ----------
    starts : ndarray of int64, (neighbourhoods + 1)
        Where in the rows each begins, and the end.
    blocks : tuple of DenseKernel or LogKernel
    """

    starts: NDArray[np.int64]
    blocks: tuple[Kernel, ...]


Kernel = DenseKernel | LogKernel | IdentityKernel


def build_kernel(
    cost: NDArray[np.float64] | Neighbourhoods | None, sharpness: float, dtype: str
) -> Kernel | BlockKernel:
    """The form of exp(-sharpness * cost) that is exact for this sharpness and number type."""
    if isinstance(cost, Neighbourhoods):
        numbers = range(len(cost))
        blocks = tuple(_full_kernel(cost.cost(number), sharpness, dtype) for number in numbers)
        return BlockKernel(cost.starts, blocks)
    return IdentityKernel() if cost is None else _full_kernel(cost, sharpness, dtype)


def _full_kernel(cost: NDArray[np.float64], sharpness: float, dtype: str) -> Kernel:
    if sharpness * float(cost.max(initial=0.0)) > MAX_EXPONENT:
        return LogKernel(np.ascontiguousarray(cost, dtype=dtype))
    matrix = np.empty(cost.shape, dtype=dtype)
    for low in range(0, len(cost), ROWS_AT_A_TIME):
        strip = slice(low, low + ROWS_AT_A_TIME)
        matrix[strip] = np.exp(-sharpness * np.asarray(cost[strip], dtype=np.float64))
    return DenseKernel(matrix)
