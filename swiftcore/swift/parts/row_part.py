"""One part of the rows: what it is made of, what it remembers, and what it can be told to do.

Parts share nothing but the factors of the features. A part is told them, and answers with its
numerators of the features and a few sums; its rows' factors and plans stay where it is. Every
order is a pure function of the part and its state: whoever loses a state can compute it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.cosine import row_features, unit_rows
from swiftcore.cost.neighbourhoods import CosineRows, EqualRows, Neighbourhoods
from swiftcore.runtime.workers import Workers
from swiftcore.swift.factor_update import carry_on, share_of
from swiftcore.swift.some_rows import memberships_for
from swiftcore.tensor import Mode, SparseTensor
from swiftcore.transport.column_task import ModeState
from swiftcore.transport.compiled.arguments import N_SUMS
from swiftcore.transport.kernel import Kernel
from swiftcore.transport.problem import TransportProblem, TransportSettings, describe_problem
from swiftcore.transport.sweep import Sweeper, cold_state, stack_factors

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shared:
    """What all parts have in common.

    Attributes
    ----------
    settings : TransportSettings
    scale, mass : float
        What values are divided by, and the sum of all of them after that.
    sizes : tuple of int
        Of the feature modes.
    kernels : tuple of Kernel
        Of the feature modes.
    alike : bool
        Whether all rows of a neighbourhood are equally far apart, and not by their features.
    """

    settings: TransportSettings
    scale: float
    mass: float
    sizes: tuple[int, ...]
    kernels: tuple[Kernel, ...]
    alike: bool = False

    @property
    def n_modes(self) -> int:
        return len(self.sizes) + 1


@dataclass(frozen=True, eq=False)
class RowPart:
    """The entries of some neighbourhoods.

    Attributes
    ----------
    first : int
        Which row of all, in the order of the neighbourhoods, is its row 0.
    starts : ndarray of int64
        Where in its rows each neighbourhood begins, and the end.
    places : ndarray of int32, (entries, modes)
        Sorted.
    values : ndarray of float64
    """

    first: int
    starts: NDArray[np.int64]
    places: NDArray[np.int32]
    values: Array

    @property
    def rows(self) -> slice:
        """Its rows among all, in the order of the neighbourhoods."""
        return slice(self.first, self.first + int(self.starts[-1]))

    def neighbourhoods(self, shared: Shared, chosen: Sequence[int]) -> RowPart:
        """Some of its neighbourhoods, as a part that begins at row 0."""
        kept, sizes = [], np.diff(self.starts)[list(chosen)]
        begins = np.r_[0, np.cumsum(sizes)]
        for one, begin in zip(chosen, begins, strict=False):
            low, high = np.searchsorted(self.places[:, 0], self.starts[one : one + 2])
            moved = self.places[low:high].copy()
            moved[:, 0] += begin - self.starts[one]
            kept.append((moved, self.values[low:high]))
        empty = np.zeros((0, shared.n_modes), np.int32)
        return RowPart(
            0,
            begins,
            np.concatenate([empty, *(moved for moved, _ in kept)]),
            np.concatenate([np.zeros(0), *(values for _, values in kept)]),
        )


def part_problem(part: RowPart, shared: Shared) -> TransportProblem:
    """The transport problems of a part."""
    sizes = (int(part.starts[-1]), *shared.sizes)
    modes = tuple(Mode.numbered(str(axis), size) for axis, size in enumerate(sizes))
    tensor = SparseTensor(modes, part.places.astype(np.int64), part.values)
    source = EqualRows() if shared.alike else CosineRows(unit_rows(row_features(tensor)))
    rows = Neighbourhoods(np.arange(sizes[0]), part.starts, source)
    return describe_problem(tensor, [rows, *shared.kernels], shared.settings, shared.scale)


def part_sweeper(part: RowPart, shared: Shared) -> Sweeper:
    """What carries out orders for a part, alone: others work beside it."""
    return Sweeper(part_problem(part, shared), Workers(1))


@dataclass(frozen=True, eq=False)
class PartState:
    """What a part remembers: where its plans stand, and factors of its rows by number."""

    transport: tuple[tuple[NDArray[Any], ...], ...] = ()
    rows: Mapping[int, Array] = field(default_factory=dict)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """By name, for files."""
        found = {f"rows_{number}": rows for number, rows in self.rows.items()}
        for mode, three in enumerate(self.transport):
            found |= {f"plan_{mode}_{place}": array for place, array in enumerate(three)}
        return found

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> PartState:
        """From what :meth:`arrays` gave."""
        modes = 1 + max(int(name.split("_")[1]) for name in arrays if name[:4] == "plan")
        plans = tuple(
            tuple(arrays[f"plan_{mode}_{place}"] for place in range(3)) for mode in range(modes)
        )
        rows = {int(name[5:]): array for name, array in arrays.items() if name[:5] == "rows_"}
        return cls(plans, rows)

    def with_rows(self, live: Sequence[int], number: int, rows: Array) -> PartState:
        """With new factors; of the others only those that are still asked for."""
        kept = {one: self.rows[one] for one in live if one in self.rows}
        return PartState(self.transport, {**kept, number: rows})


@dataclass(frozen=True, eq=False)
class PartSums:
    """What travels back from a part, and is added up over parts in their order.

    Attributes
    ----------
    numerators : ndarray, (features of all modes x rank)
        Of the factor update; without rows when they were not asked for.
    columns : ndarray
        What is noted of all columns of its plans.
    rows : ndarray, (rank)
        Column sums of the factors of its rows.
    """

    numerators: Array
    columns: Array
    rows: Array

    def __add__(self, other: PartSums) -> PartSums:
        return PartSums(
            self.numerators + other.numerators,
            self.columns + other.columns,
            self.rows + other.rows,
        )

    @classmethod
    def nothing(cls, features: int, rank: int) -> PartSums:
        """Before the first part."""
        return cls(np.zeros((features, rank)), np.zeros(N_SUMS), np.zeros(rank))


Answer = tuple[PartState, PartSums]


@dataclass(frozen=True, eq=False)
class Begin:
    """Take factors for the rows: given ones, or from profiles of the features."""

    target: int
    features: Sequence[Array]
    rows: Array | None = None

    def carry_out(self, part: RowPart, sweeper: Sweeper, state: PartState) -> Answer:
        problem = sweeper.problem
        found = memberships_for(problem, self.features) if self.rows is None else None
        rows = self.rows[part.rows] if found is None and self.rows is not None else found
        assert rows is not None
        plans = tuple((one.log_scaling, one.scaling, one.shift) for one in cold_state(problem))
        sums = PartSums.nothing(0, rows.shape[1])
        answer = PartSums(sums.numerators, sums.columns, rows.sum(axis=0))
        return PartState(plans, {self.target: rows}), answer


@dataclass(frozen=True, eq=False)
class Sweep:
    """One sweep of the plans for some factors; with a target also the plain step from them.

    Attributes
    ----------
    source, target : int
        Factors of the rows, and of those after the step; no target: no step.
    features : sequence of ndarray
    live : tuple of int
        Factors of rows that will be asked for again.
    weighted : tuple of ndarray, optional
        By which the factors of the rows are divided and multiplied before they are used.
    """

    source: int
    target: int | None
    features: Sequence[Array]
    live: tuple[int, ...]
    weighted: tuple[Array, Array] | None = None

    def carry_out(self, part: RowPart, sweeper: Sweeper, state: PartState) -> Answer:
        rows = state.rows[self.source]
        if self.weighted is not None:
            rows = share_of(rows, self.weighted[0])
            rows *= self.weighted[1]
        factors = [rows, *self.features]
        states = [
            ModeState(log_v.copy(), v.copy(), shift.copy(), np.zeros((len(shift), N_SUMS)))
            for log_v, v, shift in state.transport
        ]
        stacked = stack_factors(factors, sweeper.problem.settings.dtype)
        found = sweeper.sweep(states, stacked, gather=self.target is not None)
        plans = tuple((one.log_scaling, one.scaling, one.shift) for one in states)
        after = PartState(plans, {**state.rows, self.source: rows})
        numerators = np.zeros((0, rows.shape[1]))
        if found is not None and self.target is not None:
            step = rows * found[0] / len(factors)
            numerators = np.concatenate(found[1:])
            after = after.with_rows((*self.live, self.source), self.target, step)
        return after, PartSums(numerators, sweeper.sums(states), rows.sum(axis=0))


@dataclass(frozen=True, eq=False)
class CarryOn:
    """Carry the step of the rows on with momentum; answers with the sums to normalize it by."""

    step: int
    earlier: int
    momentum: float
    target: int
    live: tuple[int, ...]

    def carry_out(self, part: RowPart, sweeper: Sweeper, state: PartState) -> Answer:
        rows = carry_on(state.rows[self.step], state.rows[self.earlier], self.momentum)
        sums = PartSums.nothing(0, rows.shape[1])
        answer = PartSums(sums.numerators, sums.columns, rows.sum(axis=0))
        return state.with_rows(self.live, self.target, rows), answer


Order = Begin | Sweep | CarryOn
