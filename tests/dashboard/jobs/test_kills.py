"""kill -9 at any moment: nothing half, nothing acknowledged lost, no litter after a restart."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.tiny_store import tiny_dataset

from dashboard.store import verified_folder
from dashboard.store.backup import write_backup
from dashboard.store.request import Request
from dashboard.store.restore import restore_backup
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store


def acknowledged_before_the_kill(work: Callable[[int], str], seconds: float) -> list[str]:
    """Fork a process that works until it is killed; what it said was done, to its last word."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            for turn in range(1_000_000):
                os.write(writing, f"{work(turn)}\n".encode())
        os._exit(1)
    os.close(writing)
    said = os.read(reading, 1)  # it is at work
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reading, 65_536):
        said += piece
    os.close(reading)
    return [line for line in said.decode().split("\n")[:-1] if line]


def check_results(root: Path, kills: int) -> int:
    """Publish results until killed, again and again; returns how many were acknowledged."""
    store = Store(root)
    dataset = store.add_dataset(tiny_dataset())
    rng, total = np.random.default_rng(2), 0
    known: set[str] = set()
    for round_ in range(kills):

        def publish(turn: int, start: int = round_ * 100_000) -> str:
            request = Request("fit", dataset, {"seed": start + turn})
            files = {"model.npz": os.urandom(50_000), "links.json": os.urandom(5_000)}
            return Store(root).publish_run(request, files, 1.0, 1.0)

        known |= set(acknowledged_before_the_kill(publish, float(rng.uniform(0, 0.05))))
        after = Store(root)
        cards = {card.id: card for card in after.runs()}
        assert known <= set(cards), "an acknowledged result is lost"
        assert not any(card.damaged for card in cards.values())
        assert list(after.temporary.iterdir()) == []
        total = len(known)
        if total > 200:  # checking all of them takes longer and longer
            for run_id in cards:
                after.delete_run(run_id)
            known = set()
    return total


def check_reviews(root: Path, kills: int) -> None:
    rng = np.random.default_rng(3)
    known: set[int] = set()
    Reviews(root)
    for _ in range(kills):

        def save(turn: int) -> str:
            review = Review("r", f"P{turn:02d}", "d", "anna", comment="x" * 3_000)
            return str(Reviews(root).save(review).id)

        said = acknowledged_before_the_kill(save, float(rng.uniform(0, 0.05)))
        known |= {int(line) for line in said}
        kept = Reviews(root)._select("run = ?", "r")
        assert known <= {review.id for review in kept}, "an acknowledged review is lost"
        assert all(len(review.comment) == 3_000 for review in kept)
        assert Reviews(root).copies.newest() is not None
        assert list(Store(root).temporary.iterdir()) == []
    with sqlite3.connect(root / "reviews.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(known) >= kills


def check_backups(folder: Path, kills: int) -> None:
    """Back up to the same file until killed: it is always a whole backup, the next one is clean."""
    store, file = Store(folder / "store"), folder / "backup.zip"
    dataset = store.add_dataset(tiny_dataset())
    for seed in range(3):
        request = Request("fit", dataset, {"seed": seed})
        store.publish_run(request, {"model.npz": os.urandom(200_000)}, 1.0, 1.0)
    Reviews(store.root).save(Review("r", "P01", "d", "anna"))
    rng = np.random.default_rng(6)
    for turn in range(kills):
        write = partial(write_backup, store.root, file)
        acknowledged_before_the_kill(
            lambda _, write=write: str(write().runs), float(rng.uniform(0, 0.1))
        )
        found = restore_backup(folder / f"second {turn}", file)
        assert (found.datasets, found.runs, found.judgements) == (1, 3, 1)
    write_backup(store.root, file)
    assert {path.name for path in folder.glob("*") if path.is_file()} == {"backup.zip"}
    assert list(store.temporary.iterdir()) == []


@pytest.mark.slow
def test_backups_survive_kills(tmp_path: Path) -> None:
    check_backups(tmp_path, 10)


@pytest.mark.nightly
def test_backups_survive_many_kills(tmp_path: Path) -> None:
    check_backups(tmp_path, 100)


@pytest.mark.slow
def test_results_survive_kills(tmp_path: Path) -> None:
    assert check_results(tmp_path, 30) > 0


@pytest.mark.slow
def test_reviews_survive_kills(tmp_path: Path) -> None:
    check_reviews(tmp_path, 30)


@pytest.mark.nightly
def test_results_survive_many_kills(tmp_path: Path) -> None:
    check_results(tmp_path, 500)


@pytest.mark.nightly
def test_reviews_survive_many_kills(tmp_path: Path) -> None:
    check_reviews(tmp_path, 500)


def test_the_order_of_a_publication_is_write_flush_rename_flush(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, str]] = []
    real_sync, real_rename = os.fsync, os.rename

    def sync(handle: int) -> None:
        calls.append(("fsync", Path(os.readlink(f"/proc/self/fd/{handle}")).name))
        real_sync(handle)

    def rename(old: Path, new: Path) -> None:
        calls.append(("rename", Path(new).name))
        real_rename(old, new)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "rename", rename)
    request = Request("fit", "a" * 32)
    store.publish_run(request, {"model.npz": b"x"}, 1.0, 1.0)
    place = calls.index(("rename", request.key()))
    flushed = {name for _, name in calls[:place]}
    assert {"model.npz", "run.json", "SHA256SUMS"} <= flushed
    assert calls[place - 1][0] == "fsync"  # the folder itself, before it is shown
    assert calls[place + 1] == ("fsync", "runs")  # and the rename


@pytest.mark.parametrize("call", ["fsync", "rename", "open", "write"])
def test_a_disk_that_fails_at_any_call_harms_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    dataset = store.add_dataset(tiny_dataset())
    files = {"model.npz": b"x" * 5_000, "links.json": b"y"}
    before = store.publish_run(Request("fit", dataset), files, 1.0, 1.0)
    failures = 0
    for turn in range(12):
        request = Request("fit", dataset, {"seed": 1 + turn})
        with monkeypatch.context() as patch:
            failing = _Failing(call, turn)
            patch.setattr(*failing.place, failing)
            try:
                store.publish_run(request, files, 1.0, 1.0)
            except OSError:
                failures += 1
        cards = {card.id: card for card in Store(store.root).runs()}
        assert before in cards and not any(card.damaged for card in cards.values())
        assert list(store.temporary.iterdir()) == []
    assert failures > 0


class _Failing:
    """A system call that says "no space" the k-th time it is asked."""

    def __init__(self, call: str, at: int) -> None:
        self.place = (verified_folder, "write_private") if call == "write" else (os, call)
        self._real, self._left = getattr(*self.place), at

    def __call__(self, *arguments: object, **options: object) -> object:
        self._left -= 1
        if self._left == -1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._real(*arguments, **options)
