"""How long baselines go on unless asked otherwise, and what they hold; light, for the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple


class Stopping(NamedTuple):
    """When sweeps end: at most this many, or when a sweep changes the loss by less (relative)."""

    max_iterations: int
    tolerance: float


SWEEPS = Stopping(200, 1e-5)  # alternating and multiplicative updates
KIM = Stopping(100, 1e-4)  # as in Kim et al. 2017
CELLS_AT_A_TIME = 2**20  # a few megabytes: strips stay near the processor


def all_cells_memory(shape: Sequence[int], rank: int) -> int:
    """Bytes of a loss over every cell: products of the features' factors, and strips of rows."""
    feature_cells = prod(shape[1:])
    return 8 * 3 * (feature_cells * rank + max(feature_cells, CELLS_AT_A_TIME))
