"""Undo gz and zip piece by piece, without trusting any size that is announced."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator

from swiftcore.data.options import MEGABYTE
from swiftcore.errors import InvalidData, refuse

CHUNK = MEGABYTE
HARMLESS = 64 * MEGABYTE  # below this no compression ratio is suspicious
MAX_RATIO = 500  # tables of plain text reach 100 at most
GZIP_MAGIC = b"\x1f\x8b"


def gunzip_head(head: bytes, name: str, most: int) -> bytes:
    """What the beginning of a gz file holds, at most so many bytes."""
    try:
        return zlib.decompressobj(31).decompress(head, most)
    except zlib.error as error:
        raise gz_damaged(name, error) from error


def gz_damaged(name: str, error: Exception) -> InvalidData:
    """The refusal of a gz file that cannot be undone."""
    return refuse(
        "gz-damaged",
        "The gz file is damaged",
        name,
        str(error),
        "Make the file again or copy it afresh.",
    )


class Gunzip:
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
                raise gz_damaged(self.name, error) from error
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


def check_ratio(size: int, packed: int, where: str, *, most: int = MAX_RATIO) -> None:
    """Refuse what announces to unpack to far more than data ever do."""
    if size > max(HARMLESS * most // MAX_RATIO, most * max(packed, 1)):
        raise refuse(
            "compression-bomb",
            "The file unpacks to far more than data ever do",
            where,
            f"{size // max(packed, 1):,} times its size",
            "Unpack it yourself and give the plain files.",
        )


def check_entries(entries: list[zipfile.ZipInfo], where: str) -> None:
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
        check_ratio(entry.file_size, entry.compress_size, where)


def zip_pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """One entry of an archive, piece by piece."""
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
            entry.filename or "an entry without a name",
            str(error),
            "Make the archive again.",
        ) from error
