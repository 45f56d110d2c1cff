"""Files whole or not at all, and archives that do not tell when they were made."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.runtime.repeatable_zip import zip_bytes


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, b"first")
    path.chmod(0o640)
    write_atomic(path, b"second")
    assert path.read_bytes() == b"second" and path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_private_file_is_for_its_owner_only_even_if_the_old_one_was_not(tmp_path: Path) -> None:
    path = tmp_path / "end.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_atomic(path, b"new", private=True)
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o600


def test_a_failed_rename_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("compress", [True, False])
def test_the_same_files_give_the_same_archive(compress: bool) -> None:
    files = {"b.txt": b"x" * 1000, "a.txt": b""}
    first = zip_bytes(files.items(), compress=compress, comment=b"end")
    assert first == zip_bytes(files.items(), compress=compress, comment=b"end")
    assert first.endswith(b"end") and (len(first) < 1000) is compress
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
