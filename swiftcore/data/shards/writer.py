"""Write a data set shard by shard, each in parts if it is large; whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.reading.findings import Findings
from swiftcore.data.shards.array_files import write_array
from swiftcore.data.shards.manifest import (
    ENDING,
    MANIFEST,
    Manifest,
    Shard,
    array_path,
    index_type,
    manifest_bytes,
)
from swiftcore.data.shards.one_shard import OneShard, Part
from swiftcore.data.shards.reader import is_sharded, open_shards
from swiftcore.data.summary import DatasetSummary, summary_of
from swiftcore.data.tally import Tally
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.runtime.atomic_file import sync_folder, write_atomic
from swiftcore.tensor import Mode

PART_ENTRIES = 1 << 18  # of a shard that are looked at together: some 40 MB
SHARD_ROWS = 20_000  # entries of so many patients take some 20 MB once they are read


@dataclass(frozen=True)
class About:
    """What a data set is called and where it comes from.

    Attributes
    ----------
    codes : mapping of str to mapping of str to str
        By mode and label, the code behind a label that does not show it.
    findings : Findings
        What reading found; goes into the summary.
    """

    name: str
    origin: str
    row_name: str
    outcome_name: str = ""
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)


@contextmanager
def new_shards(path: Path, features: Sequence[Mode]) -> Iterator[ShardWriter]:
    """A writer of a new data set; what was not finished leaves nothing behind.

    An older data set of the same name is replaced once the new one is whole.

    Raises
    ------
    InvalidSettings
        When something else has the name.
    """
    check_free(path)
    draft = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}-", suffix=".tmp", dir=path.parent))
    try:
        yield ShardWriter(path, draft, tuple(features))
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_free(path: Path) -> None:
    """Refuse a name that is no folder for shards, or that something else has."""
    if not path.name.endswith(ENDING):
        raise refuse(
            "shards-name",
            "A data set in shards needs another name",
            path.name,
            f"no {ENDING} at its end",
            f"Call it NAME{ENDING}.",
            kind=InvalidSettings,
        )
    if path.exists() and not (is_sharded(path) and (path / MANIFEST).is_file()):
        raise refuse(
            "shards-taken",
            "Something else has this name",
            path.name,
            "a file or a folder that is no data set in shards",
            "Choose another name, or move it away.",
            kind=InvalidSettings,
        )


class ShardWriter:
    """Adds shards one after the other; see :func:`new_shards`."""

    def __init__(self, path: Path, draft: Path, features: tuple[Mode, ...]) -> None:
        self.path, self._draft, self._features = path, draft, features
        self._shards: list[Shard] = []

    def add(
        self, row_ids: Sequence[str], places: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """One shard: its rows, and its entries sorted by row and features, no two alike.

        Parameters
        ----------
        places : ndarray, (entries, modes)
            Rows count from 0 in every shard.
        """
        self.add_parts([(row_ids, places, values)])

    def add_parts(self, parts: Iterable[Part]) -> None:
        """One shard that is too large for memory, some of its rows at a time; none if it has none.

        The bytes are those of a shard in one part.

        Parameters
        ----------
        parts : iterable of Part
            What :meth:`add` takes; rows count from 0 in every part.
        """
        with tempfile.TemporaryDirectory(dir=self._draft) as waiting:
            shard = OneShard(Path(waiting), self._features)
            for part in parts:
                shard.add(part)
            if shard.rows:
                folder = (self._draft / array_path(len(self._shards), "")).parent
                self._shards.append(shard.write(folder))

    def finish(self, about: About, outcome: NDArray[Any] | None) -> tuple[DatasetSummary, str]:
        """Add the outcome of all rows, describe and seal the data set, give it its name.

        Parameters
        ----------
        outcome : ndarray of bool or text, or None
            One per row over all shards.

        Returns
        -------
        DatasetSummary, str
            What was written, and its seal.
        """
        kind, classes = self._add_outcome(outcome)
        manifest = Manifest(
            about.name,
            about.origin,
            about.row_name,
            self._features,
            tuple(self._shards),
            tuple(_codes(mode, about.codes) for mode in self._features),
            about.outcome_name if kind else "",
            kind,
            classes,
        )
        (self._draft / MANIFEST).write_bytes(manifest_bytes(manifest))
        tally = Tally([len(mode) for mode in self._features])
        for block in open_shards(self._draft).row_blocks(PART_ENTRIES):  # as anybody reads it
            tally.add(block.tensor, block.outcome)
        modes = (Mode(about.row_name, ()), *self._features)
        summary = summary_of(tally, modes, manifest.outcome_name, about.findings)
        write_atomic(
            self._draft / MANIFEST, manifest_bytes(replace(manifest, summary=summary.to_json()))
        )
        self._give_name()
        return summary, open_shards(self.path).seal

    def _add_outcome(self, outcome: NDArray[Any] | None) -> tuple[str, tuple[str, ...]]:
        """Write everybody's outcome; its kind, and what the numbers of a text outcome mean."""
        if outcome is None:
            return "", ()
        if outcome.dtype == bool:
            self._write_outcome(outcome, "|b1")
            return "bool", ()
        names, numbers = np.unique(outcome, return_inverse=True)
        self._write_outcome(numbers, index_type(len(names)))
        return "text", tuple(str(one) for one in names)

    def _write_outcome(self, outcome: NDArray[Any], kind: str) -> None:
        first = 0
        for number, shard in enumerate(self._shards):
            path = self._draft / array_path(number, "outcome")
            file = write_array(path, kind, outcome[first : first + shard.rows])
            self._shards[number] = replace(shard, arrays={**shard.arrays, "outcome": file})
            first += shard.rows

    def _give_name(self) -> None:
        """The draft becomes the data set; an older one goes."""
        check_free(self.path)
        self._draft.chmod(0o777 & ~_mask())
        older = self._draft.with_suffix(".old")
        if self.path.exists():
            os.replace(self.path, older)
        os.replace(self._draft, self.path)
        sync_folder(self.path.parent)
        shutil.rmtree(older, ignore_errors=True)


def _mask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _codes(mode: Mode, codes: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    known = codes.get(mode.name, {})
    return tuple(known.get(label, "") for label in mode.labels) if known else ()
