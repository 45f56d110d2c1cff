"""Parts of the rows on the workers of a cluster, as futures.

Every worker holds some parts that follow each other. Per order it is sent the features once; what
its parts answer is added to the sum of the workers before it and handed on to the next, always in
the order of the parts, so that the bits do not depend on how many workers there are. All tasks are
pure: what a dying worker takes with it, the scheduler has others compute again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from swiftcore.cluster.connection import Worker, here
from swiftcore.cluster.crew import Crew, make_ready
from swiftcore.cluster.sent_once import given
from swiftcore.swift.parts.local_team import read_state, state_file, write_state
from swiftcore.swift.parts.row_part import (
    Order,
    PartState,
    PartSums,
    RowPart,
    Shared,
    part_sweeper,
)
from swiftcore.transport.sweep import Sweeper


class Loaded:
    """Some parts on a worker, ready for orders; when it moves, it is made anew."""

    def __init__(self, parts: Sequence[RowPart], shared: Shared, wanted: Mapping[str, str]) -> None:
        make_ready(wanted)
        self.parts, self.shared, self.wanted = list(parts), shared, wanted
        self.sweepers: list[Sweeper] = [part_sweeper(part, shared) for part in parts]

    def __reduce__(self) -> tuple[Any, ...]:
        return Loaded, (self.parts, self.shared, self.wanted)

    def __sizeof__(self) -> int:
        return 4 * sum(part.values.nbytes for part in self.parts)


@dataclass(frozen=True, eq=False)
class Answered:
    """What some parts remember after an order, and what they answered."""

    states: Sequence[PartState]
    sums: Sequence[PartSums]
    worker: Worker

    def __sizeof__(self) -> int:
        return sum(array.nbytes for one in self.states for array in one.arrays().values())


@dataclass(frozen=True, eq=False)
class Running:
    """The sum so far, and who has added to it."""

    sums: PartSums
    workers: frozenset[Worker]


def carry_out(loaded: Loaded, before: Answered | None, order: Order) -> Answered:
    """An order for some parts, on the worker that holds them."""
    states = [PartState()] * len(loaded.parts) if before is None else before.states

    def one(number: int) -> tuple[PartState, PartSums]:
        return order.carry_out(loaded.parts[number], loaded.sweepers[number], states[number])

    with ThreadPoolExecutor(_threads()) as pool:
        found = list(pool.map(one, range(len(loaded.parts))))
    return Answered([state for state, _ in found], [sums for _, sums in found], here())


def add_to(running: Running | None, answered: Answered) -> Running:
    """The sum with what more parts answered."""
    workers = frozenset([answered.worker])
    if running is None:
        total, *rest = answered.sums
    else:
        total, rest = running.sums, list(answered.sums)
        workers |= running.workers
    for sums in rest:
        total = total + sums
    return Running(total, workers)


def remembered(*states: PartState) -> Answered:
    """States that were kept in files, as after an order."""
    return Answered(states, [], ("", 0))


def state_of(answered: Answered, place: int) -> PartState:
    """What one of the parts remembers, on its way to a file."""
    return answered.states[place]


def rows_of(answered: Answered, place: int, number: int) -> NDArray[np.float64]:
    """Factors of the rows of one of the parts, on their way to the result."""
    return answered.states[place].rows[number]


def _threads() -> int:
    from distributed import get_worker

    return int(get_worker().state.nthreads)


class DaskTeam(Crew):
    """See :class:`swiftcore.swift.parts.engine.Team`.

    Parameters
    ----------
    client : distributed.Client
    parts : sequence of RowPart
    shared : Shared
    """

    def __init__(self, client: Any, parts: Sequence[RowPart], shared: Shared) -> None:
        super().__init__(client)
        homes = sorted(client.scheduler_info(n_workers=-1)["workers"])
        cuts = np.linspace(0, len(parts), min(len(homes), len(parts)) + 1).round().astype(int)
        self._groups = [range(low, high) for low, high in pairwise(cuts.tolist())]
        self._homes = homes[: len(self._groups)]
        self._loaded = [
            self._task(
                group,
                Loaded,
                [self._task(group, given, parts[number]) for number in numbers],
                shared,
                self.own,
            )
            for group, numbers in enumerate(self._groups)
        ]
        self._answered: list[Any] = [None] * len(self._groups)

    def run(self, order: Order) -> PartSums:
        self._answered = [
            self._task(group, carry_out, loaded, before, order)
            for group, (loaded, before) in enumerate(zip(self._loaded, self._answered, strict=True))
        ]
        running: Any = None
        for group, answered in enumerate(self._answered):
            running = self._task(group, add_to, running, answered)
        found: Running = self.wait(running).result()
        self.workers |= found.workers
        return found.sums

    def rows(self, number: int) -> Iterator[NDArray[np.float64]]:
        for group, numbers in enumerate(self._groups):
            for place in range(len(numbers)):
                rows = self._task(group, rows_of, self._answered[group], place, number)
                yield self.wait(rows).result()

    def save(self, folder: Path) -> None:
        for group, numbers in enumerate(self._groups):
            for place, number in enumerate(numbers):
                state = self._task(group, state_of, self._answered[group], place)
                write_state(state_file(folder, number), self.wait(state).result())

    def load(self, folder: Path) -> None:
        for group, numbers in enumerate(self._groups):
            states = [
                self._task(group, given, read_state(state_file(folder, number)))
                for number in numbers
            ]
            self._answered[group] = self._task(group, remembered, *states)

    def _task(self, group: int, function: Any, *arguments: Any) -> Any:
        """A task on the worker of a group, or on another one if that is gone."""
        name = getattr(function, "__name__", "task")
        return self.client.submit(
            function,
            *arguments,
            key=f"swift-{name}-{group}-{uuid4().hex}",
            workers=[self._homes[group]],
            allow_other_workers=True,
        )
