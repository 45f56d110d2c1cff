"""Which component of one factorization is which of another, and how similar the two are.

One measure and one threshold serve every experiment, page and report: a pair that is near in
each mode, but not in all of them together, must not count as found on one page and lost on another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FOUND_FROM = 0.8  # from this similarity on a component counts as found again
Features = Sequence[NDArray[np.float64]]


def similarity(first: Features, second: Features) -> NDArray[np.float64]:
    """Components x components: product over the feature modes of the profiles' cosines.

    1 means the same profiles in every mode, 0 no feature in common in at least one. Below 0, for
    profiles with signs: the same features, turned round; memberships of the other sign then
    make the same component, so partners go by the absolute value.

    Parameters
    ----------
    first, second : sequence of ndarray, (mode size x rank)
        Factors of the same modes, the rows' mode left out.
    """
    result = np.ones((first[0].shape[1], second[0].shape[1]))
    for one, other in zip(first, second, strict=True):
        result *= _unit(one).T @ _unit(other)
    return result


def partners(similarities: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Rows and columns assigned one to one so that their similarities, by size, are largest."""
    from scipy.optimize import linear_sum_assignment  # slow to load, and pages import this module

    rows, columns = linear_sum_assignment(-np.abs(similarities))
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def match(reference: Features, other: Features) -> NDArray[np.float64]:
    """For each component of the reference, how similar its partner is; 0 without one."""
    similarities = np.abs(similarity(reference, other))
    found = np.zeros(len(similarities))
    for row, column in partners(similarities):
        found[row] = similarities[row, column]
    return found


def _unit(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(profiles, axis=0)
    unit = np.divide(profiles, length, out=np.zeros_like(profiles), where=length > 0)
    return np.asarray(unit)
