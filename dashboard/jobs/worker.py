"""The process that computes one job: ``python -m dashboard.jobs.worker ROOT RUN_ID``.

It waits for its turn with few packages loaded, then computes, shows the result by one rename
and ends. Whatever ends it earlier, the store stays sound and tells what happened.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from dashboard.jobs.memory_watch import ended_by_kernel, took_too_much, watch_memory
from dashboard.jobs.progress_reporter import Cancelled, ProgressReporter
from dashboard.store.cards import RunState, is_id
from dashboard.store.job_state import Job
from dashboard.store.request import Request
from dashboard.text.disk import disk_words
from swiftcore.errors import SwiftError
from swiftcore.evaluation.methods.memory_need import MemoryNeed
from swiftcore.runtime.memory import held_memory, oom_kills, usable_memory

NICENESS = 5
WAIT = 0.3  # seconds between two looks at the queue
UNEXPECTED = "An unexpected fault ended it. The log file of the job tells more."


def main(arguments: list[str]) -> int:
    """Compute one job; returns 0 if it ended as it should."""
    root, run_id = Path(arguments[0]), arguments[1]
    if not is_id(run_id):
        return 2
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    os.umask(0o077)
    _step_back()
    job = Job(root / "jobs" / run_id, root / "temporary")
    job.note_process(os.getpid())
    sys.excepthook = _last_words(job)
    try:
        with _turn(root, job):
            _compute(root, job)
    except Cancelled:
        job.note_end(RunState.CANCELLED, RunState.CANCELLED.value)
    except SwiftError as error:
        job.note_end(RunState.FAILED, " ".join(str(problem) for problem in error.problems))
        return 1
    except OSError as error:
        traceback.print_exc()
        job.note_end(RunState.FAILED, disk_words(error))
        return 1
    return 0


def _compute(root: Path, job: Job) -> None:
    reporter = ProgressReporter(job)
    reporter.phase("Getting ready")
    # Late: tables take seconds and much memory to load, compiler and estimators more of both; a
    # waiting job spares them.
    from dashboard.jobs.need import need_of
    from dashboard.store.store import Store

    store, about = Store(root), job.about()
    request = Request.from_plain(about["request"])
    own = [os.getpid()]
    need = need_of(store, request, own)
    need.refuse_beyond(usable_memory(own))  # other programs may have taken it meanwhile
    watch_memory(need, partial(job.note_end, RunState.FAILED))
    from dashboard.jobs.compute import compute
    from dashboard.store.lineage import carry_reviews

    with _lack_of_memory_in_words(need):
        files = compute(store, request, reporter, str(about.get("cluster", "")))
    reporter.phase("Saving")
    if request.guidance:
        carry_reviews(store, request, files)
    store.publish_run(request, files, float(about["created"]), reporter.seconds)


@contextlib.contextmanager
def _lack_of_memory_in_words(need: MemoryNeed) -> Iterator[None]:
    """Turn what Python and its children say when memory runs out into numbers and a way out."""
    kills = oom_kills()
    try:
        yield
    except MemoryError as error:
        own = [os.getpid()]
        raise took_too_much(need, held_memory(own), usable_memory(own)) from error
    except BrokenExecutor as error:  # a child is gone
        if oom_kills() > kills:
            raise ended_by_kernel(need) from error
        raise


class _turn:
    """Holds the store's lock for heavy work; jobs get it in the order they were asked for."""

    def __init__(self, root: Path, job: Job) -> None:
        self._root, self._job = root, job
        self._lock = FileLock(root / "locks" / "heavy.lock", mode=0o600)

    def __enter__(self) -> None:
        while not self._job.asked_to_stop():
            with contextlib.suppress(Timeout):
                self._lock.acquire(timeout=0)
                if self._first():
                    return
                self._lock.release()
            time.sleep(WAIT)
        raise Cancelled

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _first(self) -> bool:
        mine = float(self._job.about()["created"])
        for path in (self._root / "jobs").iterdir():
            other = Job(path, self._job.temporary)
            earlier = float(other.about().get("created", mine)) < mine
            ended = (self._root / "runs" / path.name).is_dir()
            if earlier and not ended and other.state().state.active:
                return False
        return True


def _step_back() -> None:
    """The screen goes first, and if the memory runs out this process goes, not the server."""
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def _last_words(job: Job) -> Any:
    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """An error nobody foresaw: the trace goes to the log, a sentence to the person."""
        traceback.print_exception(kind, error, trace)
        job.note_end(RunState.FAILED, UNEXPECTED)

    return hook


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
