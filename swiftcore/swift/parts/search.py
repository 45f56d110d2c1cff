"""The whole way to the factors of rows in parts: the start, the loop, and back onto it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from swiftcore.progress import FitOutcome, ProgressCallback
from swiftcore.runtime.workers import Workers
from swiftcore.swift.engine import LoopState
from swiftcore.swift.factor_update import Factors
from swiftcore.swift.fit_file import FitState
from swiftcore.swift.loop import FitResult, alternate
from swiftcore.swift.parts.engine import PartsEngine
from swiftcore.swift.parts.parts_file import PartsFile
from swiftcore.swift.parts.row_part import RowPart, Shared, part_problem
from swiftcore.swift.search import Plan, Starts
from swiftcore.swift.some_rows import chosen_neighbourhoods
from swiftcore.transport.limits import NEIGHBOURHOODS_OF_A_PART
from swiftcore.transport.sweep import Sweeper


def find_start(
    parts: Sequence[RowPart], shared: Shared, plan: Plan, n_jobs: int | None
) -> tuple[Factors, bool]:
    """Where a fit sets out, and whether that start is of all rows."""
    count = sum(len(part.starts) - 1 for part in parts)
    chosen = chosen_neighbourhoods(count)
    some = _joined(parts, shared, chosen.tolist())
    with Workers(n_jobs) as workers:
        sweeper = Sweeper(part_problem(some, shared), workers)
        return Starts(sweeper, plan, None, FitState()).best(), len(chosen) == count


def _joined(parts: Sequence[RowPart], shared: Shared, chosen: Sequence[int]) -> RowPart:
    """Some neighbourhoods of all parts, as one part."""
    by_part: dict[int, list[int]] = {}
    for number in chosen:
        part, within = divmod(number, NEIGHBOURHOODS_OF_A_PART)
        by_part.setdefault(part, []).append(within)
    starts, places, values = [np.zeros(1, np.int64)], [], []
    for number, inside in by_part.items():
        piece = parts[number].neighbourhoods(shared, inside)
        moved = piece.places.copy()
        moved[:, 0] += starts[-1][-1].astype(np.int32)
        places.append(moved)
        values.append(piece.values)
        starts.append(piece.starts[1:] + starts[-1][-1])
    return RowPart(0, np.concatenate(starts), np.concatenate(places), np.concatenate(values))


def find_factors_of_parts(
    engine: PartsEngine,
    plan: Plan,
    start: Callable[[], tuple[Factors, bool]],
    callback: ProgressCallback | None,
    file: PartsFile | None,
) -> FitResult:
    """Fit all modes, from the state in the file if it has one.

    Parameters
    ----------
    start : callable
        Gives a start, and whether it is of all rows; see :func:`find_start`.
    """
    modes = range(engine.shared.n_modes)
    loop = None if file is None else file.read(engine)
    if loop is None:
        begin, of_all = start()
        loop = engine.begin(begin[1:], begin[0] if of_all else None)
    if file is None:
        return alternate(engine, loop, modes, plan.schedule, callback)

    def write_if_due(now: LoopState) -> None:
        if file.due:
            file.write(engine, now)

    result = alternate(engine, loop, modes, plan.schedule, callback, write_if_due)
    if result.outcome is not FitOutcome.CONVERGED:  # another fit may go on from here
        file.write(engine, result.state)
    return result
