"""Parts on this machine, some at a time: what does not fit into memory is on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.runtime.memory import not_enough_memory
from swiftcore.swift.parts.row_part import (
    Order,
    PartState,
    PartSums,
    RowPart,
    Shared,
    part_sweeper,
)
from swiftcore.transport.kernel import BlockKernel, DenseKernel, LogKernel
from swiftcore.transport.problem import TransportProblem
from swiftcore.transport.sweep import Sweeper

Array = NDArray[np.float64]
FACTORS_KEPT = 4  # of the rows: trial, best, the step from each
AT_WORK = 4  # states of a part while an order is carried out: before, after, copies of tasks


class LocalTeam:
    """Carries out orders part after part, some side by side in threads.

    Parameters
    ----------
    parts : sequence of RowPart
        Read whenever a part is needed: it may lie on the disk.
    rank, threads : int
    room : float
        Bytes that may be taken; infinite: everything stays in memory.
    folder : Path
        For states that do not fit.
    """

    def __init__(
        self,
        parts: Sequence[RowPart],
        shared: Shared,
        rank: int,
        *,
        threads: int,
        room: float,
        folder: Path,
    ) -> None:
        self._parts, self._shared, self._folder = parts, shared, folder
        states, problems = _sizes(parts, shared, rank)
        one = float((problems + AT_WORK * states).max())
        if one > room:
            raise not_enough_memory(
                "a part of the rows", one, room, "Allow more memory, or use a smaller rank."
            )
        self._threads = max(1, min(threads, int(room / 2 // one) if room < np.inf else threads))
        left = room - self._threads * one
        self._states_held = _that_fit(states, left)
        self._problems_held = _that_fit(problems, left - states[: self._states_held].sum())
        self._states: dict[int, PartState] = {}
        self._sweepers: dict[int, Sweeper] = {}

    def run(self, order: Order) -> PartSums:
        """See :class:`swiftcore.swift.parts.engine.Team`."""

        def one(number: int) -> PartSums:
            part = self._parts[number]
            sweeper = self._sweeper(number, part)
            state, sums = order.carry_out(part, sweeper, self._state(number))
            self._keep(number, state)
            return sums

        with ThreadPoolExecutor(self._threads) as pool:
            return reduce(add, pool.map(one, range(len(self._parts))))

    def rows(self, number: int) -> Iterator[NDArray[np.float64]]:
        for part in range(len(self._parts)):
            yield self._state(part).rows[number]

    def save(self, folder: Path) -> None:
        for number in range(len(self._parts)):
            write_state(state_file(folder, number), self._state(number))

    def load(self, folder: Path) -> None:
        for number in range(len(self._parts)):
            self._keep(number, read_state(state_file(folder, number)))

    def _sweeper(self, number: int, part: RowPart) -> Sweeper:
        found = self._sweepers.get(number)
        if found is None:
            found = part_sweeper(part, self._shared)
            if number < self._problems_held:
                self._sweepers[number] = found
        return found

    def _state(self, number: int) -> PartState:
        if number in self._states:
            return self._states[number]
        path = state_file(self._folder, number)
        return read_state(path) if path.exists() else PartState()

    def _keep(self, number: int, state: PartState) -> None:
        if number < self._states_held:
            self._states[number] = state
        else:
            write_state(state_file(self._folder, number), state)


def state_file(folder: Path, number: int) -> Path:
    """Where the state of a part lies in a folder."""
    return folder / f"state-{number:06d}.npz"


def write_state(path: Path, state: PartState) -> None:
    """What a part remembers, in a file that is replaced whole."""
    draft = path.with_suffix(".tmp")
    with draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **state.arrays())
    os.replace(draft, path)


def read_state(path: Path) -> PartState:
    """What :func:`write_state` wrote."""
    with np.load(path, allow_pickle=False) as file:
        return PartState.of({name: file[name] for name in file.files})


def _sizes(parts: Sequence[RowPart], shared: Shared, rank: int) -> tuple[Array, Array]:
    """Bytes of the state and of the problem of each part, from those of the fullest one.

    Neighbourhoods stand in the order of their likeness, so parts may hold very different numbers
    of entries; what goes with the rows is the same for all, or less for the last.
    """
    entries = np.array([len(part.values) for part in parts], dtype=np.float64)
    fullest = int(np.argmax(entries))
    share = entries / entries[fullest]
    problem = part_sweeper(parts[fullest], shared).problem
    factors = FACTORS_KEPT * 8 * rank * problem.shape[0]
    kernels = _kernel_bytes(problem)
    return share * _plan_bytes(problem) + factors, share * _entry_bytes(problem) + kernels


def _that_fit(sizes: Array, room: float) -> int:
    """How many of these, the first ones first, fit together."""
    return int(np.searchsorted(np.cumsum(sizes), room, side="right"))


def _entry_bytes(problem: TransportProblem) -> int:
    """What the entries of a part take when it is ready for orders."""
    arrays: list[NDArray[Any]] = list(problem.log_values)
    for one in problem.unfoldings:
        arrays += [one.column_places, one.starts, one.rows, one.values]
        arrays += [one.column_places.astype(np.int64), one.starts, one.rows]  # again in the tasks
    return sum(array.nbytes for array in arrays)


def _kernel_bytes(problem: TransportProblem) -> int:
    """What its neighbourhoods take then."""
    rows, arrays = problem.kernels[0], []
    assert isinstance(rows, BlockKernel)
    for block in rows.blocks:
        if isinstance(block, DenseKernel | LogKernel):
            arrays.append(block.matrix if isinstance(block, DenseKernel) else block.cost)
    return sum(array.nbytes for array in arrays)


def _plan_bytes(problem: TransportProblem) -> int:
    """What a part remembers of its plans."""
    item = np.dtype(problem.settings.dtype).itemsize
    return sum((8 + item) * one.n_entries + 56 * one.n_columns for one in problem.unfoldings)
