"""A run as one zip file to share, and the guarded way back in.

A zip from elsewhere is only ever read member by member into memory, under caps, and only
members of known names; nothing is extracted by the name it gives itself.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from dashboard.store.imported import ORIGIN
from dashboard.store.results import LAST_STATE
from dashboard.store.verified_folder import SEAL, ChecksumMismatch, check_files
from swiftcore.data.options import Limits
from swiftcore.data.reading.unpacking import check_entries
from swiftcore.errors import InvalidData, refuse
from swiftcore.runtime.repeatable_zip import zip_bytes

MEGABYTE = 1 << 20
MAX_BUNDLE = 256 * MEGABYTE
MAX_MEMBER = 512 * MEGABYTE
FOREIGN = Limits(decoded_mb=2048)
RUN_FILES = (
    "run.json",
    "model.npz",
    "links.json",
    LAST_STATE,
    "experiment.json",
    "projection.npz",
    ORIGIN,
    SEAL,
)
DATA_FILES = ("card.json", "data.swift.npz", SEAL)
_KNOWN = {f"run/{name}" for name in RUN_FILES} | {f"dataset/{name}" for name in DATA_FILES}


def pack(folders: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """The files of the folders ``run`` and perhaps ``dataset``, seals included."""
    return zip_bytes(
        (f"{folder}/{name}", files[name])
        for folder, files in folders.items()
        for name in sorted(files)
    )


def unpack(content: bytes) -> dict[str, dict[str, bytes]]:
    """What :func:`pack` packed; every seal is checked.

    Raises
    ------
    InvalidData
        If it is no run bundle, was changed, or is larger than a run can be.
    """
    if len(content) > MAX_BUNDLE:
        raise refuse(
            "bundle-size",
            "The file is too large for a run bundle",
            "the run bundle",
            f"{len(content) / MEGABYTE:,.0f} MB",
            f"Give at most {MAX_BUNDLE // MEGABYTE} MB.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _members(archive)
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        KeyError,
        NotImplementedError,
        RuntimeError,
        OverflowError,
    ) as error:
        if isinstance(error, InvalidData):
            raise
        raise refuse(
            "bundle-damaged",
            "The run bundle cannot be read",
            "the run bundle",
            (str(error).splitlines() or ["an error"])[0][:120],
            "Export the run again.",
        ) from error
    return _checked_folders(members)


def _checked_folders(members: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
    folders: dict[str, dict[str, bytes]] = {}
    for name, data in members.items():
        folder, _, file = name.partition("/")
        folders.setdefault(folder, {})[file] = data
    for files in folders.values():
        try:
            check_files(files)
        except ChecksumMismatch as error:
            raise refuse(
                "bundle-changed",
                "The run bundle was changed after it was written",
                "the run bundle",
                str(error),
                "Export the run again.",
            ) from error
    if "run" not in folders:
        raise refuse(
            "bundle-foreign",
            "This is not a run bundle",
            "the run bundle",
            "no run in it",
            "Choose a file made by the export of a run.",
        )
    return folders


def _members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    unknown = [name for name in names if name not in _KNOWN]
    if unknown or len(set(names)) < len(names) or len(names) > len(_KNOWN):
        found = f"a member {unknown[0][:60]!r}" if unknown else "a member twice"
        raise refuse(
            "bundle-members",
            "The file holds what no run bundle holds",
            "the run bundle",
            found,
            "Choose a file made by the export of a run.",
        )
    check_entries(entries, "run bundle")
    return {entry.filename: _read(archive, entry) for entry in entries}


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        data = file.read(MAX_MEMBER + 1)
    if len(data) > MAX_MEMBER:
        raise refuse(
            "bundle-size",
            "A part of the run bundle is too large",
            "the run bundle",
            entry.filename,
            f"Give parts of at most {MAX_MEMBER // MEGABYTE} MB.",
        )
    return data
