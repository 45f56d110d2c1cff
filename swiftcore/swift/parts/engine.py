"""The loop's engine over parts: features here, rows wherever their parts are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swiftcore.swift.engine import LoopState, Point
from swiftcore.swift.factor_update import Factors, carry_on, share_of, update_factors
from swiftcore.swift.parts.row_part import Begin, CarryOn, Order, PartSums, Shared, Sweep
from swiftcore.transport.sweep import TransportValue, value_of

Array = NDArray[np.float64]


class Team(Protocol):
    """Who holds the parts and carries out orders for them."""

    def run(self, order: Order) -> PartSums:
        """Carry out an order for every part; what they answer, added up in their order."""
        ...

    def rows(self, number: int) -> Iterator[Array]:
        """Factors of the rows, part by part."""
        ...

    def save(self, folder: Path) -> None:
        """Write what every part remembers into a folder."""
        ...

    def load(self, folder: Path) -> None:
        """Let every part remember what was written."""
        ...


@dataclass
class RowsElsewhere:
    """In the place of the rows' factor: the number under which the parts hold theirs."""

    number: int


class PartsEngine:
    """Asks a team for what the loop needs; see :class:`swiftcore.swift.engine.Engine`."""

    def __init__(self, team: Team, shared: Shared) -> None:
        self.team, self.shared = team, shared
        self.next_number = 0
        # By number, what factors of rows are still to be divided and multiplied by.
        self.weighted: dict[int, tuple[Array, Array]] = {}

    @property
    def empty_model_cost(self) -> float:
        shared = self.shared
        weight = shared.settings.marginal_weight * shared.n_modes
        return weight * shared.mass * shared.scale

    def begin(self, features: Sequence[Array], rows: Array | None) -> LoopState:
        """Before the first sweep, from a start of the features and perhaps of the rows."""
        number = self._new_number()
        sums = self.team.run(Begin(number, features, rows)).rows
        return LoopState(self._normalized(number, sums, features), [])

    def value_at(self, now: LoopState) -> TransportValue:
        return self._value(now, self._sweep(now, None))

    def point(self, now: LoopState, free_modes: Sequence[int]) -> Point:
        target = self._new_number()
        found = self._sweep(now, target)
        cuts = np.cumsum(self.shared.sizes)[:-1]
        nobody = np.zeros((0, found.rows.size))  # the rows take their step where they are
        numerators = [nobody, *np.split(found.numerators, cuts)]
        step = update_factors([nobody, *now.trial[1:]], numerators, free_modes)
        at = RowsElsewhere(target)
        return Point(now.trial, self._value(now, found), [at, *step[1:]])  # type: ignore[list-item]

    def carried_on(self, now: LoopState, point: Point, free_modes: Sequence[int]) -> Factors:
        assert now.best is not None
        step, earlier, target = _at(point.step), _at(now.best.step), self._new_number()
        live = (_at(point.factors), step)
        order = CarryOn(step, earlier, now.momentum, target, live)
        sums = self.team.run(order).rows
        features = [
            carry_on(one, before, now.momentum)
            for one, before in zip(point.step[1:], now.best.step[1:], strict=True)
        ]
        return self._normalized(target, sums, features)

    def memberships(self, factors: Factors) -> Iterator[Array]:
        """The rows' factors part by part, carrying all the weight of their components."""
        sums = sum(part.sum(axis=0) for part in self.team.rows(_at(factors)))
        weights = np.prod([sums, *(one.sum(axis=0) for one in factors[1:])], axis=0)
        for part in self.team.rows(_at(factors)):
            scaled = share_of(part, np.asarray(sums))
            scaled *= weights
            yield scaled

    def _new_number(self) -> int:
        self.next_number += 1
        return self.next_number

    def _normalized(self, number: int, sums: Array, features: Sequence[Array]) -> Factors:
        """Features that sum to 1; the rows are to carry all weight when they are next used."""
        own = [one.sum(axis=0) for one in features]
        self.weighted[number] = (sums, np.prod([sums, *own], axis=0))
        scaled = [share_of(one, total) for one, total in zip(features, own, strict=True)]
        return [RowsElsewhere(number), *scaled]  # type: ignore[list-item]

    def _sweep(self, now: LoopState, target: int | None) -> PartSums:
        source = _at(now.trial)
        live = () if now.best is None else (_at(now.best.factors), _at(now.best.step))
        weighted = self.weighted.pop(source, None)
        # in the numbers of the sweep: half as much travels, and nothing else is made of them
        features = [one.astype(self.shared.settings.dtype) for one in now.trial[1:]]
        return self.team.run(Sweep(source, target, features, live, weighted))

    def _value(self, now: LoopState, found: PartSums) -> TransportValue:
        shared = self.shared
        masses = [found.rows, *(factor.sum(axis=0) for factor in now.trial[1:])]
        return value_of(found.columns, masses, shared.settings, shared.scale, shared.mass)


def _at(factors: Sequence[Any]) -> int:
    """Under which number the parts hold the rows' factor."""
    number: int = factors[0].number
    return number
