"""kill -9 at any moment: nothing half, nothing acknowledged lost, no litter after a restart."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from support.kill_scenarios import SCENARIOS, no_litter
from support.tiny_store import tiny_dataset

from dashboard.store import verified_folder
from dashboard.store.request import Request
from dashboard.store.store import Store

KILLS, MANY_KILLS = 60, 200  # over all scenarios


def survive(name: str, root: Path, kills: int, seed: int) -> list[list[str]]:
    """Kill a scenario at random moments, each time check after a restart; all that was said."""
    scenario, rng = SCENARIOS[name], np.random.default_rng(seed)
    Store(root)
    words: list[list[str]] = []
    for life in range(kills):
        moment = int(rng.integers(scenario.words)), float(rng.uniform(0, 0.03))
        words.append(scenario.start(root, life).killed_after(*moment))
        Store(root)  # the restart
        scenario.check(root, words)
        no_litter(root)
    if scenario.finish is not None:
        scenario.finish(root)
        no_litter(root)
    return words


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_half_or_left_behind(name: str, tmp_path: Path) -> None:
    words = survive(name, tmp_path / "store", -(-KILLS // len(SCENARIOS)), seed=2)
    assert sum(map(len, words)) >= len(words)  # it was killed at work, not before


@pytest.mark.nightly
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_half_or_left_behind_by_many_kills(name: str, tmp_path: Path) -> None:
    words = survive(name, tmp_path / "store", -(-MANY_KILLS // len(SCENARIOS)), seed=3)
    assert sum(map(len, words)) >= len(words)


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
