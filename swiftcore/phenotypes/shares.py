"""What a component, a feature in it and a row's part of it weigh, whatever the signs.

Some methods find factors with values below 0. Everything is then measured by absolute value,
and the sign is kept: a share of -20 % means "a fifth of it, and less instead of more". Factors
without a value below 0 have the shares one expects.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def profiles(factor: Array) -> Array:
    """Every column as signed shares, whose absolute values add up to 1 (or to 0)."""
    sums = np.abs(factor).sum(axis=0)
    return np.asarray(np.divide(factor, sums, out=np.zeros_like(factor), where=sums > 0))


def masses(factors: Sequence[Array]) -> Array:
    """How much every component weighs in the model."""
    return np.asarray(np.prod([np.abs(factor).sum(axis=0) for factor in factors], axis=0))


def row_shares(factors: Sequence[Array]) -> Array:
    """Rows x components: which signed share of each row's memberships a component makes up."""
    per_row = factors[0] * masses(factors[1:])
    sums = np.abs(per_row).sum(axis=1, keepdims=True)
    share = np.divide(per_row, sums, out=np.zeros_like(per_row, dtype=np.float64), where=sums > 0)
    return np.asarray(share)
