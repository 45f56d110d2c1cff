"""Whoever writes into a store and is killed meanwhile: what was acknowledged must be there."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sqlite3
import time
from itertools import count
from pathlib import Path
from typing import Any

from dashboard.privacy import uploads
from dashboard.store.backup import write_backup
from dashboard.store.cards import RunState
from dashboard.store.job_state import FIT_STATE
from dashboard.store.request import Request
from dashboard.store.restore import restore_backup
from dashboard.store.reviews import Review, Reviews
from dashboard.store.rounds import Rounds, Settlement
from dashboard.store.store import Store
from support.killed import Life, Say, Words, spawn
from support.tiny_store import tiny_dataset
from swiftcore.evaluation.experiments.checkpoints import (
    CheckpointFolder,
    Task,
    compute_checkpoints,
)

UPLOADED = 30  # files at once


def all_of(words: Words) -> list[str]:
    return [word for life in words for word in life]


# ---- publications: results shown, and deleted


def start_publishing(root: Path, life: int) -> Life:
    return spawn(publish_and_delete, root, life)


def publish_and_delete(say: Say, root: Path, life: int) -> None:
    store = Store(root)
    dataset = store.add_dataset(tiny_dataset())
    for turn in count():
        request = Request("fit", dataset, {"seed": 100_000 * life + turn})
        store.job(request.key()).create(request, 1.0, 1)
        (store.checkpoints(request.key()) / FIT_STATE).write_bytes(b"no longer of use")
        files = {"model.npz": os.urandom(50_000), "links.json": os.urandom(5_000)}
        store.publish_run(request, files, 1.0, 1.0)
        say(f"there {request.key()}")
        if turn % 3 == 2:
            say(f"going {request.key()}")
            store.delete_run(request.key())
            say(f"gone {request.key()}")


def check_publications(root: Path, words: Words) -> None:
    said: dict[str, set[str]] = {"there": set(), "going": set(), "gone": set()}
    for word in all_of(words):
        what, run_id = word.split()
        said[what].add(run_id)
    cards = {card.id: card for card in Store(root).runs() if card.state is RunState.DONE}
    assert said["there"] - said["going"] <= set(cards), "an acknowledged result is lost"
    assert not said["gone"] & set(cards), "a deleted result is back"
    assert not any(card.damaged for card in cards.values())


# ---- reviews


def start_reviewing(root: Path, _: int) -> Life:
    return spawn(save_reviews, root)


def save_reviews(say: Say, root: Path) -> None:
    rounds = Rounds(Reviews(root))
    for turn in count():
        who = f"anna {os.getpid()} {turn}"  # a round is closed once
        review = Review("r", f"P{turn:02d}", "d", who, comment="x" * 3_000)
        rounds.keep_draft("r", who, review.phenotype, {"comment": review.comment})
        saved = rounds.reviews.save(review)
        rounds.agree_on([Settlement("r", review.phenotype, "d", "yes", str(saved.id))])
        rounds.close("r", who)
        say(str(saved.id))


def check_reviews(root: Path, words: Words) -> None:
    reviews = Reviews(root)
    kept = {one.id: one for one in reviews.all() if one.run == "r"}
    settled = {Settlement(*row).name for row in reviews.rows("settlements")}
    closed = Rounds(reviews).closed("r")
    for word in all_of(words):
        assert int(word) in kept, "a review is lost"
        assert word in settled, "a settlement is lost"
        assert kept[int(word)].reviewer in closed, "a round is open again"
    assert all(len(review.comment) == 3_000 for review in kept.values())
    with contextlib.closing(sqlite3.connect(root / "reviews.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# ---- uploads


def start_uploading(root: Path, life: int) -> Life:
    return spawn(save_uploads, root, life)


def save_uploads(say: Say, root: Path, life: int) -> None:
    for turn in count():
        name = f"{life}-{turn}"
        content = f"{name}\n".encode() * 2_000
        files = [(f"{number}.csv", io.BytesIO(content)) for number in range(UPLOADED)]
        say(f"{name} {uploads.save(files, root / 'uploads')}")
        time.sleep(0.005)  # so that the file system's clock tells which is the newest


def check_uploads(root: Path, words: Words) -> None:
    # The newest are kept; in every life one more may have been saved, and nobody was told.
    newest = [word for life in words[::-1] for word in (None, *life[::-1])][: uploads.MAX_KEPT]
    for word in filter(None, newest):
        name, _, path = word.partition(" ")
        assert (Path(path) / "0.csv").read_bytes() == f"{name}\n".encode() * 2_000
    for folder in (root / "uploads").glob("*/upload"):
        assert len(list(folder.iterdir())) == UPLOADED  # never half


# ---- checkpoints: finished parts of an experiment


def start_parts(root: Path, life: int) -> Life:
    store = Store(root)
    request = Request("stability", store.add_dataset(tiny_dataset()))
    job = store.job(request.key())
    if not job.exists:
        job.create(request, 1.0, 1)
    started = spawn(compute_parts, job.parts, life)
    job.note_process(started.process.pid or 0)
    return started


def compute_parts(say: Say, folder: Path, life: int) -> None:
    tasks = [Task(f"{number:064x}", str(number), (number,)) for number in range(100 * (life + 1))]
    compute_checkpoints(tasks, slow_part, folder, progress=lambda done: say(done.what))


def slow_part(number: int) -> dict[str, Any]:
    time.sleep(1e-3)
    return part(number)


def part(number: int) -> dict[str, Any]:
    return {"number": number, "values": list(range(3_000))}


def check_parts(root: Path, words: Words) -> None:
    (card,) = Store(root).runs()
    assert not card.state.active
    folder = CheckpointFolder(root / "parts" / card.id)
    files = {path.stem for path in (root / "parts" / card.id).iterdir()}
    assert {f"{int(word):064x}" for word in all_of(words)} <= files, "a finished part is lost"
    assert all(folder.get(key) == part(int(key, 16)) for key in files)
    if files:
        assert "done so far" in card.message


# ---- backups: the newest that was written can be restored, and holds all that was there


def start_backing_up(root: Path, life: int) -> Life:
    return spawn(back_up, root, life)


def back_up(say: Say, root: Path, life: int) -> None:
    store = Store(root)
    dataset = store.add_dataset(tiny_dataset())
    for turn in count():
        request = Request("fit", dataset, {"seed": 100_000 * life + turn})
        store.publish_run(request, {"model.npz": os.urandom(50_000)}, 1.0, 1.0)
        Reviews(root).save(Review(request.key(), "P01", "d", "anna"))
        write_backup(root, backup_file(root))
        say(request.key())


def backup_file(root: Path) -> Path:
    """Not in the store, as a person would have it."""
    return root.with_name("store.backup")


def check_backup(root: Path, words: Words) -> None:
    if not (said := all_of(words)) and not backup_file(root).exists():
        return
    again = root.with_name("restored")
    shutil.rmtree(again, ignore_errors=True)
    restore_backup(again, backup_file(root))
    restored = {card.id: card for card in Store(again).runs()}
    assert set(said) <= set(restored) and not any(card.damaged for card in restored.values())
    assert all(Reviews(again).latest(run_id) for run_id in said)


def finish_backup(root: Path) -> None:
    write_backup(root, backup_file(root))
    beside = {path.name for path in root.parent.iterdir()}
    assert beside <= {root.name, "store.backup", "restored"}, "a draft was left beside the backup"
