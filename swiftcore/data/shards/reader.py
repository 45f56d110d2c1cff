"""Open a data set in shards without loading it; read it shard by shard, by rows, or whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.manifest import (
    ENDING,
    FORMAT,
    MANIFEST,
    Manifest,
    StoredFile,
    array_path,
    changed,
    foreign,
    read_manifest,
    side_path,
)
from swiftcore.data.shards.row_block import RowBlock, check_starts, read_block
from swiftcore.data.summary import DatasetSummary
from swiftcore.errors import SwiftError, refuse
from swiftcore.runtime.memory import not_enough_memory, usable_memory
from swiftcore.tensor import Mode, SparseTensor

BYTES_PER_ROW = 200  # of a row's id and outcome, once they are Python's
_DAMAGE = (ValueError, TypeError, LookupError, EOFError, OverflowError, SyntaxError, OSError)


def is_sharded(path: Path) -> bool:
    """Whether a folder means to be a data set in shards, sound or not."""
    if not path.is_dir():
        return False
    manifest = path / MANIFEST
    if not manifest.is_file():
        return path.name.endswith(ENDING)
    with manifest.open("rb") as file:
        return FORMAT.encode() in file.read(200) or path.name.endswith(ENDING)


def open_shards(path: str | Path) -> ShardedDataset:
    """Read the manifest and look whether all files are there; nothing is loaded.

    Raises
    ------
    InvalidData
        When the folder is none of ours, was changed, or lacks a file.
    """
    folder = Path(path)
    manifest, seal = read_manifest(folder)
    _check_files(folder, manifest)
    try:
        summary = DatasetSummary.from_json(manifest.summary) if manifest.summary else None
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise foreign(folder.name, f"{MANIFEST}: {error}"[:200]) from error
    if summary and (summary.shape, summary.entries) != (manifest.shape, manifest.n_entries):
        raise foreign(folder.name, f"{MANIFEST}: a summary of other data")
    return ShardedDataset(folder, manifest, seal, summary)


class ShardedDataset:
    """A data set on the disk, of which only what is asked for is read.

    A shard's bytes are compared with their digests when it is first read.
    """

    def __init__(
        self, folder: Path, manifest: Manifest, seal: str, summary: DatasetSummary | None
    ) -> None:
        self.folder, self.manifest = folder, manifest
        self.seal, self.summary = seal, summary
        self._sound: set[int] = set()

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, then the size of each feature mode."""
        return self.manifest.shape

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def outcome_name(self) -> str:
        return self.manifest.outcome_name

    def modes(self) -> tuple[Mode, ...]:
        """With the names of all rows."""
        blocks = self.row_blocks()
        labels = tuple(label for block in blocks for label in block.tensor.modes[0].labels)
        return Mode(self.manifest.row_name, labels), *self.manifest.features

    def row_blocks(self, most_entries: int = 0) -> Iterator[RowBlock]:
        """All shards in order, one at a time: never more than one is held here.

        Parameters
        ----------
        most_entries : int
            Cut larger shards into runs of rows with so many entries at most, if no row alone has
            more; 0 cuts none.
        """
        first = 0
        for number, shard in enumerate(self.manifest.shards):
            cut = 0 < most_entries < shard.entries
            for begin, end in self._runs(number, most_entries) if cut else [(0, shard.rows)]:
                yield self._block(number, first, begin, end)
            first += shard.rows

    def check(self) -> None:
        """Read everything once; raises :class:`InvalidData` for the first fault."""
        ids: set[str] = set()
        for block in self.row_blocks():
            ids.update(block.tensor.modes[0].labels)
        if len(ids) < self.shape[0]:
            raise foreign(self.folder.name, "two rows of one id")
        for name, stored in self.manifest.side_tables.items():
            self._check_digest(side_path(name), stored)

    def with_rows(self, rows: NDArray[np.int64] | Sequence[int]) -> Dataset:
        """A data set of some rows, in the given order; only their shards are read."""
        wanted = np.asarray(rows, dtype=np.int64)
        ends = np.cumsum([shard.rows for shard in self.manifest.shards])
        if len(wanted) == 0 or wanted.min() < 0 or wanted.max() >= ends[-1]:
            raise refuse(
                "row-outside",
                "The data set has no such row",
                self.folder.name,
                f"{wanted.min() if len(wanted) else 'no'} to {wanted.max(initial=-1)}",
                f"Choose rows from 0 to {ends[-1] - 1}.",
            )
        order = np.sort(wanted)
        shards = np.searchsorted(ends, order, side="right")
        chosen = []
        for number in np.unique(shards):
            first = int(ends[number]) - self.manifest.shards[number].rows
            block = self._block(int(number), first)
            local = order[shards == number] - first
            outcome = None if block.outcome is None else block.outcome[local]
            chosen.append(RowBlock(0, block.tensor.select(0, local), outcome))
        sorted_rows = self._dataset(chosen, sum(block.tensor.n_entries for block in chosen))
        return sorted_rows.with_rows(np.searchsorted(order, wanted))

    def to_dataset(self) -> Dataset:
        """The whole data set in memory, with its summary.

        Raises
        ------
        NotEnoughMemory
            When it would not fit.
        InvalidData
            When a shard was changed, or two rows have one id.
        """
        needed = self.manifest.n_entries * 8.0 * (len(self.shape) + 1)
        needed += self.shape[0] * BYTES_PER_ROW
        if needed > (room := usable_memory()):
            cure = "Read it shard by shard (open_shards), or use some of its rows."
            raise not_enough_memory(self.folder.name, needed, room, cure)
        return self._dataset(self.row_blocks(), self.manifest.n_entries)

    def _dataset(self, blocks: Iterator[RowBlock] | list[RowBlock], n_entries: int) -> Dataset:
        coordinates = np.empty((n_entries, len(self.shape)), dtype=np.int64)
        values = np.empty(n_entries)
        labels: list[str] = []
        outcomes = []
        filled = 0
        for block in blocks:
            until = filled + block.tensor.n_entries
            coordinates[filled:until] = block.tensor.coordinates
            coordinates[filled:until, 0] += len(labels)
            values[filled:until] = block.tensor.values
            labels += block.tensor.modes[0].labels
            outcomes.append(block.outcome)
            filled = until
        if len(set(labels)) < len(labels):
            raise foreign(self.folder.name, "two rows of one id")
        for array in (coordinates, values):
            array.setflags(write=False)
        about = self.manifest
        tensor = SparseTensor(
            (Mode(about.row_name, tuple(labels)), *about.features), coordinates, values
        )
        known = [one for one in outcomes if one is not None]
        outcome = np.concatenate(known) if known else None
        return Dataset(
            about.name,
            tensor,
            outcome,
            about.outcome_name,
            about.origin,
            self.summary,
            outside=OutsideKnowledge(_codes(about)),
        )

    def _runs(self, number: int, most_entries: int) -> Iterator[tuple[int, int]]:
        """Rows of a shard that are read together: at least one, else no more entries than asked."""
        shard = self.manifest.shards[number]
        with self._damage_in_words(number):
            starts = np.array(self._array(number, "starts"))
            check_starts(starts, shard.rows, shard.entries)
        begin = 0
        while begin < shard.rows:
            fits = int(np.searchsorted(starts, starts[begin] + most_entries, side="right")) - 1
            yield begin, max(fits, begin + 1)
            begin = max(fits, begin + 1)

    def _block(
        self, number: int, first_row: int, begin: int = 0, end: int | None = None
    ) -> RowBlock:
        """The rows of a shard from one to another; ``first_row`` is its own first."""
        with self._damage_in_words(number):
            arrays = {name: self._array(number, name) for name in self.manifest.kinds_of_arrays()}
            end = self.manifest.shards[number].rows if end is None else end
            block = read_block(arrays, self.manifest, number, first_row, (begin, end))
        self._sound.add(number)
        return block

    @contextmanager
    def _damage_in_words(self, number: int) -> Iterator[None]:
        try:
            yield
        except _DAMAGE as error:
            if isinstance(error, SwiftError):
                raise
            raise foreign(
                f"{self.folder.name}, shard {number}", f"{error or 'an error'}"[:200]
            ) from error

    def _array(self, number: int, name: str) -> NDArray[Any]:
        """An array of a shard, mapped; its bytes are checked the first time."""
        place = array_path(number, name)
        if number not in self._sound:
            self._check_digest(place, self.manifest.shards[number].arrays[name])
        array: NDArray[Any] = np.load(self.folder / place, mmap_mode="r", allow_pickle=False)
        if array.ndim != 1 or array.dtype.str not in self.manifest.kinds_of_arrays()[name]:
            raise ValueError(f"{name} of type {array.dtype} and shape {array.shape}")
        return array

    def _check_digest(self, place: str, stored: StoredFile) -> None:
        with (self.folder / place).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != stored.sha256:
            raise changed(f"{self.folder.name}, {place}", "a digest that does not fit")


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Every file is there in its size, and no other."""
    wanted: dict[str, StoredFile] = manifest.files()
    there = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if not path.is_dir() and not path.name.startswith(".")
    }
    there.pop(MANIFEST, None)
    for name, file in wanted.items():
        path = there.pop(name, None)
        if path is None or not path.is_file():
            raise foreign(folder.name, f"no {name}")
        if path.stat().st_size != file.bytes:
            found = f"{name} of {path.stat().st_size:,} bytes instead of {file.bytes:,}"
            raise foreign(folder.name, found)
    if there:
        raise foreign(folder.name, f"a file that does not belong to it, {min(there)[:100]}")


def _codes(manifest: Manifest) -> dict[str, dict[str, str]]:
    """By mode and label the code of each feature that has one."""
    return {
        mode.name: {label: code for label, code in zip(mode.labels, codes, strict=True) if code}
        for mode, codes in zip(manifest.features, manifest.codes, strict=True)
        if codes
    }
