"""The clock of the whole table: it must see parts that were computed twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import whole_table

# Writes parts one by one; the first run is killed while it waits, the second goes to the end.
CHILD = """
import pathlib, sys, time
parts, keeps = pathlib.Path(sys.argv[1]) / "parts", sys.argv[2] == "keeps"
resumed = parts.exists()
parts.mkdir(parents=True, exist_ok=True)
for number in range(6):
    path = parts / f"{number}.json"
    if number == 3 and not resumed:
        time.sleep(60)
    if not (keeps and path.exists()):
        path.write_text("{}")
"""


@pytest.mark.parametrize(("habit", "again"), [("keeps", 0), ("forgets", 3)])
def test_parts_before_the_kill_are_followed(
    tmp_path: Path, habit: str, again: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_table, "PARTS_BEFORE_THE_KILL", 3)
    command = [sys.executable, "-c", CHILD, str(tmp_path), habit]
    found = whole_table.killed_and_resumed(command, tmp_path, bar=200.0)
    assert found["parts"] == 6
    assert found["finished_before_the_kill"] == 3
    assert found["of_these_computed_again"] == again
    assert found["share_of_bar"] == pytest.approx(found["seconds"] / 200, abs=1e-3)
