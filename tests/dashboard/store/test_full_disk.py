"""A full disk at many sizes: nothing half, nothing lost, everything stored stays readable."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.small_disk import filled, read_only, small_disk
from support.tiny_store import tiny_dataset

from dashboard.jobs.samples import seed_samples
from dashboard.store.backup import write_backup
from dashboard.store.cards import RunState
from dashboard.store.request import Request
from dashboard.store.restore import restore_backup
from dashboard.store.review_file import ReviewsUnavailable
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from swiftcore.errors import SwiftError
from swiftcore.runtime.atomic_file import write_atomic

FULL = ("No space left on device|Make room", "disk is full.*Delete runs")  # of files; of reviews
SIZES = range(0, 120, 3)  # forty numbers of free pages


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as made:
        yield made


@pytest.fixture
def judged(fitted_root: Path, disk: Path) -> Store:
    """A store on the small disk; its fit is judged, so that nobody removes it to make room."""
    store = Store(shutil.copytree(fitted_root, disk / "store"))
    Reviews(store.root).save(Review(store.runs()[0].id, "P01", "d", "anna", comment="x" * 500))
    return store


def actions(store: Store, disk: Path) -> dict[str, Callable[[int], object]]:
    """Everything that writes, each as something new at every turn."""
    dataset, fit = store.datasets()[0].id, store.runs()[0].id

    def publish(turn: int) -> str:
        request = Request("fit", dataset, {"seed": 1000 + turn})
        return store.publish_run(request, {"model.npz": bytes(40_000), "links.json": b"{}"}, 1, 1)

    def start(turn: int) -> None:
        request = Request("fit", dataset, {"seed": 5000 + turn})
        job = store.job(request.key())
        job.create(request, 1.0, 1)
        job.note_end(RunState.FAILED, "a test")

    def checkpoint(turn: int) -> None:
        write_atomic(store.checkpoints(fit) / f"part{turn}", bytes(30_000), private=True)

    return {
        "data set": lambda turn: store.add_dataset(tiny_dataset(seed=10 + turn)),
        "result": publish,
        "review": lambda turn: Reviews(store.root).save(
            Review(fit, "P02", "d", f"reviewer {turn}", comment="y" * 2000)
        ),
        "job": start,
        "checkpoint": checkpoint,
        "backup": lambda turn: write_backup(store.root, disk / f"backup{turn}.zip"),
    }


def check_sound(store: Store, said: list[Review], disk: Path) -> None:
    """Everything acknowledged is there and whole; nothing else is."""
    again = Store(store.root)
    assert not any(card.damaged for card in (*again.datasets(), *again.runs()))
    assert again.fit(said[0].run).rank == 3
    assert Reviews(store.root).all() == said
    assert list(again.temporary.iterdir()) == []
    litter = [path.name for path in disk.rglob("*") if path.name.endswith((".tmp", ".part"))]
    assert litter == []


def outcome(act: Callable[[], object]) -> tuple[object, str]:
    """What came of it: an answer, or the words of a refusal."""
    try:
        return act(), ""
    except (OSError, SwiftError) as error:
        return None, str(error)


def check_sizes(store: Store, disk: Path, sizes: range) -> None:
    said = Reviews(store.root).all()
    done: Counter[str] = Counter()
    for pages in sizes:
        for name, act in actions(store, disk).items():
            before = {card.id for card in (*store.datasets(), *store.runs())}
            with filled(disk, pages):
                answer, words = outcome(lambda act=act, turn=pages: act(turn))
                assert not words or re.search(FULL[name == "review"], words), (name, pages, words)
                done[name] += not words
                if isinstance(answer, Review):
                    said.append(answer)
                check_sound(store, said, disk)
            after = {card.id for card in (*store.datasets(), *store.runs())}
            assert before <= after
            clean(store, disk, after - before)
    for name in actions(store, disk):
        assert 0 < done[name] < len(sizes), (name, done)


def clean(store: Store, disk: Path, new: set[str]) -> None:
    for place in ("datasets", "runs", "jobs"):
        for identifier in new:
            shutil.rmtree(store.root / place / identifier, ignore_errors=True)
    shutil.rmtree(store.root / "parts", ignore_errors=True)
    for path in (*disk.glob("backup*"), *Reviews(store.root).copies.paths()[1:]):
        path.unlink()


@pytest.mark.slow
def test_a_full_disk_at_forty_sizes_harms_nothing(judged: Store, disk: Path) -> None:
    check_sizes(judged, disk, SIZES)


def test_a_restore_that_does_not_fit_changes_nothing(
    judged: Store, disk: Path, tmp_path: Path
) -> None:
    write_backup(judged.root, tmp_path / "b.zip")
    second = Store(disk / "second")
    refused = 0
    for pages in SIZES:
        with filled(disk, pages):
            try:
                restore_backup(second.root, tmp_path / "b.zip")
            except (SwiftError, OSError):
                refused += 1
                assert second.datasets() == second.runs() == [] == Reviews(second.root).all()
            else:
                break
        assert list(second.temporary.iterdir()) == []
    assert 0 < refused < len(SIZES)
    assert Reviews(second.root).all() == Reviews(judged.root).all()


def test_on_a_full_disk_runs_can_be_deleted_to_make_room(judged: Store, disk: Path) -> None:
    dataset = judged.datasets()[0].id
    old = judged.publish_run(
        Request("fit", dataset, {"seed": 1}), {"model.npz": bytes(99_000)}, 1, 1
    )
    with filled(disk, 0):
        judged.delete_run(old)
        assert list(judged.temporary.iterdir()) == []
        Reviews(judged.root).save(Review("r", "P01", "d", "anna"))


def test_on_a_full_disk_what_can_be_computed_again_makes_way(judged: Store, disk: Path) -> None:
    dataset = judged.datasets()[0].id
    big = {"model.npz": bytes(400_000)}
    old = judged.publish_run(Request("fit", dataset, {"seed": 1}), big, 1.0, 1.0)
    with filled(disk, 20):
        new = judged.publish_run(Request("fit", dataset, {"seed": 2}), big, 2.0, 1.0)
        states = {card.id: card.state for card in judged.runs()}
        assert states[new] is RunState.DONE and states[old] is RunState.REMOVED


def test_a_read_only_folder_is_read_and_refuses_in_words(
    fitted_store: Store, fit_id: str, tmp_path: Path
) -> None:
    reviews = Reviews(fitted_store.root)
    said = reviews.save(Review(fit_id, "P01", "d", "anna"))
    (fitted_store.root / "samples-seeded").touch()
    (fitted_store.temporary / "1-litter").mkdir()
    with read_only(fitted_store.root):
        store = Store(fitted_store.root)
        seed_samples(store)
        assert store.fit(fit_id).rank == 3 and Reviews(store.root).latest(fit_id) == [said]
        with pytest.raises(ReviewsUnavailable, match=r"may not be written.*Make the data folder"):
            Reviews(store.root).save(Review(fit_id, "P02", "d", "anna"))
        with pytest.raises(OSError, match="Read-only"):
            store.add_dataset(tiny_dataset(seed=4))
        write_backup(store.root, tmp_path / "b.zip")
    restore_backup(tmp_path / "second", tmp_path / "b.zip")
    assert Reviews(tmp_path / "second").all() == [said]
