"""What would not fit is not started; what takes too much all the same ends in words."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from support.tiny_store import ended, tiny_dataset, wait_for

from dashboard.jobs import jobs
from dashboard.jobs.need import fits_at_once, need_of
from dashboard.store.cards import RunState
from dashboard.store.request import EXPERIMENTS, Request
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.errors import NotEnoughMemory
from swiftcore.runtime.memory import LIMIT_SETTING
from swiftcore.tensor import SparseTensor

# Runs in a worker (or in the children of one) at its start: a program with a leak.
LEAK = """
import sys, threading, time

def leak():
    while 'dashboard.jobs.compute' not in sys.modules and not {children}:
        time.sleep(0.05)
    held = []
    while True:
        held.append(bytearray(10_000_000))
        time.sleep(0.02)

if {children} == ('loky' in ' '.join(sys.orig_argv)):
    threading.Thread(target=leak, daemon=True).start()
"""
# Takes two gigabytes in one go without letting any other thread of the worker run.
GULP = """
import ctypes, sys, threading, time

def gulp():
    while 'dashboard.jobs.compute' not in sys.modules:
        time.sleep(0.05)
    c = ctypes.PyDLL(None)
    c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    c.memset(ctypes.c_void_p(c.malloc(2 * 10**9)), 1, ctypes.c_size_t(2 * 10**9))

if 'dashboard.jobs.worker' in sys.orig_argv:
    threading.Thread(target=gulp, daemon=True).start()
"""
# A server's part: start a run and stay until it has ended.
DENSE = {"row_relation": "dense"}
SERVER = """
import sys, time
from dashboard.jobs import jobs
from dashboard.jobs.need import fits_at_once, need_of
from dashboard.store.request import Request
from dashboard.store.store import Store

store = Store(sys.argv[1])
request = Request("fit", sys.argv[2], {"rank": 2, "row_relation": "dense"})
try:
    run = jobs.start(store, request)
except ValueError as error:
    sys.exit(f"refused: {error}")
until = time.monotonic() + 100
while time.monotonic() < until:
    time.sleep(0.2)
    card = store.run(run)
    if not card.state.active and card.state.name != "INTERRUPTED":
        break
print(card.state.name, card.message)
"""


def many_rows(rows: int, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    places = np.column_stack([rng.integers(0, size, 2 * rows) for size in (rows, 12, 8)])
    tensor = SparseTensor.from_coordinates(places, np.ones(2 * rows), (rows, 12, 8))
    return Dataset(f"{rows} rows", tensor, rng.random(rows) < 0.5, "fever", "Made by a test.")


def broken_program(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python run some code first in every process that is started from now on."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_a_fit_of_many_rows_is_not_started_where_it_would_not_fit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """13,000 rows in 3 GB: once started, the kernel killed it without a word on memory."""
    monkeypatch.setenv(LIMIT_SETTING, "3000")
    request = Request("fit", store.add_dataset(many_rows(13_000)), DENSE | {"dtype": "float64"})
    with pytest.raises(NotEnoughMemory) as refused:
        jobs.start(store, request)
    (problem,) = refused.value.problems
    assert problem.found == "3.1 GB needed, 2.7 GB to be had"
    assert "(row relation) to none" in problem.cure and "float32" in problem.cure
    assert store.runs() == [] and not store.job(request.key()).folder.exists()


def test_twenty_requests_beyond_the_limit_are_refused_within_a_second_each(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, before = fitted_store, fitted_store.runs()
    children = set(psutil.Process().children())
    sets = [store.add_dataset(many_rows(rows)) for rows in (8_000, 11_000, 16_000)]
    wanted = [
        (900, Request("fit", dataset, DENSE | {"rank": rank, "dtype": dtype}))
        for dataset in sets
        for rank in (3, 12)
        for dtype in ("float32", "float64")
    ]
    # an experiment needs two processes, however little its neighbourhoods take
    wanted += [(600, Request(kind, dataset)) for kind in EXPERIMENTS for dataset in sets[1:]]
    assert len({request.key() for _, request in wanted}) == len(wanted) >= 20
    seconds = []
    for limit, request in wanted:
        monkeypatch.setenv(LIMIT_SETTING, str(limit))
        began = time.monotonic()
        told = rf"needed, {limit * 9 // 10} MB to be had\. \w"
        with pytest.raises(NotEnoughMemory, match=told):
            jobs.start(store, request)
        seconds.append(time.monotonic() - began)
    assert max(seconds) < 1.0, seconds
    assert store.runs() == before and list(store.temporary.iterdir()) == []
    assert os.listdir(store.root / "jobs") == [fit_id]
    assert set(psutil.Process().children()) <= children


def test_doing_what_a_refusal_says_helps(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_SETTING, "900")
    dataset = store.add_dataset(many_rows(9_000))
    with pytest.raises(
        NotEnoughMemory,
        match=r"Set Similarity of rows \(row relation\) to neighbourhoods, which takes 4\d0 MB; "
        r"or set .* to none, which takes 4\d0 MB",
    ):
        jobs.start(store, Request("fit", dataset, {"row_relation": "dense"}))
    jobs.check_memory(store, Request("fit", dataset), store.runs())  # auto: neighbourhoods
    jobs.check_memory(store, Request("fit", dataset, {"row_relation": "none"}), store.runs())


def test_an_experiment_does_fewer_fits_at_once_where_memory_is_short(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    request = Request("evaluation", store.add_dataset(many_rows(1_000)))
    counts, needs = [], []
    for limit in ("100000", "3000", "800"):
        monkeypatch.setenv(LIMIT_SETTING, limit)
        counts.append(fits_at_once(store, request))
        needs.append(need_of(store, request).bytes)
        assert needs[-1] <= 0.9e6 * int(limit)
    assert counts[0] > counts[1] > counts[2] == 1 and sorted(needs, reverse=True) == needs
    monkeypatch.setenv(LIMIT_SETTING, "500")
    assert fits_at_once(store, request) == 1
    with pytest.raises(NotEnoughMemory, match="1 at a time of the fits of 600 x 12 x 8 at rank"):
        jobs.start(store, request)


def test_new_rows_without_room_are_refused(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = Request("projection", fitted_store.add_dataset(tiny_dataset(seed=1)), {}, fit_id)
    jobs.check_memory(fitted_store, new, ())
    monkeypatch.setenv(LIMIT_SETTING, "300")
    with pytest.raises(NotEnoughMemory, match=r"describing 30 rows.*Close other programs"):
        jobs.start(fitted_store, new)


@pytest.mark.slow
def test_a_worker_looks_again_when_its_turn_comes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request("fit", store.add_dataset(tiny_dataset()), {"rank": 2})
    job = store.job(request.key())
    job.create(request, time.time(), 1)
    monkeypatch.setenv(LIMIT_SETTING, "200")
    jobs._launch(store, job)
    card = ended(store, request.key())
    assert card.state is RunState.FAILED
    assert "400 MB needed, 180 MB to be had" in card.message


@pytest.mark.slow
def test_a_worker_that_takes_too_much_ends_in_words_and_the_queue_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = store.add_dataset(tiny_dataset())
    with monkeypatch.context() as broken:
        broken.setenv(LIMIT_SETTING, "700")
        broken_program(tmp_path / "leak", LEAK.format(children=False), broken)
        first = jobs.start(store, Request("fit", dataset, {"rank": 2, "max_iterations": 10**6}))
    second = jobs.start(store, Request("fit", dataset, {"rank": 2}))
    pid = store.job(first).pid()
    card = ended(store, first)
    assert card.state is RunState.FAILED
    assert "There is not enough memory (a fit of 30 x 8 x 6 at rank 2)" in card.message
    assert "660 MB to be had. " in card.message or "670 MB to be had. " in card.message
    assert "\n" not in card.message and "machine with more memory" in card.message
    wait_for(lambda: not psutil.pid_exists(pid))
    assert ended(store, second).state is RunState.DONE
    assert list(store.temporary.iterdir()) == []


@pytest.mark.slow
def test_children_of_an_experiment_count_too(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = store.add_dataset(tiny_dataset(rows=60))
    monkeypatch.setenv(LIMIT_SETTING, "2500")
    broken_program(tmp_path / "leak", LEAK.format(children=True), monkeypatch)
    run = jobs.start(store, Request("ablation", dataset, {"ranks": [2], "folds": 9}))
    wait_for(lambda: store.job(run).pid() not in (None, os.getpid()))
    pid = store.job(run).pid()
    wait_for(lambda: len(psutil.Process(pid).children(recursive=True)) > 1)
    children = psutil.Process(pid).children(recursive=True)
    card = ended(store, run)
    assert card.state is RunState.FAILED and " at a time of the fits of " in card.message
    assert "2.4 GB to be had" in card.message
    wait_for(lambda: not any(child.is_running() for child in children))


@pytest.fixture
def small_group() -> Iterator[Path]:
    """A control group of 800 MB within our own; only where we may make one."""
    mount = Path("/sys/fs/cgroup/memory")
    limit = "memory.limit_in_bytes"
    if not mount.is_dir():
        mount, limit = Path("/sys/fs/cgroup"), "memory.max"
    group = mount / f"swift-test-{uuid.uuid4().hex[:8]}"
    try:
        group.mkdir()
        (group / limit).write_text("800000000")
    except OSError:
        pytest.skip("control groups can be made by root only")
    yield group
    wait_for(lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


def in_group(group: Path, *command: str) -> str:
    """What a program says that runs in a control group."""
    enter = f'echo $$ > {group}/cgroup.procs; exec "$@"'
    answer = subprocess.run(
        ["sh", "-c", enter, "sh", *command], capture_output=True, text=True, timeout=200
    )
    return answer.stdout + answer.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
def test_in_a_real_container_too_much_is_refused_and_the_kernel_s_end_is_told(
    store: Store, small_group: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(data: Dataset) -> str:
        dataset = store.add_dataset(data)
        return in_group(small_group, sys.executable, "-c", SERVER, str(store.root), dataset)

    code = str(Path(jobs.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", code)
    refused = serve(many_rows(9_000))
    assert "refused: There is not enough memory" in refused and "(row relation) to none" in refused
    broken_program(tmp_path / "gulp", GULP, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", code, prepend=os.pathsep)
    said = serve(tiny_dataset())
    assert said.startswith("FAILED The memory ran out and the system ended a process"), said
    assert "about 400 MB needed" in said and "machine with more memory" in said
