"""What is killed in the middle, and what must hold after a restart: one scenario each.

To add one: write a function that works and says what is done, one that checks what was said
against the folder, and a line in :data:`SCENARIOS`.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from dashboard.jobs import jobs
from dashboard.privacy import uploads
from dashboard.store.backup import write_backup
from dashboard.store.cards import RunState
from dashboard.store.job_state import FIT_STATE, Job
from dashboard.store.request import Request
from dashboard.store.restore import restore_backup
from dashboard.store.reviews import Review, Reviews
from dashboard.store.rounds import Rounds, Settlement
from dashboard.store.store import Store
from support.killed import Life, Say, spawn
from support.tiny_store import tiny_dataset
from swiftcore.cli.fit import RESULTS, STATE
from swiftcore.evaluation.experiments.checkpoints import (
    CheckpointFolder,
    Task,
    compute_checkpoints,
)
from swiftcore.model_file import read_model
from swiftcore.swift.checkpoint import FitCheckpoint, finished_fits, kept_iteration

UPLOADED = 30  # files at once
FIT = {"rank": 3, "tolerance": 0.0, "max_iterations": 30}
Words = Sequence[Sequence[str]]
"""All that was acknowledged, one list for each life."""


@dataclass(frozen=True)
class Scenario:
    """One kind of work.

    Attributes
    ----------
    start : callable
        Gets the folder and which life this is; a process at work.
    check : callable
        Gets the folder, after a restart, and all that was acknowledged so far.
    words : int
        The kill comes after a random number of words up to this, and some milliseconds more.
    finish : callable, optional
        Gets the folder after the last kill: what was interrupted comes to its end.
    """

    start: Callable[[Path, int], Life]
    check: Callable[[Path, Words], None]
    words: int
    finish: Callable[[Path], None] | None = None


def no_litter(root: Path) -> None:
    """After a restart: no drafts, and only what a job can still use is kept for it."""
    assert list((root / "temporary").iterdir()) == []
    assert list(root.rglob("*.tmp")) == []
    assert list((root / "uploads").glob("draft-*")) == []
    asked = {path.name for path in (root / "jobs").iterdir()}
    done = {path.name for path in (root / "runs").iterdir()}
    assert {path.name for path in (root / "parts").iterdir()} <= asked - done


def all_of(words: Words) -> list[str]:
    return [word for life in words for word in life]


# ---- fits: whatever was kept is there, and in the end the bits are those of an undisturbed fit


def fit_request(store: Store) -> Request:
    return Request("fit", store.add_dataset(tiny_dataset(outcome=False)), FIT)


def start_fit(root: Path, _: int) -> Life:
    """Ask for a fit as a page does; its worker is forked instead of loaded anew."""
    store, lives = Store(root), []
    request = fit_request(store)
    if store.is_finished(request.key()) or store.job(request.key()).parked:
        store.delete_run(request.key())  # once more, from the beginning

    def launch(_: Store, job: Job) -> None:
        before = kept_iteration(job.parts / FIT_STATE)
        lives.append(spawn(work_on_fit, root, job.folder.name, before))
        job.note_process(lives[-1].process.pid)

    real, jobs._launch = jobs._launch, launch
    try:
        jobs.start(store, request)
    finally:
        jobs._launch = real
    return lives[0]


def work_on_fit(say: Say, root: Path, run_id: str, before: int) -> None:
    """The real worker; it keeps its state after every sweep and says which iteration that was."""
    from dashboard.jobs import compute, worker

    say(str(before))
    compute.FitCheckpoint = kept_always(say)
    worker.main([str(root), run_id])


def kept_always(say: Say) -> Callable[..., FitCheckpoint]:
    from swiftcore.swift.fit_file import FitFile, FitState

    real = FitFile.write

    def write(self: FitFile, state: FitState) -> None:
        real(self, state)
        if state.restarts is None and state.loop is not None:
            say(str(max(0, len(state.loop.history) - 1)))

    FitFile.write = write  # type: ignore[method-assign]
    return partial(FitCheckpoint, every=0.0)


def check_fit(root: Path, words: Words) -> None:
    store = Store(root)
    (card,) = store.runs()
    if card.state is RunState.DONE:
        assert not card.damaged and as_if_undisturbed(store, card.id)
        return
    kept = kept_iteration(store.job(card.id).parts / FIT_STATE)
    assert kept >= max((int(word) for word in words[-1]), default=0), (
        "a state that was kept is lost"
    )
    assert card.state is RunState.INTERRUPTED or store.job(card.id).parked, card.message
    if kept and card.state is RunState.INTERRUPTED:
        assert f"after iteration {kept}" in card.message


def as_if_undisturbed(store: Store, run_id: str) -> bool:
    other = Store(store.root.with_name(f"{store.root.name}-undisturbed"))
    if not other.is_finished(run_id):
        start_fit(other.root, 0).ended()
    mine, theirs = store.fit(run_id), other.fit(run_id)
    pairs = zip(mine.factors, theirs.factors, strict=True)
    same = all(one.tobytes() == two.tobytes() for one, two in pairs)
    return same and list(mine.history["objective"]) == list(theirs.history["objective"])


def finish_fit(root: Path) -> None:
    start_fit(root, 0).ended()
    (card,) = Store(root).runs()
    assert card.state is RunState.DONE, card.message
    check_fit(root, [[]])


# ---- fits of the command line: the same command again and again


def start_command(root: Path, _: int) -> Life:
    return spawn(work_on_command, out_folder(root))


def out_folder(root: Path) -> Path:
    """Not in the store: what a killed command left is swept by the same command, started again."""
    return root.with_name("out")


def work_on_command(say: Say, out: Path) -> None:
    from swiftcore.cli import fit, fit_means, main

    fit_means.load_data = lambda *_: tiny_dataset()  # else a process of its own reads them
    fit.FitCheckpoint = kept_always(say)
    flags = "--rank 3 --tolerance 0 --iterations 30 --jobs 1 --json"
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert main(["fit", "made up", *flags.split(), "--out", str(out)]) == 0
    say("done")


def check_command(root: Path, words: Words) -> None:
    out = out_folder(root)
    if (out / "model.npz").exists():
        read_model(out / "model.npz")  # whole, or it would be refused
    if "done" in words[-1]:
        assert {path.name for path in out.iterdir()} == set(RESULTS)
    elif words[-1]:
        kept = kept_iteration(out / STATE)
        assert kept >= int(words[-1][-1]) or (out / "model.npz").exists()


def finish_command(root: Path) -> None:
    words = start_command(root, 0).ended()
    assert words[-1] == "done"
    check_command(root, [words])
    out, undisturbed = out_folder(root), root.with_name("undisturbed")
    spawn(work_on_command, undisturbed).ended()
    mine, theirs = (read_model(folder / "model.npz") for folder in (out, undisturbed))
    for one, two in zip(mine.factors, theirs.factors, strict=True):
        assert one.tobytes() == two.tobytes()
    for name in ("phenotypes.json", "memberships.csv"):  # the others hold times
        assert (out / name).read_bytes() == (undisturbed / name).read_bytes()


# ---- a consensus of the command line: finished fits are kept


def start_consensus(root: Path, _: int) -> Life:
    return spawn(work_on_consensus, consensus_folder(root))


def consensus_folder(root: Path) -> Path:
    return root.with_name("consensus")


def work_on_consensus(say: Say, out: Path) -> None:
    from swiftcore import consensus_fits
    from swiftcore.cli import fit_means, main

    real = consensus_fits.kept_or_made

    def kept_or_made(*arguments: Any) -> Any:
        made = real(*arguments)
        say(str(finished_fits(out / STATE)))
        return made

    consensus_fits.kept_or_made = kept_or_made
    fit_means.load_data = lambda *_: tiny_dataset()  # else a process of its own reads them
    flags = "--rank 3 --consensus 4 --jobs 1 --json"
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert main(["fit", "made up", *flags.split(), "--out", str(out)]) == 0
    say("done")


def check_consensus(root: Path, words: Words) -> None:
    out = consensus_folder(root)
    if "done" in words[-1]:
        assert {path.name for path in out.iterdir()} == set(RESULTS)
    elif words[-1] and not (out / "model.npz").exists():
        assert finished_fits(out / STATE) >= int(words[-1][-1]), "a finished fit is lost"


def finish_consensus(root: Path) -> None:
    assert start_consensus(root, 0).ended()[-1] == "done"
    out, undisturbed = consensus_folder(root), root.with_name("undisturbed-consensus")
    spawn(work_on_consensus, undisturbed).ended()
    mine, theirs = (read_model(folder / "model.npz") for folder in (out, undisturbed))
    for one, two in zip(mine.factors, theirs.factors, strict=True):
        assert one.tobytes() == two.tobytes()
    for name in ("phenotypes.json", "memberships.csv"):
        assert (out / name).read_bytes() == (undisturbed / name).read_bytes()


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


SCENARIOS = {
    "fits": Scenario(start_fit, check_fit, 12, finish_fit),
    "command": Scenario(start_command, check_command, 12, finish_command),
    "consensus": Scenario(start_consensus, check_consensus, 6, finish_consensus),
    "publications": Scenario(start_publishing, check_publications, 8),
    "reviews": Scenario(start_reviewing, check_reviews, 8),
    "uploads": Scenario(start_uploading, check_uploads, 8),
    "checkpoints": Scenario(start_parts, check_parts, 20),
    "backups": Scenario(start_backing_up, check_backup, 5, finish_backup),
}
