"""Long experiments in small parts: each is kept when it is done and never computed twice."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.process_executor import TerminatedWorkerError

from swiftcore.cluster.independent_parts import helpers
from swiftcore.errors import SwiftError, refuse
from swiftcore.evaluation.experiments.result import ExperimentCallback, ExperimentProgress
from swiftcore.runtime.atomic_file import write_atomic

logger = logging.getLogger(__name__)
Checkpoint = dict[str, Any]
FAILED = "failed"  # under this name a part holds the reason why there is no result
KILLED = "Its process was ended from outside, as systems do when the memory runs out."
LOST = {FAILED: "It took down every worker that tried it, perhaps because the memory ran out."}


class Stopped(SwiftError):
    """An experiment ended on request; what was finished is kept."""


@dataclass(frozen=True, eq=False)
class Task:
    """One part to compute.

    Attributes
    ----------
    key : str
        Digest of all the part depends on; its file's name.
    words : str
        For the progress line.
    arguments : tuple
        Of the function that computes it.
    """

    key: str
    words: str
    arguments: tuple[Any, ...]


class CheckpointFolder:
    """Finished parts on disk, one JSON file each, sealed with a digest; no folder, no memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> Checkpoint | None:
        """The part, or None if it was never finished or its file is damaged."""
        if self.folder is None:
            return None
        try:
            stored = json.loads((self.folder / f"{key}.json").read_bytes())
            part: Checkpoint = stored["part"]
            return part if stored["seal"] == _seal(key, part) else None
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, key: str, part: Checkpoint) -> None:
        """Keep a part; it is there whole or not at all."""
        if self.folder is not None:
            text = json.dumps({"seal": _seal(key, part), "part": part})
            write_atomic(self.folder / f"{key}.json", text.encode())


def _seal(key: str, part: Checkpoint) -> str:
    text = json.dumps(part, sort_keys=True)
    return hashlib.sha256(f"{key} {text}".encode()).hexdigest()


def compute_checkpoints(
    tasks: Sequence[Task],
    compute: Callable[..., Checkpoint],
    folder: Path | None = None,
    jobs: int = 1,
    progress: ExperimentCallback | None = None,
) -> list[Checkpoint]:
    """``[compute(*task.arguments) for task in tasks]``, leaving out what is done already.

    No part takes the others with it: where ``compute`` raises, or the system ends its process,
    the part holds the reason under :data:`FAILED` instead of a result, and is tried again the
    next time.

    Parameters
    ----------
    compute : callable
        Returns plain values; must be importable when ``jobs`` is not 1.
    folder : Path, optional
        Where finished parts are kept and looked for.
    jobs : int
        Processes, as in joblib; 1 computes in this one. Within
        :func:`swiftcore.cluster.independent_parts.experiments_on` all workers of the cluster.
    progress : callable, optional
        Called after every part; when it returns True, :class:`Stopped` is raised.
    """
    store, began = CheckpointFolder(folder), time.perf_counter()
    found = {task.key: store.get(task.key) for task in tasks}
    missing = list({task.key: task for task in tasks if found[task.key] is None}.values())
    total = len(found)
    done = total - len(missing)
    for new, (task, part) in enumerate(_computed(missing, compute, jobs), start=1):
        if FAILED not in part:
            store.put(task.key, part)
        found[task.key] = part
        seconds = time.perf_counter() - began
        left = seconds / new * (len(missing) - new)
        stands = ExperimentProgress(
            done + new, total, task.words, seconds, left, part.get(FAILED, "")
        )
        if progress is not None and progress(stands) and new < len(missing):
            raise refuse(
                "stopped",
                "The experiment was stopped",
                "experiment",
                f"{done + new} of {total} parts done",
                "Start it again: it goes on where it was stopped.",
                kind=Stopped,
            )
    return [kept for task in tasks if (kept := found[task.key]) is not None]


def _computed(
    tasks: Sequence[Task], compute: Callable[..., Checkpoint], jobs: int
) -> Iterator[tuple[Task, Checkpoint]]:
    if (team := helpers()) is not None:
        calls = {number: (compute, *task.arguments) for number, task in enumerate(tasks)}
        yield from ((tasks[number], part) for number, part in team.run(attempt, calls, LOST))
        return
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, attempt(compute, *task.arguments)
        return
    waiting = dict(enumerate(tasks))
    while waiting:
        try:
            for number, part in _side_by_side(dict(waiting), compute, jobs):
                yield waiting.pop(number), part
        except TerminatedWorkerError:  # one of those that ran: each once more, by itself
            for number in list(waiting)[: effective_n_jobs(jobs)]:
                task = waiting.pop(number)
                yield task, _alone(task, compute)


def _side_by_side(
    tasks: Mapping[int, Task], compute: Callable[..., Checkpoint], jobs: int
) -> Iterator[tuple[int, Checkpoint]]:
    run = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    calls = (delayed(_numbered)(number, compute, task.arguments) for number, task in tasks.items())
    found: Iterator[tuple[int, Checkpoint]] = run(calls)
    return found


def _alone(task: Task, compute: Callable[..., Checkpoint]) -> Checkpoint:
    """One part in a process with nothing beside it."""
    try:  # with n_jobs=1 it would be this process
        [part] = Parallel(n_jobs=2)([delayed(attempt)(compute, *task.arguments)])
    except TerminatedWorkerError:
        part = {FAILED: KILLED}
    found: Checkpoint = part
    return found


def team_size(jobs: int) -> int:
    """How many parts are computed at once."""
    team = helpers()
    return int(effective_n_jobs(jobs)) if team is None else team.count


def _numbered(
    number: int, compute: Callable[..., Checkpoint], arguments: tuple[Any, ...]
) -> tuple[int, Checkpoint]:
    return number, attempt(compute, *arguments)


def attempt(compute: Callable[..., Checkpoint], *arguments: Any) -> Checkpoint:
    """What ``compute`` returns, or the reason why it does not, whatever it raised."""
    began = time.perf_counter()
    try:
        return compute(*arguments)
    except Exception as error:
        logger.info("a part of an experiment failed", exc_info=True)
        return {FAILED: _reason(error), "seconds": time.perf_counter() - began}


def _reason(error: Exception) -> str:
    if isinstance(error, SwiftError):
        return " ".join(str(problem) for problem in error.problems)
    return f"{type(error).__name__}: {error}"[:300]
