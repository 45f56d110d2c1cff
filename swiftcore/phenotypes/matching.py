"""Which component of one factorization is which of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

FOUND_FROM = 0.8  # from this congruence on a component counts as found again
Features = Sequence[NDArray[np.float64]]


def congruence(first: Features, second: Features) -> NDArray[np.float64]:
    """Components x components: product over the feature modes of the profiles' cosines."""
    result = np.ones((first[0].shape[1], second[0].shape[1]))
    for one, other in zip(first, second, strict=True):
        result *= _unit(one).T @ _unit(other)
    return result


def match(reference: Features, other: Features) -> NDArray[np.float64]:
    """For each component of the reference, its congruence with its partner.

    Partners are assigned one to one so that the sum is largest; 0 without a partner.
    """
    alike = congruence(reference, other)
    rows, columns = linear_sum_assignment(-alike)
    found = np.zeros(alike.shape[0])
    found[rows] = alike[rows, columns]
    return found


def _unit(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(profiles, axis=0)
    unit = np.divide(profiles, length, out=np.zeros_like(profiles), where=length > 0)
    return np.asarray(unit)
