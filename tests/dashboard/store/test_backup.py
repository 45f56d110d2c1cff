"""A backup restored into a second folder equals the first; what is no backup is refused whole."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.harmed_reviews import HARM
from support.opened_page import damage
from support.tiny_store import ROOT, tiny_dataset

from dashboard.store.backup import SEALED, write_backup
from dashboard.store.keeping import is_kept, set_kept
from dashboard.store.request import Request
from dashboard.store.restore import restore_backup
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from dashboard.store.verified_folder import seal_text
from swiftcore.cli import main
from swiftcore.errors import InvalidData, InvalidSettings, SwiftError


@pytest.fixture
def full(fitted_store: Store, fit_id: str) -> Store:
    """Two data sets, three runs, judgements, a mark; and a job that failed, which stays out."""
    other = fitted_store.add_dataset(tiny_dataset(seed=1))
    for seed in (1, 2):
        files = {"model.npz": os.urandom(30_000), "links.json": b"{}"}
        fitted_store.publish_run(Request("fit", other, {"seed": seed}), files, 1.0, 2.0)
    reviews = Reviews(fitted_store.root)
    reviews.save(Review(fit_id, "P01", "d", "Dr A", name="Fever", verdict="yes"))
    reviews.save(Review(fit_id, "P01", "d", "Dr A", name="Fever?", verdict="no"))
    reviews.save(Review(fit_id, "P02", "d", "Dr B", comment="'; DROP TABLE <b>\0\n"))
    set_kept(fitted_store.root, fit_id, True)
    (fitted_store.root / "samples-seeded").touch()
    return fitted_store


def sealed_bytes(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for place in SEALED
        for path in (root / place).rglob("*")
        if path.is_file()
    }


def everything(root: Path) -> tuple[object, ...]:
    store = Store(root)
    return sealed_bytes(root), store.datasets(), store.runs(), Reviews(root).all()


def test_a_restored_backup_equals_the_store(full: Store, fit_id: str, tmp_path: Path) -> None:
    done = write_backup(full.root, tmp_path / "store.zip")
    assert (done.datasets, done.runs, done.judgements, done.left_out) == (2, 3, 3, [])
    assert stat.S_IMODE((tmp_path / "store.zip").stat().st_mode) == 0o600
    second = tmp_path / "second"
    found = restore_backup(second, tmp_path / "store.zip")
    assert (found.datasets, found.runs, found.judgements, found.there) == (2, 3, 3, 0)
    assert everything(second) == everything(full.root)
    assert is_kept(second, fit_id) and (second / "samples-seeded").exists()
    first, again = full.fit(fit_id), Store(second).fit(fit_id)
    assert all(np.array_equal(*pair) for pair in zip(first.factors, again.factors, strict=True))
    for path in [second, *second.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert list((second / "temporary").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_the_same_store_gives_the_same_bytes_and_no_rubbish(full: Store, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_backup(full.root, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    names = set(zipfile.ZipFile(tmp_path / "one").namelist())
    assert not any(name.startswith(("jobs", "locks", "temporary", "uploads")) for name in names)


def test_what_is_there_stays_and_judgements_are_joined(
    full: Store, fit_id: str, tmp_path: Path
) -> None:
    write_backup(full.root, tmp_path / "store.zip")
    second = tmp_path / "second"
    mine = Store(second)
    own = mine.add_dataset(tiny_dataset(seed=7))
    said = Reviews(second).save(Review("o" * 32, "P01", "d", "Dr C", comment="mine"))
    for _ in range(2):
        restore_backup(second, tmp_path / "store.zip")
        assert {card.id for card in mine.datasets()} == {own, *(c.id for c in full.datasets())}
        rows = Reviews(second).all()
        assert said in rows and len(rows) == 4
        bare = [replace(one, id=0) for one in rows]
        assert all(replace(one, id=0) in bare for one in Reviews(full.root).all())
        assert Reviews(second).latest(fit_id)[0].name == "Fever?"
    later = Reviews(second).save(Review(fit_id, "P01", "d", "Dr A", name="At last"))
    restore_backup(second, tmp_path / "store.zip")  # what is older never hides what is newer
    assert later in Reviews(second).latest(fit_id)


def test_damage_is_left_out_and_replaced_by_what_is_sound(
    full: Store, fit_id: str, tmp_path: Path
) -> None:
    write_backup(full.root, tmp_path / "sound.zip")
    before = everything(full.root)
    damage(full, fit_id)
    HARM["second page"](full.root / "reviews.sqlite")
    done = write_backup(full.root, tmp_path / "partly.zip")
    assert done.runs == 2 and done.judgements == 3 and len(done.left_out) == 2
    found = restore_backup(full.root, tmp_path / "sound.zip")
    assert (found.datasets, found.runs, found.there) == (0, 1, 4) and "aside" in found.notes[0]
    assert everything(full.root) == before


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None], *, sealed: bool) -> Path:
    """The backup with other members; sealed anew if asked, as a hostile program would."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    if sealed:
        files.pop("SHA256SUMS", None)
        sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        files["SHA256SUMS"] = seal_text(sums)
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target


def _dataset_file(files: dict[str, bytes]) -> str:
    return next(name for name in files if name.endswith("data.swift.npz"))


CHANGES: dict[str, tuple[Callable[[dict[str, bytes]], object], bool]] = {
    "a changed byte": (lambda f: f.update({_dataset_file(f): b"x" + f[_dataset_file(f)]}), False),
    "a resealed byte": (lambda f: f.update({_dataset_file(f): b"x"}), True),
    "a missing file": (lambda f: f.pop(_dataset_file(f)), False),
    "a folder without its seal": (
        lambda f: f.pop(next(name for name in f if name.endswith("/SHA256SUMS"))),
        True,
    ),
    "a path upwards": (lambda f: f.update({"../evil": b"x"}), True),
    "an absolute path": (lambda f: f.update({"/etc/evil": b"x"}), True),
    "a hidden way up": (lambda f: f.update({f"runs/{'a' * 32}/..": b"x"}), True),
    "a job": (lambda f: f.update({f"jobs/{'a' * 32}/job.json": b"{}"}), True),
    "another format": (lambda f: f.update({"backup.json": b'{"format": "swift-backup 9"}'}), True),
    "no format": (lambda f: f.update({"backup.json": b"[]"}), True),
    "a bomb": (lambda f: f.update({f"runs/{'a' * 32}/model.npz": bytes(200 << 20)}), True),
    "no database": (lambda f: f.update({"reviews.sqlite": b"nonsense" * 600}), True),
    "no seal": (lambda f: f.pop("SHA256SUMS"), False),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_or_hostile_backup_changes_nothing(
    name: str, full: Store, tmp_path: Path
) -> None:
    write_backup(full.root, tmp_path / "store.zip")
    change, sealed = CHANGES[name]
    changed = rewritten(tmp_path / "store.zip", change, sealed=sealed)
    second = tmp_path / "second"
    Store(second)
    with pytest.raises(SwiftError):
        restore_backup(second, changed)
    assert sealed_bytes(second) == {} and Reviews(second).all() == []
    assert list((second / "temporary").iterdir()) == [] and not (tmp_path / "evil").exists()


def test_cut_or_foreign_files_are_refused_in_words(full: Store, tmp_path: Path) -> None:
    write_backup(full.root, tmp_path / "store.zip")
    whole = (tmp_path / "store.zip").read_bytes()
    for content in (b"", b"PK", b"text", whole[: len(whole) // 2], whole[:-1], bytes(1000)):
        (tmp_path / "cut.zip").write_bytes(content)
        with pytest.raises(InvalidData):
            restore_backup(tmp_path / "second", tmp_path / "cut.zip")
    with pytest.raises(FileNotFoundError):
        restore_backup(tmp_path / "second", tmp_path / "nothing.zip")
    assert not (tmp_path / "second").exists() or sealed_bytes(tmp_path / "second") == {}


def test_flipped_bytes_never_bring_anything_false(full: Store, tmp_path: Path) -> None:
    write_backup(full.root, tmp_path / "store.zip")
    whole, rng = (tmp_path / "store.zip").read_bytes(), np.random.default_rng(4)
    right, refused = sealed_bytes(full.root), 0
    for turn, place in enumerate(rng.integers(0, len(whole), 25).tolist()):
        content = bytearray(whole)
        content[place] ^= 0x10
        (tmp_path / "flipped.zip").write_bytes(content)
        second = tmp_path / f"second {turn}"
        try:
            restore_backup(second, tmp_path / "flipped.zip")
        except InvalidData:
            refused += 1
            assert not second.exists() or sealed_bytes(second) == {}
        else:  # a byte that says nothing, such as a date
            assert sealed_bytes(second) == right
    assert refused > 15


def test_only_an_older_backup_is_written_over(full: Store, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.zip"
    with zipfile.ZipFile(thesis, "w") as archive:
        archive.writestr("chapter", "text")
    before = thesis.read_bytes()
    with pytest.raises(InvalidSettings, match="no backup"):
        write_backup(full.root, thesis)
    assert thesis.read_bytes() == before
    write_backup(full.root, tmp_path / "store.zip")
    full.add_dataset(tiny_dataset(seed=3))
    assert write_backup(full.root, tmp_path / "store.zip").datasets == 3
    with pytest.raises(InvalidSettings, match="no store"):
        write_backup(tmp_path / "nowhere", tmp_path / "other.zip")
    assert not (tmp_path / "nowhere").exists() and not (tmp_path / "other.zip").exists()


def test_the_commands_say_what_they_did(
    full: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, second = tmp_path / "store.zip", tmp_path / "second"
    assert main(["backup", str(file), "--data-dir", str(full.root)]) == 0
    assert "2 data sets, 3 results, 3 judgements" in capsys.readouterr().out
    for _ in range(2):
        assert main(["restore", str(file), "--data-dir", str(second)]) == 0
    said = capsys.readouterr().out
    assert "2 data sets, 3 results, 3 judgements" in said and "5 data sets and results" in said
    assert everything(second) == everything(full.root)
    assert main(["restore", str(tmp_path / "nothing.zip"), "--data-dir", str(second)]) == 2


BACKS_UP = """
import signal, sys
from pathlib import Path
from dashboard.store import backup
signal.signal(signal.SIGINT, signal.default_int_handler)  # off for what a shell runs behind itself
real = backup._Archive.add
def slow(self, name, source):
    print("under way", flush=True)
    real(self, name, source)
    import time; time.sleep(30)
backup._Archive.add = slow
backup.write_backup(Path(sys.argv[2]), Path(sys.argv[1]))
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_backup_that_is_ended_leaves_the_older_one(
    full: Store, tmp_path: Path, end: signal.Signals
) -> None:
    file = tmp_path / "store.zip"
    write_backup(full.root, file)
    before = file.read_bytes()
    process = subprocess.Popen(
        [sys.executable, "-c", BACKS_UP, str(file), str(full.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "under way"
    with pytest.raises(InvalidSettings, match="Another backup"):
        write_backup(full.root, file)
    process.send_signal(end)
    process.wait(30)
    assert file.read_bytes() == before
    if end is signal.SIGKILL:  # what it left is written over by the next
        assert write_backup(full.root, file).runs == 3
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_large_files_go_through_in_pieces(store: Store, tmp_path: Path) -> None:
    dataset = store.add_dataset(tiny_dataset())
    rng = np.random.default_rng(0)
    big = rng.bytes(64 << 20)
    store.publish_run(Request("fit", dataset), {"model.npz": big}, 1.0, 1.0)
    del big
    code = (
        "import sys, resource; from pathlib import Path\n"
        "from dashboard.store.backup import write_backup\n"
        "from dashboard.store.restore import restore_backup\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "root, file, second = map(Path, sys.argv[1:])\n"
        "write_backup(root, file); restore_backup(second, file)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    names = [str(store.root), str(tmp_path / "b.zip"), str(tmp_path / "second")]
    out = subprocess.run(
        [sys.executable, "-c", code, *names],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    grown = int(out.stdout) * (1 if sys.platform == "darwin" else 1024)
    assert grown < 32 << 20, out.stderr
    assert sealed_bytes(tmp_path / "second") == sealed_bytes(store.root)


def test_a_backup_while_others_write_holds_whole_things(full: Store, tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            other, turn = Store(full.root), 0
            while True:
                turn += 1
                request = Request("fit", other.datasets()[0].id, {"seed": 100 + turn})
                other.publish_run(request, {"model.npz": os.urandom(5_000)}, 1.0, 1.0)
                Reviews(full.root).save(Review("r", f"P{turn:02d}", "d", "anna"))
                if turn % 2:
                    other.delete_run(request.key())
        finally:
            os._exit(1)
    try:
        for turn in range(6):
            time.sleep(0.05)
            write_backup(full.root, tmp_path / "store.zip")
            found = restore_backup(tmp_path / f"second {turn}", tmp_path / "store.zip")
            assert found.runs >= 3 and found.judgements >= 3
            assert not any(card.damaged for card in Store(tmp_path / f"second {turn}").runs())
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_the_file_can_be_read_by_any_program(full: Store, tmp_path: Path) -> None:
    write_backup(full.root, tmp_path / "store.zip")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "store.zip").read_bytes())) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("backup.json"))["format"] == "swift-backup 1"
