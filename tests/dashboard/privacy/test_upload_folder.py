"""Files handed over: their names do no harm, and nothing outside the root is read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from dashboard.privacy import uploads
from dashboard.privacy.held_folder import held
from swiftcore.errors import InvalidData

HOSTILE = [
    "../../x.csv",
    "/etc/passwd",
    "..",
    "con",
    "nul.csv",
    "a\0b\n.csv",
    "-rf",
    "x" * 4000,
    "C:\\x\\y.csv",
    "",
    ".hidden",
    "\u202egpj.csv",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_a_label_and_no_path(name: str, tmp_path: Path) -> None:
    root = tmp_path / "uploads"
    path = uploads.save([(name, BytesIO(b"patient,dx\n"))], root)
    assert path.parent.parent.parent == root and path.read_bytes() == b"patient,dx\n"
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,84}", path.name)
    assert [one.name for one in tmp_path.iterdir()] == ["uploads"]


def test_useful_names_survive() -> None:
    assert uploads.safe_name("tidy_patients.csv.gz") == "tidy_patients.csv.gz"
    assert uploads.safe_name("my folder/Fälle 2020.csv") == "F_lle_2020.csv"


def test_the_same_files_are_kept_once_and_privately(tmp_path: Path) -> None:
    files = [("a.csv", BytesIO(b"1")), ("b.csv", BytesIO(b"2"))]
    first, second = uploads.save(files, tmp_path / "u"), uploads.save(files, tmp_path / "u")
    assert first == second and sorted(p.name for p in first.iterdir()) == ["a.csv", "b.csv"]
    assert os.stat(first / "a.csv").st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "u").st_mode & 0o777 == 0o700
    assert (
        uploads.save([("a.csv", BytesIO(b"x")), ("b.csv", BytesIO(b"2"))], tmp_path / "u") != first
    )


def test_files_of_one_name_are_all_kept(tmp_path: Path) -> None:
    folder = uploads.save(
        [("a.csv", BytesIO(b"1")), ("x/a.csv", BytesIO(b"2")), ("y/a.csv", BytesIO(b"3"))],
        tmp_path / "u",
    )
    assert sorted(one.read_bytes() for one in folder.iterdir()) == [b"1", b"2", b"3"]


def test_old_uploads_are_dropped_and_one_can_be_forgotten(tmp_path: Path) -> None:
    for number in range(uploads.MAX_KEPT + 3):
        path = uploads.save([("a.csv", BytesIO(str(number).encode()))], tmp_path / "u")
    assert len(list((tmp_path / "u").iterdir())) == uploads.MAX_KEPT and path.exists()
    uploads.forget(path, tmp_path / "u")
    assert not path.exists()


def test_an_upload_that_is_being_dropped_is_whole_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [("a.csv", BytesIO(b"1")), ("b.csv", BytesIO(b"2"))]
    path = uploads.save(files, tmp_path / "u")

    def killed(folder: Path, **_: object) -> None:
        next(folder.rglob("a.csv")).unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(uploads.shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            uploads.forget(path, tmp_path / "u")
    again = uploads.save(files, tmp_path / "u")
    assert again == path and len(list(again.iterdir())) == 2


FULL_DISK = """
import io, resource, signal, sys
from pathlib import Path
from dashboard.privacy import uploads
from dashboard.privacy.held_folder import held
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the kernel refuses to write beyond a size
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    uploads.save([("a.csv", io.BytesIO(b"1")), ("b.csv", io.BytesIO(bytes(3 << 20)))],
                 Path(sys.argv[1]))
except OSError as error:
    print(error.strerror)
"""
HOLDER = """
import sys, time
from pathlib import Path
from dashboard.privacy.held_folder import held
with held(Path(sys.argv[1]) / "draft-1"):
    print("holds", flush=True)
    time.sleep(600)
"""


def test_a_full_disk_leaves_no_draft(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert "large" in answer.stdout, answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_drafts_are_swept_once_nobody_holds_them(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "holds\n"
        uploads.sweep_drafts(tmp_path)
        assert (tmp_path / "draft-1").is_dir()
        with pytest.raises(BlockingIOError), held(tmp_path / "draft-1", wait=False):
            pass
        holder.kill()
        holder.wait(60)
        uploads.sweep_drafts(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_on_the_disk_is_linked_and_not_copied(tmp_path: Path) -> None:
    came = tmp_path / "came"
    came.write_bytes(b"patient,dx\n")
    path = uploads.save([("a.csv", came)], tmp_path / "u")
    assert path.samefile(came)
    assert path == uploads.save([("a.csv", BytesIO(b"patient,dx\n"))], tmp_path / "u")
    came.unlink()
    assert path.read_bytes() == b"patient,dx\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inner = tmp_path / "data"
    (inner / "export").mkdir(parents=True)
    (inner / "export" / "a.csv").write_text("patient,dx\n")
    (tmp_path / "secret.csv").write_text("secret")
    return inner.resolve()


def test_only_what_lies_inside_the_root_is_read(root: Path) -> None:
    assert uploads.inside(root, "export") == root / "export"
    assert uploads.inside(root, "export/a.csv") == root / "export" / "a.csv"
    (root / "link.csv").symlink_to(root.parent / "secret.csv")
    for typed in (
        "..",
        "../secret.csv",
        "link.csv",
        "/etc/passwd",
        "/proc/self/mem",
        "missing",
        "",
        ".",
        "export/../../secret.csv",
        "a\0b",
        "x" * 5000,
    ):
        with pytest.raises(InvalidData) as refusal:
            uploads.inside(root, typed)
        assert refusal.value.problems[0].code.startswith("path-")


def test_links_and_pipes_within_a_folder_are_refused(root: Path) -> None:
    (root / "export" / "link.csv").symlink_to(root.parent / "secret.csv")
    with pytest.raises(InvalidData, match="plain files"):
        uploads.inside(root, "export")
    (root / "export" / "link.csv").unlink()
    os.mkfifo(root / "pipe")
    with pytest.raises(InvalidData, match="plain files"):
        uploads.inside(root, "pipe")


def test_the_root_is_what_was_configured(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(uploads.ROOT_SETTING, str(root))
    assert uploads.server_root() == root
    assert uploads.on_server(root) == ["export", "export/a.csv"]
    monkeypatch.setenv(uploads.ROOT_SETTING, str(root / "gone"))
    assert uploads.server_root() is None
    monkeypatch.delenv(uploads.ROOT_SETTING)
    assert uploads.server_root() is None
