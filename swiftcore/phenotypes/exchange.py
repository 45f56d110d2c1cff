"""What one fit found and another did not: small exchanges between them, each to be tried.

Two good fits share most components and differ in a few places: here one parts a group that the
other leaves whole, there it is the other way round. Neither has the better of all places, and
no mean of the two has either. So each place is taken over by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.phenotypes.matching import FOUND_FROM, Features, similarity

TOUCHING = 0.2  # components this similar tell of the same place
MOST = 8  # exchanges with one fit: the smallest places first

Place = tuple[list[int], list[int]]
"""Components of the one fit, and those of the other that tell of the same."""


def exchanges(current: Features, other: Features) -> list[list[NDArray[np.float64]]]:
    """Feature profiles of the current fit with one place as the other has it, for some places.

    The number of components stays: a place that the other tells with one more is taken over
    together with one that it tells with one less.
    """
    similarities = similarity(current, other)
    here, there = _unshared(similarities)
    if not here:
        return []
    found = _places(similarities, here, there)
    even = [place for place in found if len(place[0]) == len(place[1])]
    more = [place for place in found if len(place[1]) - len(place[0]) == 1]
    less = [place for place in found if len(place[0]) - len(place[1]) == 1]
    moves = even + [(sorted(a[0] + b[0]), sorted(a[1] + b[1])) for a in more for b in less]
    moves.sort(key=lambda move: (len(move[0]), move))
    if (whole := (here, there)) not in moves[:MOST]:
        moves = [*moves[: MOST - 1], whole]
    return [_taken_over(current, other, move) for move in moves[:MOST]]


def _unshared(similarities: NDArray[np.float64]) -> Place:
    """Components that only one of the two has: without each other's nearest that are found again.

    Not by the assignment with the largest sum, which may give up a perfect pair for two
    middling ones.
    """
    mine = np.arange(len(similarities))
    nearest = similarities.argmax(axis=1)
    shared = similarities.argmax(axis=0)[nearest] == mine
    shared &= similarities[mine, nearest] >= FOUND_FROM
    return np.flatnonzero(~shared).tolist(), np.setdiff1d(mine, nearest[shared]).tolist()


def _places(similarities: NDArray[np.float64], here: list[int], there: list[int]) -> list[Place]:
    """Components that differ, put together as far as they touch."""
    from scipy.sparse.csgraph import connected_components  # slow to load, and pages import this

    touching = similarities[np.ix_(here, there)] >= TOUCHING
    size = len(here)
    graph = np.zeros((2 * size, 2 * size))
    graph[:size, size:] = touching
    count, labels = connected_components(graph, directed=False)
    return [
        (
            [one for one, label in zip(here, labels[:size], strict=True) if label == place],
            [one for one, label in zip(there, labels[size:], strict=True) if label == place],
        )
        for place in range(count)
    ]


def _taken_over(current: Features, other: Features, move: Place) -> list[NDArray[np.float64]]:
    mine, theirs = move
    result = [np.array(factor) for factor in current]
    for factor, new in zip(result, other, strict=True):
        factor[:, mine] = new[:, theirs]
    return result
