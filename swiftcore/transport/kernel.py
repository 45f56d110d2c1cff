"""exp(-sharpness C) in the form the sweeps want it, chosen so that no entry is lost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Largest sharpness * C for which the kernel itself is used. Beyond it float32 loses entries,
# and in any type the sweeps slow down: rows settle on one place, and Newton steps pay.
LARGEST_EXPONENT = 60.0
TILE_CELLS = 2**16  # kernel cells per tile: 256 KiB in float32, half an L2 cache
SMALLEST_TILE, WHOLE_MODE = 48, 256


@dataclass(frozen=True, eq=False)
class TiledKernel:
    """The kernel itself, cut into tiles of rows: ``tiles[t]`` is (mode size x rows of tile t)."""

    tiles: tuple[NDArray[Any], ...]
    bounds: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LogKernel:
    """The cost, from which exponentials are taken on the fly: the kernel would be too sharp."""

    cost: NDArray[Any]


@dataclass(frozen=True)
class StillKernel:
    """No mass moves within the mode: the kernel is a multiple of the identity."""


Kernel = TiledKernel | LogKernel | StillKernel


def build_kernel(cost: NDArray[np.float64] | None, sharpness: float, dtype: str) -> Kernel:
    """The form of exp(-sharpness * cost) that is exact for this sharpness and number type."""
    if cost is None:
        return StillKernel()
    if sharpness * float(cost.max(initial=0.0)) > LARGEST_EXPONENT:
        return LogKernel(np.ascontiguousarray(cost, dtype=dtype))
    size = len(cost)
    width = tile_width(size)
    bounds = (*range(0, size, width), size)
    tiles = tuple(
        np.exp(-sharpness * np.asarray(cost[:, low:high], dtype=np.float64)).astype(dtype)
        for low, high in pairwise(bounds)
    )
    return TiledKernel(tiles, bounds)


def tile_width(size: int) -> int:
    """Rows per tile: the whole mode when small, else what keeps a tile in the cache."""
    if size <= WHOLE_MODE:
        return size
    return max(SMALLEST_TILE, min(WHOLE_MODE, TILE_CELLS // size // 16 * 16))
