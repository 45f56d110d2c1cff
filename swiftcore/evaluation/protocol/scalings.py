"""How memberships are made fit for a linear model: first their shape, then like spreads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def amounts(memberships: Array) -> Array:
    """Memberships as they are."""
    return memberships


def root_shares(memberships: Array) -> Array:
    """Square roots of each row's shares, signs kept: rows of any weight compare."""
    total = np.abs(memberships).sum(axis=1, keepdims=True)
    shares = np.divide(memberships, total, out=np.zeros_like(memberships), where=total > 0)
    return np.asarray(np.sign(shares) * np.sqrt(np.abs(shares)))


def log_amounts(memberships: Array) -> Array:
    """Logarithms that leave 0 at 0, signs kept: heavy rows count less."""
    return np.asarray(np.sign(memberships) * np.log1p(np.abs(memberships)))


SCALINGS = {"amounts": amounts, "root shares": root_shares, "log amounts": log_amounts}


@dataclass(frozen=True, eq=False)
class Scaler:
    """Columns to mean 0 and spread 1, as learnt from the training rows."""

    mean: Array
    spread: Array

    @classmethod
    def of(cls, rows: Array) -> Scaler:
        spread = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(spread > 1e-12, spread, np.inf))

    def __call__(self, rows: Array) -> Array:
        return np.asarray((rows - self.mean) / self.spread)
