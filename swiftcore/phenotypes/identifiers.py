"""What a component is called, and when it has died: one answer for everybody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DEAD_SHARE = 1e-6  # a component with no more than this share of the mass has died


def component_id(component: int, rank: int) -> str:
    """P01, P02, ...: the column of the factors, whatever the order of a list."""
    return f"P{component + 1:0{max(2, len(str(rank)))}d}"


def dead_components(mass: NDArray[np.float64]) -> tuple[int, ...]:
    """Components without a share of the mass worth speaking of."""
    return tuple(int(component) for component in np.flatnonzero(mass <= DEAD_SHARE * mass.sum()))
