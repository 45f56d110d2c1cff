"""What a computation took of the machine: time, processor and memory."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

KILOBYTE = 1 if sys.platform == "darwin" else 1024  # in which POSIX systems count the peak


@dataclass(frozen=True)
class Spent:
    """What a computation took.

    Attributes
    ----------
    seconds : float
        By the clock on the wall.
    cpu_seconds, peak_memory_bytes : float or None
        Of all cores, and the most memory that a process of it ever held; None where another
        process computed and did not say.
    workers : int
        Processes that computed.
    """

    seconds: float
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    workers: int = 1

    def by(self, workers: int | None) -> Spent:
        """The same, computed by other processes; None: by this one."""
        return self if workers is None else replace(self, workers=workers)

    def plain(self) -> dict[str, float | None]:
        """By name, as values that JSON can hold."""
        return {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
            "workers": self.workers,
        }


def stopwatch() -> Callable[[], Spent]:
    """Starts now; what it returns says what this process has spent since."""
    wall, cpu = time.perf_counter(), _cpu()

    def spent() -> Spent:
        return Spent(time.perf_counter() - wall, _cpu() - cpu, _peak())

    return spent


def _cpu() -> float:
    """Seconds of this process, its threads, and the processes it has waited for."""
    times = psutil.Process().cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def _peak() -> int:
    """The most memory that this program has ever held.

    Linux counts with ``ru_maxrss`` also what the process held before it became this program: that
    of whoever started it.
    """
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource  # POSIX only

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE
