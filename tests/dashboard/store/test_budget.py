"""The store keeps within its limit by removing what can be computed again, and nothing else."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from support.tiny_store import ended, tiny_dataset

from dashboard.jobs import jobs
from dashboard.store import budget
from dashboard.store.budget import folder_size, make_room, parse_size, removable, store_limit, usage
from dashboard.store.cards import RunState, UnknownRun
from dashboard.store.keeping import EVERY, USED, last_use, note_use, set_kept
from dashboard.store.request import Request
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from swiftcore.errors import InvalidSettings

SIZE = 20_000


def add_run(store: Store, seed: int, used: float = 0.0) -> str:
    """A result of about :data:`SIZE` bytes, last looked at so many seconds after 2001."""
    request = Request("fit", store.datasets()[0].id, {"seed": seed})
    run = store.publish_run(request, {"model.npz": os.urandom(SIZE)}, 1.0, 1.0)
    note_use(store.root, run)
    os.utime(store.root / USED / run, (1e9 + used,) * 2)
    return run


@pytest.fixture
def five(store: Store) -> list[str]:
    """Five runs, the first not looked at for longest."""
    store.add_dataset(tiny_dataset())
    runs = [add_run(store, seed) for seed in range(5)]
    for place, run in enumerate(runs):  # made now, used in this order
        os.utime(store.root / USED / run, (time.time() + place * 10,) * 2)
    return runs


def limit_to(store: Store, spare: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that leaves so many bytes beyond what is there."""
    kilobytes = (folder_size(store.root) + spare) / 1e3
    monkeypatch.setenv(budget.LIMIT_SETTING, f"{kilobytes:.3f}KB")


def done(store: Store) -> set[str]:
    return {card.id for card in store.runs() if card.state is RunState.DONE}


@pytest.mark.parametrize(
    ("text", "size"), [("20GB", 20e9), (" 1.5 mb ", 1.5e6), ("300kb", 3e5), ("2TB", 2e12)]
)
def test_sizes_are_read_as_people_write_them(
    text: str, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(budget.LIMIT_SETTING, text)
    assert parse_size(text) == store_limit() == size


@pytest.mark.parametrize("text", ["20", "GB", "-1GB", "0GB", "1e3GB", "20 apples", "1,5GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InvalidSettings, match="no size"):
        parse_size(text)


def test_the_limit_has_a_usual_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(budget.LIMIT_SETTING, raising=False)
    assert store_limit() == 20_000_000_000


def test_the_least_recently_used_goes_first_and_only_as_many_as_needed(
    store: Store, five: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_to(store, 5_000, monkeypatch)
    new = add_run(store, 9)
    os.utime(store.root / USED / new, (time.time() + 90,) * 2)
    assert done(store) == {*five[1:], new}
    assert folder_size(store.root) <= store_limit()
    limit_to(store, 5_000, monkeypatch)
    note_use(store.root, five[1])
    os.utime(store.root / USED / five[1], (time.time() + 100,) * 2)  # somebody looks at it
    assert add_run(store, 10) in done(store)
    assert five[1] in done(store) and five[2] not in done(store)


def test_within_the_limit_nothing_goes(
    store: Store, five: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_to(store, 5 * SIZE, monkeypatch)
    assert make_room(store, SIZE) == [] and done(store) == set(five)


def test_kept_judged_and_needed_results_stay(
    store: Store, five: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, judged, needed, *free = five
    set_kept(store.root, kept, True)
    Reviews(store.root).save(Review(judged, "P01", "d", "anna"))
    request = Request("stability", store.datasets()[0].id, {}, needed)
    store.job(request.key()).create(request, 1.0, 1)  # this process stands for its worker
    assert [card.id for card in removable(store, store.runs())] == free
    monkeypatch.setenv(budget.LIMIT_SETTING, "1KB")
    new = add_run(store, 9)  # over the limit, but there is nothing left to remove
    assert done(store) == {kept, judged, needed, new}
    assert len(store.datasets()) == 1 and len(Reviews(store.root).all()) == 1
    set_kept(store.root, kept, False)
    assert make_room(store, 1) and kept not in done(store)


def test_while_judgements_cannot_be_read_nothing_goes(store: Store, five: list[str]) -> None:
    Reviews(store.root).save(Review(five[0], "P01", "d", "anna"))
    (store.root / "reviews.sqlite").write_bytes(b"nonsense" * 1000)
    assert removable(store, store.runs()) == []


def test_what_nobody_can_compute_again_stays(store: Store, five: list[str]) -> None:
    one, *others = store.runs()
    older = store.root / "runs" / ("e" * 32)  # as if an earlier algorithm had made it
    os.rename(store.root / "runs" / one.id, older)
    assert {card.id for card in removable(store, store.runs())} == {card.id for card in others}
    for folder in (store.root / "datasets").iterdir():
        (folder / "data.swift.npz").write_bytes(b"damaged")
    assert removable(store, store.runs()) == []


def test_a_removed_result_leaves_its_settings_and_a_sentence(
    store: Store, five: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.run(five[0]).request
    monkeypatch.setenv(budget.LIMIT_SETTING, "1KB")
    assert [card.id for card in make_room(store, 1)] == five
    card = store.run(five[0])
    assert card.state is RunState.REMOVED and card.request == before and card.created == 1.0
    assert "to make room" in card.message and "gives it back" in card.message
    with pytest.raises(UnknownRun):
        store.fit(five[0])
    assert list(store.temporary.iterdir()) == [] and not (store.root / USED / five[0]).exists()
    store.delete_run(five[0])
    assert five[0] not in {one.id for one in store.runs()}


def test_a_removal_cut_short_loses_nothing(
    store: Store, five: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(budget.LIMIT_SETTING, "1KB")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(budget, "remove", full)
    assert make_room(store, 1) == [] and done(store) == set(five)
    new = add_run(store, 9)  # what was computed is stored all the same
    assert new in done(store)


@pytest.mark.slow
def test_one_press_computes_it_again(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fitted_store.fit(fit_id)
    with monkeypatch.context() as patch:
        patch.setenv(budget.LIMIT_SETTING, "1KB")
        make_room(fitted_store, 1)
    card = fitted_store.run(fit_id)
    assert card.state is RunState.REMOVED
    assert jobs.start(fitted_store, card.request) == fit_id
    assert ended(fitted_store, fit_id).state is RunState.DONE
    after = fitted_store.fit(fit_id)
    for old, new in zip(before.factors, after.factors, strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_use_is_noted_at_most_once_a_minute(store: Store, five: list[str]) -> None:
    mark, card = store.root / USED / five[0], store.run(five[0])
    long_ago = time.time() - EVERY - 5
    os.utime(mark, (long_ago,) * 2)
    note_use(store.root, five[0])
    noted = mark.stat().st_mtime_ns
    assert last_use(store.root, card) > long_ago + EVERY
    note_use(store.root, five[0])
    assert mark.stat().st_mtime_ns == noted


def test_what_takes_room_adds_up(store: Store, five: list[str]) -> None:
    found = usage(store, store.runs())
    assert sum(found.parts.values()) == found.used == folder_size(store.root)
    assert found.parts["Results"] == sum(found.runs.values()) > 5 * SIZE
    assert [card.id for card in found.first_out] == five and found.free > 0
