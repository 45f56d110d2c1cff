"""Files a person hands over: kept privately under safe names until they are read.

The name of a file is a label and nothing else: it never chooses a folder. Files on the server
are read only below the root that was configured, after every link has been followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from dashboard.privacy.held_folder import held, sweep_unheld
from swiftcore.errors import refuse

ROOT_SETTING = "SWIFT_DATA_ROOT"
UPLOADS = "uploads"  # the folder of the store that the files are kept in
DRAFT = "draft-"
BLOCK = 1024 * 1024
MAX_KEPT = 6
MAX_AGE_SECONDS = 24 * 3600.0
MAX_LISTED = 400
Content = Path | BinaryIO
"""A file on the disk, or one that can be read."""
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def safe_name(name: str) -> str:
    """A file name of plain letters, digits, dots and dashes that can do no harm."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", last)[-80:].lstrip("._-")
    return f"file_{plain}" if not plain or _DEVICES.match(plain) else plain


def save(files: Sequence[tuple[str, Content]], root: Path) -> Path:
    """Put files into a private folder named by their content; the path to read.

    The same files give the same path and are not put there again; no file is read into memory.
    Folders of earlier uploads are removed when there are too many or they are a day old.
    """
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(f"{safe_name(name)}\0{_digest(content)}\0".encode())
    folder = root / digest.hexdigest() / "upload"
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.is_dir():
        with _draft(root) as draft:
            (draft / "upload").mkdir(mode=0o700)
            for name, content in files:
                _put(content, _free_name(draft / "upload", safe_name(name)))
            _rename(draft, folder.parent)
    os.utime(folder.parent)
    _drop_old(root, folder.parent)
    names = sorted(folder.iterdir())
    return names[0] if len(names) == 1 else folder


def _draft(root: Path) -> contextlib.AbstractContextManager[Path]:
    """A new folder that goes in the end, unless it was renamed."""
    return held(root / f"{DRAFT}{secrets.token_hex(8)}")


def sweep_drafts(root: Path) -> None:
    """Remove what servers have left that were killed while they kept files."""
    sweep_unheld(root, f"{DRAFT}*")


def private_folder(path: Path, root: Path) -> Path:
    """Where to leave what is made of a path: with its upload, or for files of the server apart.

    It is private, and removed by :func:`forget` or when it is old.
    """
    whole, top = path.resolve(), root.resolve()
    if whole.is_relative_to(top):
        return root / whole.relative_to(top).parts[0]
    folder = root / hashlib.sha256(str(whole).encode("utf-8", "surrogateescape")).hexdigest()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    os.utime(folder)
    _drop_old(root, folder)
    return folder


def forget(path: Path, root: Path) -> None:
    """Remove the upload that a path of :func:`save` belongs to, and what was made of a path."""
    _remove(private_folder(path, root), root)


def looks(path: Path) -> str:
    """A digest that changes whenever a file of the path does, as far as the system notes it."""
    digest = hashlib.sha256()
    for one in sorted([path, *path.rglob("*")] if path.is_dir() else [path]):
        with contextlib.suppress(OSError):
            found = one.stat()
            digest.update(f"{one}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _digest(content: Content) -> str:
    if isinstance(content, Path):
        found = content.stat()
        return _digest_of_file(content, found.st_size, found.st_mtime_ns)
    content.seek(0)
    return hashlib.file_digest(content, "sha256").hexdigest()


@lru_cache(maxsize=256)
def _digest_of_file(path: Path, size: int, changed: int) -> str:
    """Pages are drawn often; a file that has not changed is read once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _put(content: Content, target: Path) -> None:
    """The content under a name, for its owner only: a second name for a file, else a copy."""
    if isinstance(content, Path):
        with contextlib.suppress(OSError):  # a disk without links
            os.link(content, target)
            return
        with content.open("rb") as file:
            _put(file, target)
        return
    content.seek(0)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(content, file, BLOCK)


def _rename(draft: Path, target: Path) -> None:
    try:
        os.rename(draft, target)
    except OSError:
        if not target.is_dir():  # else another tab kept the same files at the same moment
            raise


def _free_name(folder: Path, name: str) -> Path:
    number = 1
    while (folder / name).exists():
        number += 1
        name = f"{number}_{name.split('_', 1)[-1] if number > 2 else name}"
    return folder / name


def _drop_old(root: Path, current: Path) -> None:
    folders = [one for one in root.iterdir() if one.is_dir() and not one.name.startswith(DRAFT)]
    ages = sorted(((one.stat().st_mtime, one) for one in folders), reverse=True)
    for place, (made, folder) in enumerate(ages):
        old = place >= MAX_KEPT or time.time() - made > MAX_AGE_SECONDS
        if old and folder != current:
            _remove(folder, root)


def _remove(folder: Path, root: Path) -> None:
    """Take a folder away by one rename: killed in the middle, this leaves it whole or a draft."""
    with _draft(root) as gone, contextlib.suppress(OSError):  # another tab may do the same
        os.rename(folder, gone / folder.name)


def server_root() -> Path | None:
    """The folder on the server whose files may be read; None when none is configured."""
    named = os.environ.get(ROOT_SETTING, "").strip()
    root = Path(named).resolve() if named else None
    return root if root and root.is_dir() else None


def on_server(root: Path) -> list[str]:
    """Folders and files below the root, at most three levels deep, to choose from."""
    found: list[str] = []
    for path in _walk(root, 3):
        found.append(path.relative_to(root).as_posix())
        if len(found) >= MAX_LISTED:
            break
    return found


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    inner = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    for path in inner:
        if path.is_symlink():
            continue
        if path.is_dir():
            yield path
            if depth > 1 and os.access(path, os.R_OK | os.X_OK):
                yield from _walk(path, depth - 1)
        elif path.is_file():
            yield path


def inside(root: Path, typed: str) -> Path:
    """The file or folder that a typed path means, if it lies below the root.

    Raises
    ------
    InvalidData
        When it leads outside, holds links that do, or is no regular file or folder.
    """
    try:
        path = (root / typed).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise refuse(
            "path-missing",
            "There is no such file or folder",
            "the data folder of the server",
            "nothing",
            "Choose one from the list.",
        ) from None
    if not path.is_relative_to(root) or path == root:
        raise refuse(
            "path-outside",
            "This path leads out of the data folder",
            "the data folder of the server",
            "another place",
            "Choose a file or folder inside it.",
        )
    for one in [path, *(path.rglob("*") if path.is_dir() else ())]:
        kind = one.lstat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise refuse(
                "path-not-plain",
                "Only plain files and folders are read",
                "the data folder of the server",
                "a link, a pipe or a device",
                "Copy the data themselves here.",
            )
    return path
