"""Start, watch and stop computations; each runs in a process of its own that outlives us."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dashboard.jobs.estimate import Estimate, estimate
from dashboard.jobs.memory_watch import ended_by_kernel
from dashboard.jobs.need import need_of
from dashboard.store.cards import RunCard, RunState
from dashboard.store.job_state import FIT_STATE, Job
from dashboard.store.request import EXPERIMENTS, Request
from dashboard.store.results import LAST_STATE
from dashboard.store.store import Store
from dashboard.store.temporary import remove, sweep
from swiftcore.errors import InvalidSettings, SwiftError, refuse
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.runtime.memory import family, oom_kills, usable_memory

__all__ = [
    "Estimate",
    "active",
    "cancel",
    "check_fit",
    "check_memory",
    "estimate",
    "go_on",
    "start",
]

FURTHER = 4  # times as many iterations, when a fit goes on beyond its limit
PATIENCE = (1.0, 1.0)  # seconds from the flag to SIGTERM, and from SIGTERM to SIGKILL
CODE = Path(__file__).parents[2]


class NotStarted(SwiftError):
    """The system refused a process or a file; nothing was left behind."""


def start(store: Store, request: Request, cluster: str = "") -> str:
    """The run that answers the request: stored, under way, or started now.

    However many ask at the same time, it is computed once.

    Parameters
    ----------
    cluster : str
        Name of a configured cluster that computes it; empty: this machine.

    Returns
    -------
    str
        The run's id. After an interruption, a failure or a cancel it goes on from what it has
        kept, unless it took its process down twice without getting any further.

    Raises
    ------
    UnknownDataset, UnknownRun
        If the data set, or the fit it belongs to, is not in the store.
    InvalidData
        If the stored data were changed.
    NotStarted
        If the system gave no process or no room; nothing of it stays.
    NotEnoughMemory
        If it would take more memory than there will be when its turn comes.
    """
    run_id = request.key()
    store.usable_card(request.dataset)
    check_fit(store, request)
    with store.lock():
        attempt = _next_attempt(store, run_id)
        if attempt:
            runs = store.runs()
            check_memory(store, request, runs)
            job = store.job(run_id)
            for earlier in (job.folder, store.root / "runs" / run_id):  # ended, and damaged
                remove(earlier, store.temporary)
            newest = max((card.created for card in runs), default=0.0)
            try:
                job.create(request, max(time.time(), newest + 1e-3), attempt, cluster)
                _launch(store, job)
            except OSError as error:
                remove(job.folder, store.temporary)
                raise _not_started(run_id, error) from error
    return run_id


def go_on(store: Store, run_id: str) -> str:
    """Go on with a finished fit that ended at its limit: the same fit with a larger one.

    It begins in the state in which the other ended, and comes to the bits that it would have
    come to from its start.

    Returns
    -------
    str
        The run of the larger limit.
    """
    card = store.run(run_id)
    most = FURTHER * card.request.spec.max_iterations
    request = Request("fit", card.dataset, {**card.request.settings, "max_iterations": most})
    reached, place = store.root / "runs" / run_id / LAST_STATE, store.checkpoints(request.key())
    if reached.is_file() and not (place / FIT_STATE).exists():
        write_atomic(place / FIT_STATE, reached.read_bytes(), private=True)
    return start(store, request)


def check_fit(store: Store, request: Request) -> None:
    """Refuse to judge, or follow the phenotypes of, a fit that nobody computed here.

    An experiment computes the fit again and numbers its phenotypes; only a fit computed
    here is known to have the same.

    Raises
    ------
    UnknownRun
        If the fit is not in the store.
    InvalidSettings
        If it was imported, or changed by hand before it was fitted again.
    """
    fit = store.run(request.run) if request.run else None
    if fit is not None and fit.request.guidance and request.kind in EXPERIMENTS:
        raise refuse(
            "fit-guided",
            "Phenotypes that were changed by hand cannot be followed or judged",
            f"run {fit.id[:8]}",
            "a refit: another fit of its settings has other phenotypes",
            "Follow those of the fit it began as.",
            kind=InvalidSettings,
        )
    if fit is not None and fit.imported is not None and request.kind in EXPERIMENTS:
        raise refuse(
            "fit-imported",
            "Only phenotypes that were computed here can be followed or judged",
            f"run {fit.id[:8]}",
            f"a result {fit.imported.words}",
            "Compute the same fit here first, and choose that one.",
            kind=InvalidSettings,
        )


def check_memory(store: Store, request: Request, runs: Iterable[RunCard]) -> None:
    """Raise :class:`NotEnoughMemory` if a request would take more than there will be.

    One job computes at a time, so what those before it hold counts as free; when its turn comes
    the worker looks again.

    Parameters
    ----------
    runs : iterable of RunCard
        All that are known, the active ones among them.
    """
    before = [store.job(card.id).pid() for card in runs if card.state.active]
    ending = [one for pid in before if pid is not None for one in family(pid)]
    need_of(store, request, ending).refuse_beyond(usable_memory(ending))


def _next_attempt(store: Store, run_id: str) -> int:
    """Which attempt at a run comes now; 0 when it is finished, under way or given up."""
    published = (store.root / "runs" / run_id).is_dir()
    if store.is_finished(run_id):
        return 0
    job = store.job(run_id)
    if published or not job.exists:  # damaged since then; its worker may still be on its way out
        return 1
    stands = job.state()
    if stands.state.active or job.parked or store.is_finished(run_id):
        return 0
    return job.fruitless + 1 if stands.state is RunState.INTERRUPTED else 1


def cancel(store: Store, run_id: str) -> RunCard:
    """End a computation: ask, then insist; returns how the run stands after that.

    A run that has ended, or ends well in the meantime, stays as it is.
    """
    card = store.run(run_id)
    if not card.state.active:
        return card
    job = store.job(run_id)
    with store.lock():  # while a job is being started, its process is noted as ours
        job.ask_to_stop()
    for patience, force in zip(PATIENCE, (signal.SIGTERM, signal.SIGKILL), strict=True):
        pid = _wait(job, patience)
        if pid is None or pid == os.getpid():
            break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, force)
    _wait(job, 1.0)
    sweep(store.temporary)
    return store.run(run_id)


def active(runs: Iterable[RunCard]) -> list[RunCard]:
    """Of these runs, what is running and then what waits, in the order of the queue.

    The progress of a waiting run tells its ``position``: 1 is next.
    """
    cards = sorted(
        (card for card in runs if card.state.active),
        key=lambda card: (card.state is RunState.QUEUED, card.created),
    )
    waiting = [card for card in cards if card.state is RunState.QUEUED]
    return [
        replace(card, progress={"position": waiting.index(card) + 1}) if card in waiting else card
        for card in cards
    ]


def _not_started(run_id: str, error: OSError) -> NotStarted:
    return refuse(
        "run-not-started",
        "The computation could not be started",
        f"run {run_id[:8]}",
        error.strerror or type(error).__name__,
        "Make room on the disk and in memory, then start it again.",
        kind=NotStarted,
    )


def _launch(store: Store, job: Job) -> None:
    """A process that belongs to no terminal and no server, with its words in a log file."""
    paths = [str(CODE), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    command = [
        sys.executable,
        "-P",
        "-m",
        "dashboard.jobs.worker",
        str(store.root.resolve()),
        job.folder.name,
    ]
    kills = oom_kills()
    log = os.open(job.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
            umask=0o077,
        )
    finally:
        os.close(log)
    threading.Thread(target=_see_off, args=(store, job, process, kills), daemon=True).start()
    try:
        job.note_process(process.pid)
    except OSError:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def _see_off(store: Store, job: Job, process: subprocess.Popen[bytes], kills: int) -> None:
    """Wait, so that no zombie is left; and say so if the kernel ended it for lack of memory."""
    killed = process.wait() == -signal.SIGKILL and oom_kills() > kills
    if killed and (job.parked or job.state().state is RunState.INTERRUPTED):
        with contextlib.suppress(SwiftError):  # its data are gone by now, and with them the job
            need = need_of(store, Request.from_plain(job.about()["request"]))
            job.note_end(RunState.FAILED, str(ended_by_kernel(need)))


def _wait(job: Job, seconds: float) -> int | None:
    """The job's process if it still lives after so long."""
    until = time.monotonic() + seconds
    while (pid := job.pid()) is not None and time.monotonic() < until:
        time.sleep(0.05)
    return pid
