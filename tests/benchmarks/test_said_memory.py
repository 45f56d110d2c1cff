"""The estimate of memory against real workers, through the dashboard's path."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.memory import CASES, RESULT, TOLERANCE, measure_fit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as on Linux")


def test_all_recorded_fits_took_what_they_were_said_to() -> None:
    rows = json.loads(RESULT.read_text())["fits"]
    assert [row["case"] for row in rows] == [case.title for case in CASES] and len(rows) == 30
    for row in rows:
        assert abs(row["said_mb"] / row["took_mb"] - 1) <= TOLERANCE, row


@pytest.mark.slow
def test_a_worker_takes_what_it_is_said_to(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.shape == (3_000, 60, 40))
    assert abs(measure_fit(case, tmp_path)["ratio"] - 1) <= TOLERANCE


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_thirty_workers_take_what_they_are_said_to(case, tmp_path: Path) -> None:
    assert abs(measure_fit(case, tmp_path)["ratio"] - 1) <= TOLERANCE
