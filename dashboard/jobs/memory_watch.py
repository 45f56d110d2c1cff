"""Ends a worker that takes more memory than there is, before the kernel does, and says so.

A limit of the kernel on the address space would not do: a worker reserves a gigabyte that it
never touches, and each child would have a limit of its own. A control group would, but only for
users who may make one. So a thread looks at what the worker and its children hold, and at what
is left, many times a second; compiled loops and array operations let it run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable

from swiftcore.errors import NotEnoughMemory, refuse
from swiftcore.evaluation.methods.memory_need import MemoryNeed
from swiftcore.runtime.memory import (
    family,
    held_memory,
    in_units,
    not_enough_memory,
    usable_memory,
)

LOOK_EVERY = 0.05  # seconds
CHILDREN_EVERY = 20  # looks between two looks for children, which takes longer
ALMOST_ALL = 0.95  # share of what can be had at which it is time to end
LESS = 0.75  # of what was expected: what a person is advised to ask for, if that was too much


def took_too_much(need: MemoryNeed, taken: float, had: float) -> NotEnoughMemory:
    """The end of a computation that took more than there was: needed, had, what to do."""
    way_out = need.ways_out(min(had, LESS * need.bytes))
    return not_enough_memory(need.what, max(taken, need.bytes), had, way_out)


def ended_by_kernel(need: MemoryNeed) -> NotEnoughMemory:
    """The end of a computation of which the kernel ended a process when the memory ran out."""
    had = usable_memory()
    return refuse(
        "memory-killed",
        "The memory ran out and the system ended a process of the computation",
        need.what,
        f"about {in_units(need.bytes)} needed, {in_units(had)} to be had now",
        need.ways_out(min(had, LESS * need.bytes)),
        kind=NotEnoughMemory,
    )


def watch_memory(need: MemoryNeed, last_words: Callable[[str], None]) -> None:
    """From now on, end this process and its children when they are about to take too much.

    Parameters
    ----------
    last_words : callable
        Gets the sentence for the person, before the end.
    """

    def watch() -> None:
        look, pids = 0, [os.getpid()]
        while True:
            if look % CHILDREN_EVERY == 0:
                pids = family(os.getpid())
            look += 1
            held = held_memory(pids)
            had = usable_memory(pids, ALMOST_ALL)
            if held > had:
                with contextlib.suppress(OSError):  # a full disk must not keep it alive
                    last_words(str(took_too_much(need, held, had)))
                _end(pids)
            time.sleep(LOOK_EVERY)

    threading.Thread(target=watch, name="memory watch", daemon=True).start()


def _end(pids: list[int]) -> None:
    """Children first: they hold memory too."""
    for pid in pids[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os._exit(1)
