"""What is not finished is spared while its owner lives, and goes with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from support.tiny_store import ROOT

from dashboard.store.store import Store
from dashboard.store.temporary import remove, sweep, temporary_place

HOLDS_A_PLACE = """
import sys, time
from pathlib import Path
from dashboard.store.temporary import temporary_place
with temporary_place(Path(sys.argv[1])) as place:
    place.mkdir()
    (place / "half").write_bytes(b"x")
    print(place, flush=True)
    time.sleep(60)
"""


def holder(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process with something unfinished, and where that lies."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS_A_PLACE, str(temporary)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_place_is_spared_while_its_owner_lives_and_swept_after_a_kill(store: Store) -> None:
    process, place = holder(store.temporary)
    try:
        Store(store.root)
        assert (place / "half").read_bytes() == b"x"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    Store(store.root)
    assert list(store.temporary.iterdir()) == []


def test_no_process_number_protects_litter(store: Store) -> None:
    """In a container the server is number 1; elsewhere a number is given away again."""
    for owner in (1, os.getpid(), os.getppid()):
        (store.temporary / f"{owner}-abc").mkdir()
        (store.temporary / f"{owner}-abc" / "half").write_bytes(b"x")
        (store.temporary / f"{owner}-file").write_bytes(b"x")
    (store.temporary / "0123.lock").touch()
    Store(store.root)
    assert list(store.temporary.iterdir()) == []


def test_ones_own_place_is_spared_and_gone_in_the_end(store: Store) -> None:
    with temporary_place(store.temporary) as folder, temporary_place(store.temporary) as file:
        folder.mkdir()
        file.write_bytes(b"x")
        sweep(store.temporary)
        assert folder.is_dir() and file.is_file()
    assert list(store.temporary.iterdir()) == []


def test_a_forked_child_does_not_free_what_its_parent_holds(store: Store) -> None:
    with temporary_place(store.temporary) as place:
        place.mkdir()
        child = os.fork()
        if child == 0:
            sweep(store.temporary)  # and its end closes its copies of all handles
            os._exit(0)
        os.waitpid(child, 0)
        sweep(store.temporary)
        assert place.is_dir()


def test_links_are_removed_and_not_followed(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"x")
    (store.temporary / "link").symlink_to(outside)
    sweep(store.temporary)
    assert list(store.temporary.iterdir()) == [] and (outside / "precious").exists()


def test_files_and_folders_are_removed_and_what_is_not_there_is_no_error(store: Store) -> None:
    file, folder = store.root / "runs" / "file", store.root / "runs" / "folder"
    file.write_bytes(b"x")
    folder.mkdir()
    for path in (file, folder, store.root / "runs" / "nothing"):
        remove(path, store.temporary)
    assert list((store.root / "runs").iterdir()) == list(store.temporary.iterdir()) == []


SWEEPS_AND_HOLDS = """
import sys
from pathlib import Path
from dashboard.store.temporary import sweep, temporary_place
for _ in range(300):
    with temporary_place(Path(sys.argv[1])) as place:
        place.mkdir()
        sweep(Path(sys.argv[1]))
        (place / "half").write_bytes(b"x")
"""


def test_owners_and_sweepers_at_once_take_nothing_from_each_other(store: Store) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", SWEEPS_AND_HOLDS, str(store.temporary)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(3)
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    assert list(store.temporary.iterdir()) == []
