"""Jobs run in processes of their own: once, in turn, stoppable, and honest about their end."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import pytest
from support.tiny_store import ended, tiny_dataset, wait_for

from dashboard.jobs import jobs
from dashboard.store.cards import RunState, UnknownDataset
from dashboard.store.job_state import PARKED, Job
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.progress import USUAL_ITERATIONS
from swiftcore.tensor import SparseTensor

pytestmark = pytest.mark.slow  # every worker loads the compiler
LONG = {
    "rank": 20,
    "max_iterations": 1_000_000,
    "tolerance": 0.0,
    "start": "random",
    "n_restarts": 1,
    "row_relation": "none",
}


def long_fit(store: Store, seed: int = 0) -> Request:
    """A fit of noise, which goes on for minutes unless it is stopped."""
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.integers(0, size, 20_000) for size in (400, 60, 60)])
    tensor = SparseTensor.from_coordinates(places, np.ones(20_000), shape=(400, 60, 60))
    dataset = store.add_dataset(Dataset("noise", tensor, None, "", "Made by a test."))
    return Request("fit", dataset, {**LONG, "seed": seed})


def begun(store: Store, run_id: str) -> int:
    """The process of a run once it computes."""

    def fitting() -> bool:
        card = store.run(run_id)
        assert card.state.active, card.message
        return (card.progress or {}).get("what") == "Fitting"

    wait_for(fitting)
    pid = store.job(run_id).pid()
    assert pid is not None
    return pid


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")


def test_progress_then_cancel_within_three_seconds(
    store: Store, record_property: pytest.RecordProperty
) -> None:
    run_id = jobs.start(store, long_fit(store))
    pid = begun(store, run_id)
    card = store.run(run_id)
    assert card.state is RunState.RUNNING and card.seconds > 0
    usual = card.progress["total"]  # no promise: the limit is a million
    assert usual == USUAL_ITERATIONS and card.progress["seconds_left"] > 0
    wait_for(lambda: len(store.run(run_id).progress.get("history", [])) > 3)
    history = store.run(run_id).progress["history"]
    assert history == sorted(history, reverse=True)
    assert psutil.Process(pid).nice() >= 5 and os.getpgid(pid) == pid
    before = time.monotonic()
    card = jobs.cancel(store, run_id)
    seconds = time.monotonic() - before
    record_property("cancel_seconds", seconds)
    assert seconds < 15
    assert card.state is RunState.CANCELLED and card.message == RunState.CANCELLED.value
    assert store.job(run_id).pid() is None and list(store.temporary.iterdir()) == []
    assert jobs.cancel(store, run_id) == card  # twice does nothing


def test_a_worker_that_does_not_listen_is_ended(store: Store) -> None:
    run_id = jobs.start(store, long_fit(store))
    pid = begun(store, run_id)
    os.kill(pid, signal.SIGSTOP)  # it will never look at the flag
    before = time.monotonic()
    assert jobs.cancel(store, run_id).state is RunState.CANCELLED
    assert time.monotonic() - before < 15
    assert not (store.root / "runs" / run_id).exists()


def asked_at_once(store: Store, request: Request, count: int) -> list[tuple[str, int]]:
    """Forked processes that all ask at the same moment; each answer, and how many it started."""
    go_read, go_write = os.pipe()
    answers: list[tuple[int, int]] = []
    for _ in range(count):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.read(go_read, 1)
            run_id = jobs.start(Store(store.root), request)
            started = len(psutil.Process().children())
            os.write(writing, f"{run_id} {started}".encode())
            os._exit(0)
        os.close(writing)
        answers.append((child, reading))
    os.write(go_write, b"x" * count)
    said = [os.read(reading, 100).decode().split() for _, reading in answers]
    for child, reading in answers:
        os.waitpid(child, 0)
        os.close(reading)
    return [(run_id, int(started)) for run_id, started in said]


def test_eight_who_ask_at_once_get_one_computation(store: Store) -> None:
    request = Request("fit", store.add_dataset(tiny_dataset()), {"rank": 2})
    runs, started = zip(*asked_at_once(store, request, 8), strict=True)
    assert len(set(runs)) == 1 and sum(started) == 1
    assert ended(store, runs[0]).state is RunState.DONE
    assert asked_at_once(store, request, 3) == [(runs[0], 0)] * 3  # answered from the store


@pytest.mark.nightly
def test_fifty_rounds_of_eight_who_ask_at_once(store: Store) -> None:
    dataset = store.add_dataset(tiny_dataset())
    for seed in range(50):
        request = Request("fit", dataset, {"rank": 2, "seed": seed})
        runs, started = zip(*asked_at_once(store, request, 8), strict=True)
        assert len(set(runs)) == 1 and sum(started) == 1
        assert ended(store, runs[0]).state is RunState.DONE


def test_a_killed_worker_is_interrupted_and_twice_is_parked(store: Store) -> None:
    request = long_fit(store)
    run_id = jobs.start(store, request)
    assert jobs.start(store, request) == run_id  # attached, not started again
    kill(begun(store, run_id))
    card = store.run(run_id)
    assert card.state is RunState.INTERRUPTED and card.ended is not None
    assert jobs.active(store.runs()) == []
    jobs.start(store, request)
    kill(begun(store, run_id))
    card = store.run(run_id)
    assert card.state is RunState.FAILED and card.message == PARKED
    jobs.start(store, request)
    assert store.job(run_id).pid() is None  # not tried a third time
    store.delete_run(run_id)
    assert store.runs() == []


def test_one_computes_and_the_others_wait_in_order(store: Store) -> None:
    first, second, third = (jobs.start(store, long_fit(store, seed)) for seed in range(3))
    begun(store, first)
    wait_for(lambda: len(jobs.active(store.runs())) == 3)
    cards = jobs.active(store.runs())
    assert [card.id for card in cards] == [first, second, third]
    assert [card.state.name for card in cards] == ["RUNNING", "QUEUED", "QUEUED"]
    assert [card.progress.get("position") for card in cards] == [None, 1, 2]
    memory = psutil.Process(store.job(third).pid()).memory_info().rss
    assert memory < 100e6  # a waiting job has not loaded the compiler
    assert jobs.cancel(store, second).state is RunState.CANCELLED
    kill(store.job(first).pid())  # the dead let go of the lock
    begun(store, third)
    assert jobs.cancel(store, third).state is RunState.CANCELLED


def test_a_refused_fit_says_why(store: Store) -> None:
    dataset = store.add_dataset(replace(tiny_dataset(), outcome=None, outcome_name=""))
    asked = Request("fit", dataset, {"feature_weighting": "outcome"})
    card = ended(store, jobs.start(store, asked))
    assert card.state is RunState.FAILED
    assert "no outcome" in card.message and "\n" not in card.message
    again = jobs.start(store, asked)  # may be tried again
    assert jobs.cancel(store, again).state is RunState.CANCELLED


def test_data_that_are_not_there_are_refused_at_once(store: Store) -> None:
    with pytest.raises(UnknownDataset):
        jobs.start(store, Request("fit", "0" * 32))
    assert store.runs() == []


def test_a_damaged_result_is_computed_again(fitted_store: Store, fit_id: str) -> None:
    before = fitted_store.fit(fit_id)
    fitted_store.job(fit_id).note_process(os.getpid())  # its worker is still on its way out
    path = fitted_store.root / "runs" / fit_id / "model.npz"
    path.write_bytes(path.read_bytes()[:-1])
    assert fitted_store.run(fit_id).damaged
    assert jobs.start(fitted_store, fitted_store.runs(kind="fit")[0].request) == fit_id
    card = ended(fitted_store, fit_id)
    assert card.state is RunState.DONE and not card.damaged
    after = fitted_store.fit(fit_id)
    for old, new in zip(before.factors, after.factors, strict=True):
        np.testing.assert_array_equal(old, new)


def test_an_unforeseen_error_leaves_a_sentence_and_a_log(store: Store) -> None:
    request = Request("fit", store.add_dataset(tiny_dataset()))
    job = store.job(request.key())
    job.create(request, 1.0, 1)
    about = (job.folder / "job.json").read_text().replace('"created": 1.0', '"created": "soon"')
    (job.folder / "job.json").write_text(about)
    jobs._launch(store, job)
    wait_for(lambda: job.pid() is None)
    assert job.state().state is RunState.FAILED and "log" in job.state().message
    assert "Traceback" in job.log.read_text()


@pytest.mark.parametrize("fails", ["Popen", "note_process", "open"])
def test_a_failed_start_leaves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    request = Request("fit", store.add_dataset(tiny_dataset()))
    real_open = os.open

    def full(*arguments: Any, **named: Any) -> int:
        if fails != "open" or str(arguments[0]).endswith("log.txt"):
            raise OSError(28, "No space left on device")
        return real_open(*arguments, **named)

    place = {"Popen": jobs.subprocess, "note_process": Job, "open": os}[fails]
    monkeypatch.setattr(place, fails, full)
    with pytest.raises(jobs.NotStarted, match="No space"):
        jobs.start(store, request)
    monkeypatch.undo()
    assert list((store.root / "jobs").iterdir()) == list(store.temporary.iterdir()) == []
    assert store.runs() == []
    store.delete_dataset(request.dataset)  # nothing is left that would stand in the way
