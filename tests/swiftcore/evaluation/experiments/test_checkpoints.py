from __future__ import annotations

import json
from pathlib import Path

import pytest

from swiftcore.evaluation.experiments.checkpoints import (
    CheckpointFolder,
    Stopped,
    Task,
    compute_checkpoints,
)
from swiftcore.evaluation.experiments.result import ExperimentProgress


def square(number: int, folder: str = "") -> dict[str, int]:
    if folder:
        with (Path(folder) / f"{number}.called").open("a") as file:
            file.write("x")
    return {"value": number * number}


def tasks(count: int, folder: Path | None = None) -> list[Task]:
    called = str(folder) if folder else ""
    return [Task(f"key{n}", f"part {n}", (n, called)) for n in range(count)]


def calls(folder: Path) -> int:
    return sum(len(path.read_text()) for path in folder.glob("*.called"))


def test_parts_come_back_in_order_and_progress_counts_them() -> None:
    seen: list[ExperimentProgress] = []
    found = compute_checkpoints(tasks(5), square, progress=lambda at: seen.append(at))
    assert [part["value"] for part in found] == [0, 1, 4, 9, 16]
    assert [(at.done, at.total) for at in seen] == [(n, 5) for n in range(1, 6)]
    assert seen[-1].seconds_left == 0 and seen[0].what == "part 0"


def test_two_processes_give_the_same(tmp_path: Path) -> None:
    alone = compute_checkpoints(tasks(6), square)
    assert compute_checkpoints(tasks(6), square, tmp_path, jobs=2) == alone


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    for _ in range(2):
        compute_checkpoints(tasks(4, tmp_path), square, tmp_path / "parts")
    compute_checkpoints([*tasks(4, tmp_path), *tasks(5, tmp_path)], square, tmp_path / "parts")
    assert calls(tmp_path) == 5


def test_a_stop_keeps_what_is_done_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with pytest.raises(Stopped) as caught:
        compute_checkpoints(
            tasks(6, tmp_path), square, tmp_path / "p", progress=lambda at: at.done == 2
        )
    assert "2 of 6 parts" in str(caught.value)
    assert calls(tmp_path) == 2
    seen: list[int] = []
    found = compute_checkpoints(
        tasks(6, tmp_path), square, tmp_path / "p", progress=lambda at: seen.append(at.done)
    )
    assert seen == [3, 4, 5, 6] and calls(tmp_path) == 6
    assert [part["value"] for part in found] == [n * n for n in range(6)]


def test_a_stop_after_the_last_part_is_no_stop(tmp_path: Path) -> None:
    assert len(compute_checkpoints(tasks(2), square, progress=lambda at: at.done == 2)) == 2


@pytest.mark.parametrize("place", range(0, 90, 7))
def test_a_damaged_part_is_computed_again(tmp_path: Path, place: int) -> None:
    compute_checkpoints(tasks(1, tmp_path), square, tmp_path)
    path = tmp_path / "key0.json"
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 0x11
    path.write_bytes(content)
    assert CheckpointFolder(tmp_path).get("key0") is None
    assert compute_checkpoints(tasks(1, tmp_path), square, tmp_path) == [{"value": 0}]


def test_a_part_under_another_name_is_not_taken(tmp_path: Path) -> None:
    store = CheckpointFolder(tmp_path)
    store.put("one", {"value": 1})
    (tmp_path / "two.json").write_bytes((tmp_path / "one.json").read_bytes())
    assert store.get("one") == {"value": 1} and store.get("two") is None
    assert json.loads((tmp_path / "one.json").read_text())["part"] == {"value": 1}
