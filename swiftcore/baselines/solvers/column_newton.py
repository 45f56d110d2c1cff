"""One column of a factor at a time: a Newton step, clipped at 0, that never raises the loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class BlockLoss:
    """The loss as a function of one factor, all others fixed.

    Attributes
    ----------
    value : callable
        factor -> loss, up to a constant.
    slope : callable
        (factor, column) -> first and second derivatives of that column's entries.
    """

    value: Callable[[NDArray[np.float64]], float]
    slope: Callable[[NDArray[np.float64], int], tuple[NDArray[np.float64], NDArray[np.float64]]]


def newton_columns(factor: NDArray[np.float64], loss: BlockLoss) -> NDArray[np.float64]:
    """Every column once.

    Steps use the second derivative of each entry alone, so that a clipped step still goes
    downhill; it is halved until it does not go up.
    """
    moved = np.array(factor)
    here = loss.value(moved)
    for column in range(moved.shape[1]):
        first, second = loss.slope(moved, column)
        step = np.divide(first, second, out=np.zeros_like(first), where=second > 0)
        trial = np.array(moved)
        for _ in range(MAX_HALVINGS):
            trial[:, column] = np.maximum(0, moved[:, column] - step)
            there = loss.value(trial)
            if there <= here:
                moved, here = trial, there
                break
            step = step / 2
    return moved
