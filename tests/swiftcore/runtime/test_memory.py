"""The memory that can be had, and refusals before it is taken."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

import swiftcore.runtime.memory as free_memory
from swiftcore.cost import build_costs
from swiftcore.errors import NotEnoughMemory
from swiftcore.tensor import SparseTensor


@pytest.mark.parametrize(
    ("limit", "used"),
    [
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ],
)
def test_a_container_s_limit_counts(tmp_path: Path, limit: str, used: str) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / limit).write_text("5000000\n")
    (tmp_path / used).write_text("2000000\n")
    assert free_memory.available_memory(tmp_path) == 3e6


def test_no_limit_leaves_the_machine_s(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1\n")
    found = free_memory.available_memory(tmp_path)
    assert found == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def test_a_cost_that_does_not_fit_is_refused_before_it_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(free_memory, "available_memory", lambda: 1e6)
    rows = SparseTensor.from_coordinates([[999, 0, 0], [0, 1, 1]], [1, 1])
    with pytest.raises(NotEnoughMemory, match=r"mode 1, size 1000.*--row-cost none"):
        build_costs(rows, reference=rows)
