"""How much memory can be had, also inside a container, and the words for too little of it."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from swiftcore.errors import InvalidSettings, NotEnoughMemory, refuse

SPARE = 0.9  # share of the free memory that a computation may plan to take
LIMIT_SETTING = "SWIFT_MEMORY_MB"  # the most that one computation may take, if set
MEGABYTE, GIGABYTE = 1e6, 1e9
# Of a control group in its second and in its first form: limit, use, and what of the use are
# copies of files that the kernel drops when memory is needed.
CONTROL_GROUPS = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def available_memory(system: Path = Path("/")) -> float:
    """Bytes that can be had without swapping, within the limits of all groups we belong to.

    Parameters
    ----------
    system : Path
        Where ``proc`` and ``sys`` are looked for.
    """
    free = float(psutil.virtual_memory().available)
    return min((free, *_group_rooms(system)))


def usable_memory(ending: Iterable[int] = (), share: float = SPARE) -> float:
    """Bytes that a computation may plan with, once some processes have ended.

    Parameters
    ----------
    ending : iterable of int
        Processes that will be gone by then; what they hold counts as free.
    share : float
        Of what can be had; the rest is left to everything else that runs here.
    """
    return share * min(_limit(), available_memory() + held_memory(ending))


def held_memory(pids: Iterable[int]) -> float:
    """Bytes that come free when these processes end; one that is gone holds nothing."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            info = psutil.Process(pid).memory_info()
            total += info.rss - getattr(
                info, "shared", 0
            )  # programs are shared; Linux says how much
    return total


def family(pid: int) -> list[int]:
    """A process and all that it started, as far as they live and have a memory of their own.

    Between its fork and the start of its program, a child is its parent's memory once more; it
    still has the parent's command line then.
    """
    try:
        parent = psutil.Process(pid)
        own, children = parent.cmdline(), parent.children(recursive=True)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []
    found = [pid]
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if child.cmdline() != own:
                found.append(child.pid)
    return found


def not_enough_memory(where: str, needed: float, had: float, cure: str) -> NotEnoughMemory:
    """The refusal for what would not fit; every lack of memory is told in these words."""
    return refuse(
        "memory",
        "There is not enough memory",
        where,
        f"{in_units(needed)} needed, {in_units(max(0.0, had))} to be had",
        cure,
        kind=NotEnoughMemory,
    )


def in_units(amount: float) -> str:
    """Bytes for a person, no finer than they are known: 340 MB, 2.1 GB."""
    if amount >= GIGABYTE:
        return f"{amount / GIGABYTE:.1f} GB"
    return f"{round(amount / MEGABYTE, -1):.0f} MB"


def oom_kills(system: Path = Path("/")) -> int:
    """How many processes the kernel has ended for lack of memory since it started."""
    try:
        lines = (system / "proc/vmstat").read_text().splitlines()
    except OSError:  # not Linux
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def _limit() -> float:
    """What the person who runs this machine allows one computation."""
    text = os.environ.get(LIMIT_SETTING, "")
    if text and not text.isdecimal():
        raise refuse(
            "memory-setting",
            "The limit of memory is not a whole number of megabytes",
            LIMIT_SETTING,
            repr(text)[:40],
            "Give a number such as 4000, or leave it out.",
            kind=InvalidSettings,
        )
    return int(text) * MEGABYTE if text else math.inf


def _group_rooms(system: Path) -> Iterator[float]:
    """What is left in each control group of ours that has a limit, and in those around it."""
    try:
        lines = (system / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return
    mount = system / "sys/fs/cgroup"
    for _, controllers, path in (line.split(":", 2) for line in lines):
        form = "memory" if "memory" in controllers.split(",") else controllers
        if form not in CONTROL_GROUPS:
            continue
        group = mount / form / path.lstrip("/")
        for around in (group, *group.parents):
            yield from _room(around, *CONTROL_GROUPS[form])
            if around == mount / form:
                break


def _room(group: Path, limit_name: str, used_name: str, files_name: str) -> Iterator[float]:
    try:
        limit = int((group / limit_name).read_text())
        used = int((group / used_name).read_text())
        numbers = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return
    yield float(max(0, limit - used + int(numbers.get(files_name, 0))))
