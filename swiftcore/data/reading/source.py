"""Where bytes come from: a file, a folder or a zip, read under one budget, never extracted."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any

from swiftcore.data.options import MEGABYTE, Limits
from swiftcore.data.reading.unpacking import (
    GZIP_MAGIC,
    Gunzip,
    check_entries,
    gunzip_head,
    zip_pieces,
)
from swiftcore.errors import refuse


class Budget:
    """Counts decoded bytes over all files of one path and stops at the cap."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.spent = 0

    def spend(self, amount: int, where: str) -> None:
        self.spent += amount
        if self.spent > self.limits.decoded_mb * MEGABYTE:
            raise refuse(
                "too-many-bytes",
                "The data grow too large when decoded",
                where,
                f"more than {self.limits.decoded_mb:,} MB",
                "Split the data, or raise the limit of decoded bytes.",
            )

    def check_announced(self, amount: int, where: str) -> None:
        """Refuse before reading when a header already announces too much."""
        if self.spent + amount > self.limits.decoded_mb * MEGABYTE:
            raise refuse(
                "too-many-bytes",
                "The data grow too large when decoded",
                where,
                f"{amount / MEGABYTE:,.0f} MB announced, the limit is "
                f"{self.limits.decoded_mb:,} MB",
                "Split the data, or raise the limit of decoded bytes.",
            )


class Source:
    """The files of one path by name; reading counts against the budget.

    A single file is a source of one name; folders and zips list what they hold. Names are
    labels only: nothing is ever written under them.
    """

    def __init__(self, path: Path, budget: Budget) -> None:
        self.path = path
        self.budget = budget
        self._readers: dict[str, Callable[[], Iterator[bytes]]] = {}
        self._sizes: dict[str, int] = {}
        self._archive: zipfile.ZipFile | None = None
        self._paths: dict[str, Path] = {}
        self.is_document = False
        self.opened: dict[str, Any] = {}  # workbooks and databases by name, each opened once
        if path.is_dir():
            self._list_folder()
        elif not path.exists():
            raise refuse(
                "path-missing",
                "There is no such file or folder",
                path.name,
                "nothing",
                "Check the path and its spelling.",
            )
        elif _starts_with(path, b"PK\x03\x04") and not _holds_arrays(path):
            self._list_zip()
            if is_office_document(self.names):  # a zip by its bytes, one file to people
                self._archive, self._readers, self._sizes = None, {}, {}
                self.is_document = True
                self._add(path.name, path)
        else:
            self._add(path.name, path)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._readers))

    @property
    def is_archive(self) -> bool:
        return self._archive is not None

    def size(self, name: str) -> int:
        """Bytes as stored (a folder's file) or as announced (a zip's entry)."""
        return self._sizes[name]

    def path_of(self, name: str) -> Path | None:
        """Where a file lies on the disk; None inside an archive."""
        return self._paths.get(name)

    def head(self, name: str, count: int = 65_536) -> bytes:
        """The first bytes of a file as stored, before any gz is undone."""
        pieces, have = [], 0
        for piece in self._readers[name]():
            pieces.append(piece)
            have += len(piece)
            if have >= count:
                break
        return b"".join(pieces)[:count]

    def unpacked_head(self, name: str, count: int = 65_536) -> bytes:
        """The first bytes of a file, with gz undone."""
        head = self.head(name, count)
        return gunzip_head(head, name, count) if head.startswith(GZIP_MAGIC) else head

    def read(self, name: str) -> bytes:
        """The whole file, with gz undone, counted against the budget.

        Raises
        ------
        InvalidData
            When the file is damaged, is a compression bomb, or breaks the budget.
        """
        self.budget.check_announced(self._sizes[name], name)
        unpack: Gunzip | None = None
        out: list[bytes] = []
        for position, piece in enumerate(self._readers[name]()):
            if position == 0 and piece.startswith(GZIP_MAGIC):
                unpack = Gunzip(name)
            for decoded in unpack.feed(piece) if unpack else (piece,):
                out.append(decoded)
                self.budget.spend(len(decoded), name)
        if unpack:
            unpack.finish()
        return out[0] if len(out) == 1 else b"".join(out)

    def _add(self, name: str, path: Path) -> None:
        with _open_regular(path) as handle:
            self._sizes[name] = os.fstat(handle.fileno()).st_size
        self._paths[name] = path
        self._readers[name] = lambda: _file_pieces(path)

    def _list_folder(self) -> None:
        for folder, subfolders, files in os.walk(self.path):
            subfolders[:] = sorted(sub for sub in subfolders if not sub.startswith("."))
            for file in sorted(files):
                full = Path(folder) / file
                if not file.startswith(".") and full.is_file():
                    self._add(full.relative_to(self.path).as_posix(), full)
                    self._check_entries(len(self._readers))
        self._check_filled("folder")

    def _check_entries(self, count: int) -> None:
        if count > self.budget.limits.entries:
            raise refuse(
                "too-many-files",
                "There are too many files",
                self.path.name,
                f"more than {self.budget.limits.entries:,}",
                "Choose a folder or archive that holds the data alone.",
            )

    def _list_zip(self) -> None:
        self._archive = archive = _opened_zip(self.path)
        entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
        self._check_entries(len(entries))
        check_entries(entries, self.path.name)
        self.budget.check_announced(sum(entry.file_size for entry in entries), self.path.name)
        for entry in entries:
            name = PurePosixPath(entry.filename.replace("\\", "/"))
            hidden = name.name.startswith(".") or "__MACOSX" in name.parts
            label = str(name)
            if label in self._readers:
                raise refuse(
                    "zip-twice",
                    "Two entries of the archive have the same name",
                    self.path.name,
                    f"'{label[:60]}' twice",
                    "Make the archive again with each file once.",
                )
            if not hidden:
                self._sizes[label] = entry.file_size
                self._readers[label] = lambda entry=entry: zip_pieces(archive, entry)  # type: ignore[misc]
        self._check_filled("archive")

    def _check_filled(self, container: str) -> None:
        if not self._readers:
            raise refuse(
                "folder-empty",
                f"The {container} holds no files",
                self.path.name,
                "0 files",
                f"Choose the {container} that holds the tables or texts.",
            )


def is_office_document(names: Sequence[str]) -> bool:
    """Whether the entries of a zip are the parts of a workbook or a text document."""
    return "[Content_Types].xml" in names or "META-INF/manifest.xml" in names


def _opened_zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(_open_regular(path))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise refuse(
            "zip-damaged",
            "The zip archive cannot be read",
            path.name,
            str(error),
            "Make the archive again.",
        ) from error


def _open_regular(path: Path) -> BufferedReader:
    """Open a regular file; pipes, devices and the like are refused without waiting on them."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise refuse(
            "file-unreadable",
            "The file cannot be opened",
            path.name,
            error.strerror or "an error",
            "Check the path and the rights.",
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise refuse(
            "not-a-file",
            "This is not a regular file",
            path.name,
            "a pipe or device",
            "Save the data in a file first.",
        )
    return os.fdopen(descriptor, "rb")


def _file_pieces(path: Path) -> Iterator[bytes]:
    with _open_regular(path) as handle:
        while piece := handle.read(16 * MEGABYTE):
            yield piece


def _holds_arrays(path: Path) -> bool:
    """Whether a zip is an .npz: arrays are read by their headers, not as files."""
    with _open_regular(path) as handle:
        head = handle.read(300)
    first_name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    return first_name.endswith(b".npy")


def _starts_with(path: Path, magic: bytes) -> bool:
    with _open_regular(path) as handle:
        return handle.read(len(magic)) == magic
