"""One folder per job: what was asked, which process computes it, how far it is, how it ended.

A result in the store is the only proof of success and the note of an end the only proof of
another end. Without either, a job runs if its process lives, and was interrupted if not. What
it has kept of its work lies apart, so that the next attempt can go on from there.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from dashboard.store.cards import RunState
from dashboard.store.request import Request
from dashboard.store.temporary import remove, temporary_place
from dashboard.store.verified_folder import write_private
from dashboard.text.wording import count_of
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.swift.checkpoint import finished_fits, kept_iteration

MAX_ATTEMPTS = 2  # in a row that get no further
FIT_STATE = "fit.npz"  # among what a job keeps: the state of its fit
NOTHING = [0, 0]  # reached by a job that has kept nothing
SAME_START = 10.0  # seconds by which two readings of one process's start may differ
PARKED = (
    "Its process was ended from outside twice without getting any further, perhaps because "
    "the memory ran out. "
    "Delete this run to try again, or ask for less: fewer rows, a smaller rank."
)


@dataclass(frozen=True)
class JobState:
    """How a job stands, without a look at the results."""

    state: RunState
    message: str
    ended: float | None


class Job:
    """The files of one job.

    Parameters
    ----------
    folder : Path
        ``jobs/<run id>`` of the store.
    temporary : Path
        Where a new folder is drafted.
    """

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.folder = folder
        self.temporary = temporary
        self.parts = folder.parents[1] / "parts" / folder.name
        self.log = folder / "log.txt"

    @property
    def exists(self) -> bool:
        return (self.folder / "job.json").is_file()

    def create(self, request: Request, created: float, attempt: int, cluster: str = "") -> None:
        """A new folder by one rename; until the worker is up, the caller stands for it.

        The cluster changes no bit of the answer, so it is no part of the request.
        """
        about = {
            "request": request.plain(),
            "created": created,
            "attempt": attempt,
            "reached": self._reached(),
            "cluster": cluster,
        }
        with temporary_place(self.temporary) as draft:
            draft.mkdir(mode=0o700)
            write_private(draft / "job.json", json.dumps(about).encode())
            write_private(draft / "process.json", json.dumps(_identity(os.getpid())).encode())
            os.rename(draft, self.folder)

    def about(self) -> dict[str, Any]:
        """Request, time, which attempt and what was kept by then, as :meth:`create` wrote it."""
        return _read(self.folder / "job.json")

    def note_process(self, pid: int) -> None:
        """Say who computes; a process that is already gone is noted as such."""
        self._place("process.json", _identity(pid))

    def note_progress(self, progress: Mapping[str, Any]) -> None:
        """Only the worker writes this, often; a crash may lose it."""
        draft = self.folder / "progress.tmp"
        draft.write_text(json.dumps(progress))
        os.replace(draft, self.folder / "progress.json")

    def note_end(self, state: RunState, message: str) -> None:
        """How it ended, for good; only a new attempt changes it."""
        self._place("end.json", {"state": state.name, "message": message, "ended": time.time()})

    def ask_to_stop(self) -> None:
        """Leave the flag that the worker looks for."""
        (self.folder / "cancel").touch(mode=0o600)

    def asked_to_stop(self) -> bool:
        """Whether somebody wants it to end."""
        return (self.folder / "cancel").exists()

    def progress(self) -> dict[str, Any] | None:
        """What :meth:`note_progress` last wrote."""
        return _read(self.folder / "progress.json") or None

    def pid(self) -> int | None:
        """The process of the job, if it lives."""
        noted = _read(self.folder / "process.json")
        return int(noted["pid"]) if noted and _lives(noted) else None

    def state(self) -> JobState:
        """Never a guess: an end that was noted, else whether the process lives."""
        end = _read(self.folder / "end.json")
        if not end and self.pid() is not None:
            running = (_read(self.folder / "progress.json") or {}).get("running", False)
            state = RunState.RUNNING if running else RunState.QUEUED
            return JobState(state, state.value, None)
        end = end or _read(self.folder / "end.json")  # it may have ended while we looked
        if end:
            return JobState(RunState[end["state"]], str(end["message"]), float(end["ended"]))
        if self.asked_to_stop():
            return JobState(RunState.CANCELLED, RunState.CANCELLED.value, self._last_sign())
        if self.fruitless >= MAX_ATTEMPTS:
            return JobState(RunState.FAILED, PARKED, self._last_sign())
        message = f"{RunState.INTERRUPTED.value} {self._way_on()}"
        return JobState(RunState.INTERRUPTED, message, self._last_sign())

    @property
    def fruitless(self) -> int:
        """Attempts in a row, the last included, that have not added to what is kept."""
        about = self.about()
        further = self._reached() != about.get("reached", NOTHING)
        return 0 if further else int(about.get("attempt", 1))

    @property
    def parked(self) -> bool:
        """Whether it took its worker down too often to be tried again."""
        return self.state().message == PARKED

    def _kept(self) -> list[Path]:
        return list(self.parts.glob("[!.]*"))  # drafts begin with a dot

    def _reached(self) -> list[int]:
        """Changes whenever something is kept: how many files, and when the newest was written."""
        times = []
        for path in self._kept():
            with contextlib.suppress(FileNotFoundError):  # deleted while we look
                times.append(path.stat().st_mtime_ns)
        return [len(times), max(times, default=0)]

    def _way_on(self) -> str:
        """From where the next attempt would go on, in words."""
        if iteration := kept_iteration(self.parts / FIT_STATE):
            return f"It can go on after iteration {iteration}."
        if fits := finished_fits(self.parts / FIT_STATE):
            return f"It can go on; done so far: {count_of(fits, 'fit')}."
        done = sum(path.name != FIT_STATE for path in self._kept())
        if done:
            return f"It can go on; done so far: {count_of(done, 'part')}."
        return "It can be started again."

    def _last_sign(self) -> float | None:
        times = [
            path.stat().st_mtime
            for name in ("progress.json", "process.json")
            if (path := self.folder / name).exists()
        ]
        return max(times, default=None)

    def _place(self, name: str, plain: Mapping[str, Any]) -> None:
        write_atomic(self.folder / name, json.dumps(plain).encode(), private=True)


def sweep_jobs(root: Path, temporary: Path, lock: AbstractContextManager[Any]) -> None:
    """Delete drafts of killed jobs, and what finished or deleted ones had kept.

    Under the lock nobody starts a job, which would be without a folder for a moment.
    """
    if not any(_abandoned(root, temporary)):
        return
    with contextlib.suppress(OSError), lock:  # a disk that is read-only keeps what it has
        for path in list(_abandoned(root, temporary)):
            if path.is_dir():
                remove(path, temporary)
            else:
                path.unlink(missing_ok=True)


def _abandoned(root: Path, temporary: Path) -> Iterator[Path]:
    for place in ("jobs", "parts"):
        for folder in (root / place).iterdir():
            job = Job(root / "jobs" / folder.name, temporary)
            drafts = list(folder.glob("*.tmp"))
            finished = not job.exists or (root / "runs" / folder.name).is_dir()
            useless = place == "parts" and finished
            if (drafts or useless) and job.pid() is None:
                yield from [folder] if useless else drafts


def _identity(pid: int) -> dict[str, Any]:
    """A process id alone may be given away again; with the start it is unique."""
    try:
        return {"pid": pid, "started": psutil.Process(pid).create_time()}
    except psutil.NoSuchProcess:
        return {"pid": pid, "started": 0.0}


def _lives(noted: Mapping[str, Any]) -> bool:
    try:
        process = psutil.Process(int(noted["pid"]))
        same = abs(process.create_time() - float(noted["started"])) < SAME_START
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # gone; or somebody else's by now
        return False


def _read(path: Path) -> dict[str, Any]:
    """A JSON object; empty while there is none."""
    try:
        plain = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return plain if isinstance(plain, dict) else {}
