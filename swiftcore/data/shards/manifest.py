"""The manifest of a data set in shards: what is in the folder, sealed by digests.

The manifest names no paths: where a file lies follows from its shard and its array, so nothing
outside the folder can be meant.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from swiftcore.errors import InvalidData, SwiftError, refuse
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import Range, listed, maybe, named, record, record_faults, text, whole
from swiftcore.tensor import Mode

FORMAT, VERSION = "swift data shards", 1
ENDING = ".swift"
MANIFEST = "manifest.json"
SIDE_TABLES = ("covariates", "dates", "texts")  # reserved: sealed with the rest, not read yet
MAX_MANIFEST = 1 << 30
_NAME, _MANY = text(10_000), 10_000_000
_FILE = record({"bytes": whole(0), "sha256": text(64, "[0-9a-f]{64}")})
_MODE = record({"name": _NAME, "labels": listed(_NAME, _MANY), "codes": listed(_NAME, _MANY)})
_FIELDS = {
    "version": whole(1),
    "name": _NAME,
    "origin": text(1_000_000),
    "row_name": _NAME,
    "features": listed(_MODE, 100),
    "outcome_name": _NAME,
    "outcome_kind": Range(lambda value: value in ("", "bool", "text"), "bool, text or nothing"),
    "outcome_classes": listed(_NAME, _MANY),
    "shards": listed(
        record({"rows": whole(1), "entries": whole(0), "arrays": named(_FILE)}), 1_000_000
    ),
    "side_tables": named(_FILE),
    "summary": maybe(Range(lambda value: isinstance(value, dict), "a summary")),
}


@dataclass(frozen=True)
class StoredFile:
    """Size and SHA-256 of one file."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Shard:
    """Some rows that follow each other: how many, with how many entries, in which arrays."""

    rows: int
    entries: int
    arrays: Mapping[str, StoredFile]


@dataclass(frozen=True)
class Manifest:
    """All that is known of a data set in shards without a look at its arrays.

    Attributes
    ----------
    features : tuple of Mode
        The feature modes; row ids lie in the shards.
    codes : tuple of tuple of str
        For every feature mode one code per label, or none at all.
    outcome_kind : {"", "bool", "text"}
    outcome_classes : tuple of str
        What the numbers of a text outcome mean.
    side_tables : mapping of str to StoredFile
        Named tables beside the shards, of the names reserved in ``SIDE_TABLES``.
    summary : mapping or None
        As :meth:`DatasetSummary.to_json` writes it.
    """

    name: str
    origin: str
    row_name: str
    features: tuple[Mode, ...]
    shards: tuple[Shard, ...]
    codes: tuple[tuple[str, ...], ...] = ()
    outcome_name: str = ""
    outcome_kind: str = ""
    outcome_classes: tuple[str, ...] = ()
    side_tables: Mapping[str, StoredFile] = field(default_factory=dict)
    summary: Mapping[str, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(shard.rows for shard in self.shards), *map(len, self.features))

    @property
    def n_entries(self) -> int:
        return sum(shard.entries for shard in self.shards)

    def kinds_of_arrays(self) -> dict[str, tuple[str, ...]]:
        """By the name of every array of a shard, the types it may have."""
        kinds: dict[str, tuple[str, ...]] = {"starts": ("<i8",), "values": VALUE_TYPES}
        for axis, mode in enumerate(self.features, start=1):
            kinds[f"feature_{axis}"] = (index_type(len(mode)),)
        kinds |= {"row_ids": ("|u1",), "row_ids_ends": ("<i8",)}
        if self.outcome_kind:
            flags = self.outcome_kind == "bool"
            kinds["outcome"] = ("|b1",) if flags else (index_type(len(self.outcome_classes)),)
        return kinds

    def files(self) -> dict[str, StoredFile]:
        """Every file beside the manifest, by its path in the folder."""
        found = {
            array_path(number, name): file
            for number, shard in enumerate(self.shards)
            for name, file in shard.arrays.items()
        }
        return found | {side_path(name): file for name, file in self.side_tables.items()}


WHOLE_TYPES = ("|u1", "<u2", "<u4")
VALUE_TYPES = (*WHOLE_TYPES, "<f8")


def index_type(size: int) -> str:
    """The smallest type that holds the indices of so many."""
    return next(kind for kind in WHOLE_TYPES if size - 1 <= np.iinfo(kind).max)


def array_path(shard: int, name: str) -> str:
    """Where an array lies in the folder."""
    return f"shard-{shard:05d}/{name}.npy"


def side_path(name: str) -> str:
    """Where a side table lies in the folder."""
    return f"{name}.parquet"


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest as a file; its seal is the digest of all the rest."""
    body = _plain(manifest)
    whole_file = {"format": FORMAT, "manifest": body, "seal": _seal(body)}
    return json.dumps(whole_file, sort_keys=True).encode("ascii")


def read_manifest(folder: Path) -> tuple[Manifest, str]:
    """The manifest of a folder and its seal.

    Raises
    ------
    InvalidData
        When it is missing, damaged, of a newer version, or says what cannot be.
    """
    try:
        content = _content(folder)
        plain = read_json(content)
        if faults := list(record_faults(plain, {"format": _NAME, "manifest": ANY, "seal": _NAME})):
            raise ValueError(faults[0])
        if plain["format"] != FORMAT:
            raise ValueError("another format")
        body, seal = plain["manifest"], plain["seal"]
        if seal != _seal(body):
            raise changed(folder.name, f"a seal of {MANIFEST} that does not fit")
        if isinstance(body, dict) and whole(VERSION + 1).fits(body.get("version")):
            raise _newer(folder, body["version"])
        if faults := list(record_faults(body, _FIELDS)):
            raise ValueError(faults[0])
        return _checked(_from_plain(body)), seal
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        if isinstance(error, SwiftError):
            raise
        raise foreign(folder.name, f"{MANIFEST}: {error}"[:200]) from error


ANY = Range(lambda value: True, "anything")


def _content(folder: Path) -> bytes:
    path = folder / MANIFEST
    try:
        if not path.is_file() or path.stat().st_size > MAX_MANIFEST:
            raise foreign(folder.name, f"no {MANIFEST}")
        return path.read_bytes()
    except OSError as error:
        raise foreign(folder.name, f"{MANIFEST}: {error.strerror or 'an error'}") from error


def _checked(manifest: Manifest) -> Manifest:
    """The manifest, if its blocks fit each other; raises ValueError otherwise."""
    if not manifest.shards or not manifest.features:
        raise ValueError("no shards or no features")
    if not all(len(mode) for mode in manifest.features):
        raise ValueError("a mode without features")
    if any(len(set(mode.labels)) < len(mode) for mode in manifest.features):
        raise ValueError("two features of one name")
    if len(manifest.codes) != len(manifest.features) or any(
        codes and len(codes) != len(mode)
        for codes, mode in zip(manifest.codes, manifest.features, strict=True)
    ):
        raise ValueError("codes for other features")
    if (manifest.outcome_kind == "text") != bool(manifest.outcome_classes):
        raise ValueError("an outcome without classes, or classes without an outcome")
    if unknown := sorted(set(manifest.side_tables) - set(SIDE_TABLES)):
        raise ValueError(f"an unknown side table {unknown[0][:40]!r}")
    wanted = set(manifest.kinds_of_arrays())
    for number, shard in enumerate(manifest.shards):
        if set(shard.arrays) != wanted:
            raise ValueError(f"shard {number} with other arrays than {', '.join(sorted(wanted))}")
    return manifest


def _plain(manifest: Manifest) -> dict[str, Any]:
    codes: Sequence[Sequence[str]] = manifest.codes or [()] * len(manifest.features)
    return {
        "version": VERSION,
        **{
            name: getattr(manifest, name)
            for name in ("name", "origin", "row_name", "outcome_name", "outcome_kind", "summary")
        },
        "features": [
            {"name": mode.name, "labels": list(mode.labels), "codes": list(known)}
            for mode, known in zip(manifest.features, codes, strict=True)
        ],
        "outcome_classes": list(manifest.outcome_classes),
        "shards": [
            {
                "rows": shard.rows,
                "entries": shard.entries,
                "arrays": {name: vars(file) for name, file in shard.arrays.items()},
            }
            for shard in manifest.shards
        ],
        "side_tables": {name: vars(file) for name, file in manifest.side_tables.items()},
    }


def _from_plain(body: Mapping[str, Any]) -> Manifest:
    return Manifest(
        features=tuple(Mode(one["name"], tuple(one["labels"])) for one in body["features"]),
        codes=tuple(tuple(one["codes"]) for one in body["features"]),
        outcome_classes=tuple(body["outcome_classes"]),
        shards=tuple(
            Shard(one["rows"], one["entries"], _files(one["arrays"])) for one in body["shards"]
        ),
        side_tables=_files(body["side_tables"]),
        **{
            name: body[name]
            for name in ("name", "origin", "row_name", "outcome_name", "outcome_kind", "summary")
        },
    )


def _files(plain: Mapping[str, Any]) -> dict[str, StoredFile]:
    return {name: StoredFile(**file) for name, file in plain.items()}


def _seal(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("ascii")).hexdigest()


def changed(where: str, found: str) -> InvalidData:
    """The refusal of a data set whose bytes are not those that were written."""
    return refuse(
        "shards-changed",
        "The data set was changed after it was written",
        where,
        found,
        "Build or copy it again.",
    )


def _newer(folder: Path, version: int) -> InvalidData:
    return refuse(
        "shards-version",
        "The data set was written by a newer version",
        folder.name,
        f"version {version}",
        "Update SWIFT.",
    )


def foreign(where: str, found: str) -> InvalidData:
    """The refusal of a folder that is no complete data set in shards."""
    return refuse(
        "shards-foreign",
        "The folder is not a complete SWIFT data set in shards",
        where,
        found,
        "Build or copy it again.",
    )
