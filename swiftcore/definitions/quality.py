"""How well rules find the carriers of a phenotype: every choice of thresholds at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Quality:
    """A rule beside the membership that it stands for.

    Attributes
    ----------
    at_least : tuple of int
        One threshold per mode.
    found : int
        Rows that the rule finds.
    right : int
        Those of them that carry the phenotype.
    carriers : int
        Rows that carry it.
    """

    at_least: tuple[int, ...]
    found: int
    right: int
    carriers: int

    @property
    def sensitivity(self) -> float:
        """Share of the carriers that the rule finds; 0 if there are none."""
        return self.right / self.carriers if self.carriers else 0.0

    @property
    def predictive_value(self) -> float:
        """Share of carriers among the rows that the rule finds; 0 if it finds none."""
        return self.right / self.found if self.found else 0.0

    @property
    def balance(self) -> float:
        """The harmonic mean of both (F1)."""
        both = self.found + self.carriers
        return 2 * self.right / both if both else 0.0


class RuleCurve:
    """All rules over some counts of features.

    Parameters
    ----------
    had : sequence of ndarray of int, (rows,)
        Per mode, how many of the rule's features each row has.
    sizes : sequence of int
        Per mode, how many features the rule has; 0 for a mode that is not asked for.
    carries : ndarray of bool, (rows,)
    """

    def __init__(
        self, had: Sequence[Counts], sizes: Sequence[int], carries: NDArray[np.bool_]
    ) -> None:
        self.sizes, self.carriers = tuple(sizes), int(carries.sum())
        shape = tuple(size + 1 for size in sizes)
        places = np.ravel_multi_index([np.asarray(one) for one in had], shape)
        self._found = _at_least(np.bincount(places, minlength=np.prod(shape)).reshape(shape))
        right = np.bincount(places[carries], minlength=np.prod(shape)).reshape(shape)
        self._right = _at_least(right)

    def at(self, at_least: tuple[int, ...]) -> Quality:
        """The quality of one rule."""
        return Quality(
            at_least, int(self._found[at_least]), int(self._right[at_least]), self.carriers
        )

    def best(self) -> list[Quality]:
        """The rules that no other beats in both, the most sensitive first.

        Every mode with features is asked for at least once.
        """
        choices = product(*(range(min(1, size), size + 1) for size in self.sizes))
        rules = [self.at(one) for one in choices]
        rules = [rule for rule in rules if rule.right]
        rules.sort(key=lambda one: (-one.sensitivity, -one.predictive_value, sum(one.at_least)))
        front: list[Quality] = []
        for rule in rules:
            if not front or rule.predictive_value > front[-1].predictive_value:
                front.append(rule)
        return front

    def balanced(self) -> Quality | None:
        """Of the best rules the one with the highest F1; None if no rule finds a carrier."""
        return max(self.best(), key=lambda one: one.balance, default=None)


def _at_least(cells: Counts) -> Counts:
    """Sums over all cells that are as far or farther along every axis."""
    for axis in range(cells.ndim):
        cells = np.flip(np.cumsum(np.flip(cells, axis), axis=axis), axis)
    return cells
