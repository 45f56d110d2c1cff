"""Fits that are killed in the middle: of the store, of the command line, of a consensus."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dashboard.jobs import jobs
from dashboard.store.cards import RunState
from dashboard.store.job_state import FIT_STATE, Job
from dashboard.store.request import Request
from dashboard.store.store import Store
from support.killed import Life, Say, Words, spawn
from support.tiny_store import tiny_dataset
from swiftcore.cli.fit import RESULTS, STATE
from swiftcore.model_file import read_model
from swiftcore.swift.checkpoint import FitCheckpoint, finished_fits, kept_iteration

FIT = {"rank": 3, "tolerance": 0.0, "max_iterations": 30}


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

    def write(self: FitFile, state: FitState) -> bool:
        kept = real(self, state)
        if state.restarts is None and state.loop is not None:
            say(str(max(0, len(state.loop.history) - 1)))
        return kept

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
