"""Count (person, feature, feature, ...) into drafts on the disk, each small enough for memory.

How many cells people have is known only once they are counted: a patient with 90 diagnoses and 90
medications has 8,100. DuckDB says beforehand how many they can be at most, and so many people are
counted together as surely fit.

Statements are put together of our own words and numbers: `sql` takes nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.out_of_core.database import BASE_MEMORY, Database
from swiftcore.data.sql import Sql, joined, sql
from swiftcore.errors import NotEnoughMemory, refuse
from swiftcore.runtime.memory import not_enough_memory

DRAFT_SHARE = 0.2  # of the memory above that of the program itself
BYTES_PER_CELL = 160  # of a draft in hand, with the copies that are made of it
EXACT = 2**53  # whole numbers beyond it are not all floats


@dataclass(frozen=True)
class Draft:
    """The cells of some people, on the disk: places (person, features) and amounts.

    Attributes
    ----------
    shard : int
        To which shard these people belong; a shard may need several drafts.
    first, until : int
        The number of the first of these people, and of the first who is not among them.
    """

    shard: int
    first: int
    until: int
    folder: Path

    @property
    def places(self) -> Path:
        return self.folder / f"places_{self.first}.npy"

    @property
    def amounts(self) -> Path:
        return self.folder / f"amounts_{self.first}.npy"

    def read(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return np.load(self.places, mmap_mode="r"), np.load(self.amounts, mmap_mode="r")


def count_cells(
    database: Database,
    sizes: Sequence[int],
    n_people: int,
    step: int,
    memory: int,
    folder: Path,
) -> Iterator[Draft]:
    """Join and count the events of some people at a time; every draft is sorted.

    Parameters
    ----------
    sizes : sequence of int
        How many features every table of events has.
    step : int
        People of a shard.
    memory : int
        Bytes that this process should keep to.

    Raises
    ------
    InvalidData
        When a count is beyond what a number can hold exactly.
    NotEnoughMemory
        When the cells of one person alone are too many.
    """
    axes = range(1, len(sizes) + 1)
    room = int((memory - BASE_MEMORY) * DRAFT_SHARE) // BYTES_PER_CELL
    cells = _cells(axes)
    for shard, first in enumerate(range(0, n_people, step)):
        until = min(first + step, n_people)
        most = np.minimum(_most_cells(database, axes, first, until), math.prod(sizes))
        if (largest := float(most.max())) > room:
            raise _too_large(largest, memory)
        for begin, end in _together(most, room):
            draft = Draft(shard, first + begin, first + end, folder)
            batches = list(database.batches(cells, {"first": draft.first, "until": draft.until}))
            if batches:
                _save(batches, draft)
                yield draft


def _most_cells(database: Database, axes: range, first: int, until: int) -> NDArray[np.float64]:
    """Set the events of some people aside, each feature once a visit; no one has more cells."""
    for axis in axes:
        database.run(
            sql(
                "CREATE OR REPLACE TEMP TABLE step_{axis} AS SELECT person, visit, f AS f{axis}, "
                "sum(amount) AS n{axis} FROM events_{axis} "
                "WHERE person >= {first} AND person < {until} GROUP BY ALL",
                axis=axis,
                first=first,
                until=until,
            )
        )
    counts = [
        sql(
            "(SELECT person, visit, count(*)::DOUBLE AS n{axis} FROM step_{axis} GROUP BY ALL)",
            axis=axis,
        )
        for axis in axes
    ]
    statement = sql(
        "SELECT person, sum({product}) FROM {tables} GROUP BY person",
        product=joined(" * ", (sql("n{axis}", axis=axis) for axis in axes)),
        tables=_same_visits(counts),
    )
    most = np.zeros(until - first)
    for batch in database.batches(statement):
        most[batch.column(0).to_numpy() - first] = batch.column(1).to_numpy()
    return most


def _together(most: NDArray[np.float64], room: int) -> Iterator[tuple[int, int]]:
    """Cut people into runs whose cells fit; nobody alone has too many."""
    ends = np.cumsum(most)
    begin, done = 0, 0.0
    while begin < len(most):
        end = int(np.searchsorted(ends, done + room, side="right"))
        yield begin, end
        begin, done = end, float(ends[end - 1])


def _save(batches: Sequence[Any], draft: Draft) -> None:
    """Write the cells of some people, which come sorted."""
    *places, amounts = (
        np.concatenate([batch.column(place).to_numpy() for batch in batches])
        for place in range(batches[0].num_columns)
    )
    if amounts.max(initial=0) >= EXACT:
        raise refuse(
            "value-sum",
            "Values at one cell add up beyond what is counted exactly",
            "all modes",
            f"{amounts.max():.3g}",
            "Divide all values by a common unit, or build a .npz.",
        )
    np.save(draft.places, np.column_stack(places))
    np.save(draft.amounts, amounts)


def _too_large(cells: float, memory: int) -> NotEnoughMemory:
    needed = BASE_MEMORY + cells * BYTES_PER_CELL / DRAFT_SHARE
    return not_enough_memory(
        f"one patient with up to {cells:,.0f} combinations of features",
        math.ceil(needed / 1e8) * 1e8,  # as it is shown, it is enough
        memory,
        "Raise --memory, or join per visit.",
    )


def _cells(axes: range) -> Sql:
    """The cells of some people: what they have on the same visit, counted, in order."""
    tables = [
        sql(
            "(SELECT * FROM step_{axis} WHERE person >= $first AND person < $until)",
            axis=axis,
        )
        for axis in axes
    ]
    return sql(
        "SELECT person, {features}, sum({product})::DOUBLE AS amount FROM {tables} "
        "GROUP BY ALL ORDER BY person, {features}",
        features=joined(", ", (sql("f{axis}", axis=axis) for axis in axes)),
        product=joined(" * ", (sql("n{axis}", axis=axis) for axis in axes)),
        tables=_same_visits(tables),
    )


def _same_visits(tables: Sequence[Sql]) -> Sql:
    first, *others = tables
    return joined(
        " ", [first, *(sql("JOIN {one} USING (person, visit)", one=one) for one in others)]
    )
