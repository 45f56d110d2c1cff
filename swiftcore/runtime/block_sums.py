"""Sums over numbers that come in blocks, the same to the bit however they are cut."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 2**17  # up to so many numbers NumPy adds up, all together; beyond, the sum is exact


def total(blocks: Iterable[NDArray[Any]], count: int) -> float:
    """The sum of all numbers in some blocks.

    Parameters
    ----------
    blocks : iterable of ndarray
        Read once, one after the other.
    count : int
        How many numbers there are in all of them.
    """
    if count <= AT_ONCE:
        arrays = list(blocks)
        return float(np.sum(arrays[0] if len(arrays) == 1 else np.concatenate(arrays)))
    return fsum(chain.from_iterable(block.tolist() for block in blocks))
