"""Parts on this machine keep to the bytes they were given, however unevenly entries are spread."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from swiftcore.errors import NotEnoughMemory
from swiftcore.swift.parts.local_team import LocalTeam
from swiftcore.swift.parts.row_part import Begin, RowPart, Shared, Sweep
from swiftcore.transport.kernel import build_kernel
from swiftcore.transport.problem import TransportSettings

RANK, SIZES = 4, (40, 30)
ROWS, NEIGHBOURHOODS = 400, 8
PER_ROW = (2, 60, 60, 60, 60, 60, 60, 60)  # entries; the first part is no measure of the others
SETTINGS = TransportSettings(sharpness=2.0)


def part(number: int, per_row: int) -> RowPart:
    rng = np.random.default_rng(number)
    cells = np.sort([rng.permutation(np.prod(SIZES))[:per_row] for _ in range(ROWS)], axis=1)
    rows = np.repeat(np.arange(ROWS), per_row)
    places = np.column_stack([rows, *np.divmod(cells.ravel(), SIZES[1])]).astype(np.int32)
    starts = np.linspace(0, ROWS, NEIGHBOURHOODS + 1).astype(np.int64)
    return RowPart(number * ROWS, starts, places, np.ones(len(places)))


@pytest.fixture(scope="module")
def parts() -> list[RowPart]:
    return [part(number, per_row) for number, per_row in enumerate(PER_ROW)]


@pytest.fixture(scope="module")
def shared(parts: list[RowPart]) -> Shared:
    kernels = [build_kernel(1.0 - np.eye(size), SETTINGS.sharpness, "float32") for size in SIZES]
    mass = float(sum(len(one.values) for one in parts))
    return Shared(SETTINGS, 1.0, mass, SIZES, tuple(kernels), alike=True)  # type: ignore[arg-type]


def sweeps(parts: list[RowPart], shared: Shared, room: float, folder: Path) -> tuple[float, bytes]:
    """The most bytes taken by some sweeps, and the last answer."""
    rng = np.random.default_rng(0)
    features = [rng.dirichlet(np.ones(size), RANK).T for size in SIZES]
    tracemalloc.start()
    team = LocalTeam(parts, shared, RANK, threads=1, room=room, folder=folder)
    team.run(Begin(1, features))
    for number in (1, 2, 3):
        found = team.run(Sweep(number, number + 1, features, (1, 2, 3)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak), found.numerators.tobytes()


@pytest.mark.parametrize("share", [0.9, 0.7, 0.5])
def test_a_team_takes_no_more_than_its_room(
    parts: list[RowPart], shared: Shared, tmp_path: Path, share: float
) -> None:
    (tmp_path / "all").mkdir()
    everything, bits = sweeps(parts, shared, np.inf, tmp_path / "all")
    peak, same = sweeps(parts, shared, share * everything, tmp_path)
    assert same == bits
    assert 0.3 * share * everything < peak <= share * everything, peak / everything


def test_room_for_less_than_a_part_is_refused(
    parts: list[RowPart], shared: Shared, tmp_path: Path
) -> None:
    with pytest.raises(NotEnoughMemory, match="a part of the rows"):
        LocalTeam(parts, shared, RANK, threads=1, room=1e6, folder=tmp_path)
