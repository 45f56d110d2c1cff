"""Jobs that were interrupted: what they have kept, when they are parked, what is swept."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from dashboard.store.cards import RunState
from dashboard.store.job_state import FIT_STATE, PARKED, Job
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.evaluation.experiments.checkpoints import CheckpointFolder
from swiftcore.runtime.sealed_arrays import write_sealed

REQUEST = Request("fit", "a" * 32)


def interrupted(store: Store, attempt: int = 1, request: Request = REQUEST) -> Job:
    """A job whose process is gone, as after kill -9 or a restart of the machine."""
    job = store.job(request.key())
    shutil.rmtree(job.folder, ignore_errors=True)
    job.create(request, 1.0, attempt)
    (job.folder / "process.json").write_text(json.dumps({"pid": 2**22, "started": 1.0}))
    return job


def keep_state(store: Store, iteration: int) -> None:
    path = store.checkpoints(REQUEST.key()) / FIT_STATE
    write_sealed(path, {"iteration": iteration}, {"a": np.zeros(3)})


def test_an_attempt_that_gets_further_starts_the_count_anew(store: Store) -> None:
    job = interrupted(store)
    assert job.state().state is RunState.INTERRUPTED and job.fruitless == 1
    job = interrupted(store, job.fruitless + 1)
    assert job.parked  # twice, and nothing was kept
    job = interrupted(store, 2)
    keep_state(store, 15)
    assert not job.parked and job.fruitless == 0
    job = interrupted(store, job.fruitless + 1)
    assert job.fruitless == 1  # ended where it was taken up
    keep_state(store, 30)
    assert job.fruitless == 0
    job = interrupted(store, 1)
    job = interrupted(store, job.fruitless + 1)
    assert job.parked and job.state().message == PARKED


def test_the_message_says_from_where_it_goes_on(store: Store) -> None:
    job = interrupted(store)
    assert job.state().message.endswith("It can be started again.")
    keep_state(store, 0)
    assert job.state().message.endswith("It can be started again.")
    keep_state(store, 15)
    assert job.state().message.endswith("It can go on after iteration 15.")
    (job.parts / FIT_STATE).write_bytes(b"damaged")
    assert job.state().message.endswith("It can be started again.")
    experiment = Request("noise", "a" * 32)
    job = interrupted(store, request=experiment)
    parts = CheckpointFolder(store.checkpoints(experiment.key()))
    for number in range(3):
        parts.put(str(number), {"number": number})
    assert job.state().message.endswith("It can go on; done so far: 3 parts.")


def litter(store: Store, job: Job) -> list[Path]:
    """What killed writers leave in the folders of a job."""
    left = [
        job.folder / "progress.tmp",
        job.folder / ".end.json-abc.tmp",
        store.checkpoints(job.folder.name) / f".{FIT_STATE}-abc.tmp",
    ]
    for path in left:
        path.write_bytes(b"half")
    return left


def test_drafts_of_the_dead_are_swept_and_those_of_the_living_spared(store: Store) -> None:
    dead = interrupted(store)
    keep_state(store, 15)
    left = litter(store, dead)
    alive = store.job(Request("fit", "b" * 32).key())
    alive.create(Request("fit", "b" * 32), 1.0, 1)  # this process stands for it
    spared = litter(store, alive)
    Store(store.root)
    assert not any(path.exists() for path in left) and all(path.exists() for path in spared)
    assert dead.state().message.endswith("after iteration 15.")


def test_what_was_kept_goes_with_its_run_even_if_nobody_was_there_to_delete_it(
    store: Store,
) -> None:
    interrupted(store)
    keep_state(store, 15)
    orphan = store.checkpoints("c" * 32)
    Store(store.root)
    assert [path.name for path in (store.root / "parts").iterdir()] == [REQUEST.key()]
    assert not orphan.exists()
    kept = store.job(REQUEST.key()).parts
    saved = {path.name: path.read_bytes() for path in kept.iterdir()}
    store.publish_run(REQUEST, {"model.npz": b"x"}, 1.0, 1.0)
    assert not kept.exists()
    kept.mkdir()
    for name, content in saved.items():  # as if it had been killed before it deleted them
        (kept / name).write_bytes(content)
    Store(store.root)
    assert not kept.exists() and store.is_finished(REQUEST.key())


def test_a_job_that_is_being_started_keeps_what_it_has(store: Store) -> None:
    """While it is started anew a job has no folder for a moment; only the lock tells."""
    keep_state(store, 15)
    with store.lock():
        child = os.fork()
        if child == 0:
            try:
                Store(store.root)  # would sweep, and waits
            finally:
                os._exit(0)
        interrupted(store)
    os.waitpid(child, 0)
    assert (store.root / "parts" / REQUEST.key() / FIT_STATE).exists()


@pytest.mark.parametrize("killed_after", [0, 1, 2])
def test_a_deletion_that_is_killed_leaves_the_run_whole_or_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, killed_after: int
) -> None:
    job = interrupted(store)
    store.publish_run(REQUEST, {"model.npz": b"x"}, 1.0, 1.0)
    assert job.exists
    real, renames = os.rename, []

    def rename(*paths: object) -> None:
        if len(renames) == killed_after:
            raise KeyboardInterrupt
        renames.append(paths)
        real(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename)
        with pytest.raises(KeyboardInterrupt):
            store.delete_run(REQUEST.key())
    (card,) = Store(store.root).runs()
    assert card.state is RunState.DONE and not card.damaged
