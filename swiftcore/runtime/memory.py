"""How much memory can be had, also inside a container."""

from __future__ import annotations

from pathlib import Path

import psutil

from swiftcore.errors import NotEnoughMemory, refuse

SPARE = 0.9  # share of the free memory that a computation may take
GIGABYTE = 1e9
# Limit and use of a control group, in its second and in its first form.
CONTROL_GROUPS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def available_memory(control_groups: Path = Path("/sys/fs/cgroup")) -> float:
    """Bytes that can be had without swapping, within the limit of a container if there is one."""
    free = float(psutil.virtual_memory().available)
    for limit_name, used_name in CONTROL_GROUPS:
        try:
            limit = int((control_groups / limit_name).read_text())
            used = int((control_groups / used_name).read_text())
        except (OSError, ValueError):  # no such file, or no limit ("max")
            continue
        free = min(free, float(max(0, limit - used)))
    return free


def refuse_square(size: int, where: str) -> None:
    """Raise :class:`NotEnoughMemory` if a full matrix of this size would not fit."""
    needed, free = 8.0 * size * size, available_memory()
    if needed > SPARE * free:
        raise refuse(
            "memory-cost",
            "The cost matrix does not fit into memory",
            where,
            f"{needed / GIGABYTE:.1f} GB needed, {free / GIGABYTE:.1f} GB free",
            "Use no cost for this mode (None; --row-cost none), or fewer rows.",
            kind=NotEnoughMemory,
        )
