"""A listing from the index says what a fresh look at every folder would say."""

from __future__ import annotations

import builtins
import time
from pathlib import Path

import numpy as np
import pytest
from support.opened_page import damage
from support.tiny_store import tiny_dataset

from dashboard.jobs import jobs
from dashboard.store.cards import RunState
from dashboard.store.index import CHECKED
from dashboard.store.request import Request
from dashboard.store.store import Store


def _files(store: Store, run: str) -> dict[str, bytes]:
    folder = store.root / "runs" / run
    return {name: (folder / name).read_bytes() for name in ("model.npz", "links.json")}


def _request(store: Store, seed: int) -> Request:
    return Request("fit", store.runs(kind="fit")[-1].dataset, {"rank": 3, "seed": seed})


def _publish(store: Store, files: dict[str, bytes], rng: np.random.Generator) -> None:
    store.publish_run(_request(store, int(rng.integers(1, 6))), files, time.time(), 1.0)


def _start(store: Store, _: dict[str, bytes], rng: np.random.Generator) -> None:
    jobs.start(store, _request(store, int(rng.integers(1, 6))))


def _end(store: Store, _: dict[str, bytes], rng: np.random.Generator) -> None:
    for card in jobs.active(store.runs())[:1]:
        state = RunState.FAILED if rng.random() < 0.5 else RunState.CANCELLED
        store.job(card.id).note_end(state, "Ended by a test.")


def _delete(store: Store, _: dict[str, bytes], rng: np.random.Generator) -> None:
    ended = [card for card in store.runs() if not card.state.active][:-1]
    if ended:
        store.delete_run(ended[int(rng.integers(len(ended)))].id)


def _damage(store: Store, _: dict[str, bytes], rng: np.random.Generator) -> None:
    done = [card for card in store.runs() if card.state is RunState.DONE][:-1]
    if done:
        damage(store, done[int(rng.integers(len(done)))].id)


def _add_data(store: Store, _: dict[str, bytes], rng: np.random.Generator) -> None:
    store.add_dataset(tiny_dataset(seed=int(rng.integers(1, 4))))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_the_index_says_what_is_there(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Done by another store object, as by another process; looked at after every step."""
    monkeypatch.setattr(jobs, "_launch", lambda *_: None)  # we stand for the worker: it waits
    rng, files = np.random.default_rng(seed), _files(fitted_store, fit_id)
    other = Store(fitted_store.root)
    acts = (_publish, _publish, _start, _start, _end, _delete, _damage, _add_data)
    for _ in range(25):
        acts[int(rng.integers(len(acts)))](other, files, rng)
        fresh = Store(fitted_store.root)
        assert fitted_store.runs() == fresh.runs()
        assert fitted_store.datasets() == fresh.datasets()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file opened since the list was emptied."""
    found: list[str] = []
    original = builtins.open

    def counted(self: Path) -> bytes:
        found.append(self.name)
        with original(self, "rb") as file:
            return file.read()

    monkeypatch.setattr(Path, "read_bytes", counted)
    return found


def test_a_second_listing_reads_no_file(fitted_store: Store, opened: list[str]) -> None:
    listed = fitted_store.runs(), fitted_store.datasets()
    assert opened
    opened.clear()
    assert (fitted_store.runs(), fitted_store.datasets()) == listed
    assert opened == []


def test_damage_in_a_large_store_is_found_by_turns(fitted_store: Store, fit_id: str) -> None:
    files = _files(fitted_store, fit_id)
    for seed in range(1, 3 * CHECKED):
        fitted_store.publish_run(_request(fitted_store, seed), files, time.time(), 1.0)
    assert not any(card.damaged for card in fitted_store.runs())
    damage(fitted_store, fit_id)
    for _ in range(-(-3 * CHECKED // CHECKED)):
        cards = fitted_store.runs()
    assert [card.id for card in cards if card.damaged] == [fit_id]


def test_a_job_whose_process_died_is_not_believed_for_long(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_launch", lambda *_: None)
    run = jobs.start(fitted_store, _request(fitted_store, 1))
    assert [card.id for card in jobs.active(fitted_store.runs())] == [run]
    monkeypatch.setattr("dashboard.store.job_state._lives", lambda _: False)
    time.sleep(1.1)
    assert jobs.active(fitted_store.runs()) == []
