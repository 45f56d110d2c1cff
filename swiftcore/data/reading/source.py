"""Where bytes come from: a file, a folder or a zip, read under one budget, never extracted."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path, PurePosixPath

from swiftcore.data.options import MEGABYTE, Limits
from swiftcore.errors import refuse

CHUNK = MEGABYTE
HARMLESS = 64 * MEGABYTE  # below this no compression ratio is suspicious
MAX_RATIO = 500  # tables of plain text reach 100 at most
GZIP_MAGIC = b"\x1f\x8b"


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

    def head(self, name: str, count: int = 65_536) -> bytes:
        """The first bytes of a file as stored, before any gz is undone."""
        pieces, have = [], 0
        for piece in self._readers[name]():
            pieces.append(piece)
            have += len(piece)
            if have >= count:
                break
        return b"".join(pieces)[:count]

    def read(self, name: str) -> bytes:
        """The whole file, with gz undone, counted against the budget.

        Raises
        ------
        InvalidData
            When the file is damaged, is a compression bomb, or breaks the budget.
        """
        unpack: _Gunzip | None = None
        out: list[bytes] = []
        for position, piece in enumerate(self._readers[name]()):
            if position == 0 and piece.startswith(GZIP_MAGIC):
                unpack = _Gunzip(name)
            for decoded in unpack.feed(piece) if unpack else (piece,):
                out.append(decoded)
                self.budget.spend(len(decoded), name)
        if unpack:
            unpack.finish()
        return out[0] if len(out) == 1 else b"".join(out)

    def _add(self, name: str, path: Path) -> None:
        with _open_regular(path) as handle:
            self._sizes[name] = os.fstat(handle.fileno()).st_size
        if self._sizes[name] > self.budget.limits.decoded_mb * MEGABYTE:
            self.budget.check_announced(self._sizes[name], name)
        self._readers[name] = lambda: _file_pieces(path)

    def _list_folder(self) -> None:
        for folder, subfolders, files in os.walk(self.path):
            subfolders[:] = sorted(sub for sub in subfolders if not sub.startswith("."))
            for file in sorted(files):
                full = Path(folder) / file
                if not file.startswith(".") and full.is_file():
                    self._add(full.relative_to(self.path).as_posix(), full)
                    self._check_entries(len(self._readers))
        if not self._readers:
            raise refuse(
                "folder-empty",
                "The folder holds no files",
                self.path.name,
                "0 files",
                "Choose the folder that holds the tables or texts.",
            )

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
        try:
            self._archive = archive = zipfile.ZipFile(_open_regular(self.path))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise refuse(
                "zip-damaged",
                "The zip archive cannot be read",
                self.path.name,
                str(error),
                "Make the archive again.",
            ) from error
        entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
        self._check_entries(len(entries))
        check_entries(archive, entries, self.path.name)
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
                self._readers[label] = lambda entry=entry: _zip_pieces(archive, entry)  # type: ignore[misc]
        if not self._readers:
            raise refuse(
                "folder-empty",
                "The archive holds no files",
                self.path.name,
                "0 files",
                "Choose the archive that holds the tables or texts.",
            )


class _Gunzip:
    """Undo gz piece by piece, several members in a row, without trusting announced sizes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.taken = 0
        self.produced = 0
        self._member = zlib.decompressobj(31)
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self.taken += len(data)
        while data:
            if self._ended:
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._member, self._ended = zlib.decompressobj(31), False
            try:
                piece = self._member.decompress(data, CHUNK)
            except zlib.error as error:
                raise refuse(
                    "gz-damaged",
                    "The gz file is damaged",
                    self.name,
                    str(error),
                    "Make the file again or copy it afresh.",
                ) from error
            self.produced += len(piece)
            self._check_ratio()
            if piece:
                yield piece
            self._ended = self._member.eof
            data = self._member.unused_data if self._ended else self._member.unconsumed_tail

    def _check_ratio(self) -> None:
        if self.produced > max(HARMLESS, MAX_RATIO * self.taken):
            raise refuse(
                "compression-bomb",
                "The file unpacks to far more than data ever do",
                self.name,
                f"more than {MAX_RATIO} times its size",
                "Unpack it yourself and give the plain file.",
            )

    def finish(self) -> None:
        if not self._ended:
            raise refuse(
                "gz-cut-off",
                "The gz file ends too early",
                self.name,
                f"{self.produced:,} bytes and no end mark",
                "Copy the file again; it was cut off.",
            )


def check_entries(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], where: str) -> None:
    """Refuse archives whose entries overlap, are locked, or claim impossible ratios."""
    end = 0
    for entry in sorted(entries, key=lambda one: one.header_offset):
        if entry.flag_bits & 0x1:
            raise refuse(
                "zip-locked",
                "An archive entry is encrypted",
                where,
                "a password lock",
                "Make the archive without a password.",
            )
        if entry.header_offset < end:
            raise refuse(
                "zip-overlap",
                "Entries of the archive lie on top of each other",
                where,
                "overlapping entries",
                "Make the archive again.",
            )
        end = entry.header_offset + 30 + len(entry.orig_filename) + entry.compress_size
        if entry.file_size > max(HARMLESS, MAX_RATIO * max(entry.compress_size, 1)):
            raise refuse(
                "compression-bomb",
                "The file unpacks to far more than data ever do",
                where,
                f"{entry.file_size // max(entry.compress_size, 1):,} times its size",
                "Unpack it yourself and give the plain files.",
            )


def _zip_pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(entry) as handle:
            while piece := handle.read(CHUNK):
                yield piece
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        raise refuse(
            "zip-damaged",
            "An entry of the archive cannot be read",
            entry.filename,
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
        while piece := handle.read(16 * CHUNK):
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
