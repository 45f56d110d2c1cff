"""From a data set to parts of its rows, block by block: never all entries in memory.

The costs, weights and neighbourhoods are those of a fit of all rows at once, to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost import build_costs
from swiftcore.cost.checks import check_costs
from swiftcore.cost.cosine import (
    add_shared_rows,
    cost_of_counts,
    feature_cost,
    incidence,
    row_features,
    unit_rows,
)
from swiftcore.cost.memory import kept_bytes, making_bytes
from swiftcore.cost.neighbourhoods import cut_rows
from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.reader import ShardedDataset
from swiftcore.evaluation.methods.row_relation import relation_of
from swiftcore.evaluation.methods.weighting import EntryWeighting, rarity_of_counts
from swiftcore.runtime.block_sums import total
from swiftcore.runtime.memory import not_enough_memory
from swiftcore.spec import ModelSpec
from swiftcore.spec.row_relation import DENSE_ROWS
from swiftcore.swift.parts.row_part import RowPart, Shared
from swiftcore.tensor import Mode, SparseTensor
from swiftcore.transport.kernel import build_kernel
from swiftcore.transport.limits import NEIGHBOURHOODS_OF_A_PART
from swiftcore.transport.problem import TransportSettings, holding_settings, mean_of

CUTTING = 56  # bytes per feature of a row while rows are cut: the features, and copies of them
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RowsInBlocks:
    """The rows of a data set, to be read again and again, some at a time."""

    data: Dataset | ShardedDataset

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.tensor.shape if isinstance(self.data, Dataset) else self.data.shape

    @property
    def n_entries(self) -> int:
        if isinstance(self.data, Dataset):
            return self.data.tensor.n_entries
        return self.data.manifest.n_entries

    def __call__(self) -> Iterator[SparseTensor]:
        if isinstance(self.data, Dataset):
            yield self.data.tensor
        else:
            yield from (block.tensor for block in self.data.row_blocks())

    def modes(self) -> tuple[Mode, ...]:
        """With the names of all rows."""
        return self.data.tensor.modes if isinstance(self.data, Dataset) else self.data.modes()


def why_whole(spec: ModelSpec, rows: int, data: Dataset | None = None) -> str:
    """Why a fit needs all rows at once, in words; empty if it does not."""
    if relation_of(spec, rows).kind != "neighbourhoods":
        return "only fits with --row-relation neighbourhoods come in parts"
    if data is not None and data.word_counts is not None:
        return "documents are compared by all their words"
    asked = {
        "a cost of its own for a mode": spec.mode_costs,
        "random costs": spec.costs == "random",
        "features weighed by the outcome": "outcome" in spec.feature_weighting,
        "the outcome as a feature": spec.outcome_share,
        "a consensus": spec.consensus > 1,
        "a value unit of 'mean'": str(spec.value_unit) == "mean",
    }
    return next(
        (f"{words} needs all rows at once" for words, wanted in asked.items() if wanted), ""
    )


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a fit of parts is made of.

    Attributes
    ----------
    parts : PartFiles
    shared : Shared
    order : ndarray of int64
        Which row of the data each row of the parts is.
    weighting : EntryWeighting
    feature_costs : list of ndarray
    """

    parts: PartFiles
    shared: Shared
    order: NDArray[np.int64]
    weighting: EntryWeighting
    feature_costs: list[Array]


def prepare_parts(rows: RowsInBlocks, spec: ModelSpec, folder: Path, room: float) -> Prepared:
    """Weigh, compare and cut the rows of a data set, and put the parts into a folder."""
    costs, features = _compared(rows, spec, room)
    order, starts = cut_rows(features)
    del features
    weights = None
    if spec.feature_weighting == "rarity":
        weights = rarity_of_counts(_holding(rows), rows.shape[0])
    weighting = EntryWeighting.with_weights(rows, (rows.shape[0], rows.n_entries), spec, weights)
    parts = PartFiles(folder, starts, rows.shape[1:])
    parts.deal_out((weighting.apply(block) for block in rows()), order)
    return Prepared(parts, _shared(parts, rows, spec, costs), order, weighting, costs)


def _compared(
    rows: RowsInBlocks, spec: ModelSpec, room: float
) -> tuple[list[Array], sparse.csr_array]:
    """Costs of the features, and what rows are compared by."""
    small = rows.shape[0] <= DENSE_ROWS
    room -= _room_for_costs(rows.shape[1:], spec, room)
    counts = [np.zeros((size, size)) for size in rows.shape[1:]]
    compared, held = [], 0
    for block in rows():
        compared.append(unit_rows(row_features(block)))
        held += compared[-1].nnz
        if held * CUTTING > room:
            share = held * CUTTING * rows.shape[0] / sum(one.shape[0] for one in compared)
            cure = "Allow more memory (--memory), or use fewer rows."
            raise not_enough_memory("cutting the rows into neighbourhoods", share, room, cure)
        for mode, found in enumerate(counts, start=1):
            if not small and spec.costs == "cosine":
                add_shared_rows(found, incidence(block, mode, 0))
    features = sparse.csr_array(sparse.vstack(compared)) if len(compared) > 1 else compared[0]
    if spec.costs != "cosine":
        one_row = next(iter(rows())).select(0, [0])
        return build_costs(one_row, spec.costs, reference=one_row, seed=spec.seed)[1:], features
    if small:
        whole = _whole(list(rows()))
        return [feature_cost(whole, mode) for mode in range(1, len(rows.shape))], features
    return [cost_of_counts(found) for found in counts], features


def _room_for_costs(sizes: Sequence[int], spec: ModelSpec, room: float) -> int:
    """What the costs of the features take while rows are cut; refused if the fit has no room."""
    kept = kept_bytes(sizes)
    kernels = kept * np.dtype(spec.dtype).itemsize // 8  # made of the costs, which stay
    needed = kept + max(making_bytes(sizes), kernels)
    if needed > room:
        where = f"costs of {' and '.join(f'{size:,}' for size in sizes)} features"
        cure = "Allow more memory (--memory), or use fewer features."
        raise not_enough_memory(where, needed, room, cure)
    return kept


def _holding(rows: RowsInBlocks) -> NDArray[np.int64]:
    """How many rows have each feature, those of the first mode first."""
    found = [np.zeros(size, np.int64) for size in rows.shape[1:]]
    for block in rows():
        for mode, counts in enumerate(found, start=1):
            counts += np.diff(incidence(block, mode, 0).indptr)
    return np.concatenate(found)


def _whole(blocks: Sequence[SparseTensor]) -> SparseTensor:
    """A few rows as one tensor."""
    shifts = np.cumsum([0, *(block.shape[0] for block in blocks)])
    places = [block.coordinates.copy() for block in blocks]
    for one, shift in zip(places, shifts, strict=False):
        one[:, 0] += shift
    modes = (Mode.numbered("rows", int(shifts[-1])), *blocks[0].modes[1:])
    values = np.concatenate([block.values for block in blocks])
    return SparseTensor(modes, np.concatenate(places), values)


def _shared(parts: PartFiles, rows: RowsInBlocks, spec: ModelSpec, costs: list[Array]) -> Shared:
    asked = TransportSettings(
        float(spec.sharpness), float(spec.marginal_weight), float(spec.value_unit), spec.dtype
    )
    values = parts.values()
    scale = mean_of(values, rows.n_entries)
    settings = holding_settings(asked, scale, min(float(one.min(initial=np.inf)) for one in values))
    checked = check_costs([None, *costs], (1, *rows.shape[1:]))[1:]
    return Shared(
        settings,
        scale,
        total((one / scale for one in values), rows.n_entries),
        rows.shape[1:],
        tuple(build_kernel(one, settings.sharpness, settings.dtype) for one in checked),  # type: ignore[misc]
        spec.costs != "cosine",
    )


class PartFiles(Sequence[RowPart]):
    """Parts in a folder, read one at a time.

    Parameters
    ----------
    starts : ndarray of int64
        Where each neighbourhood begins, in the order of the neighbourhoods.
    """

    def __init__(self, folder: Path, starts: NDArray[np.int64], sizes: Sequence[int]) -> None:
        self._folder, self._starts = folder, starts
        self._cuts = np.r_[starts[:-1:NEIGHBOURHOODS_OF_A_PART], starts[-1]]
        self._kind = np.dtype([("place", "<i4", (len(sizes) + 1,)), ("value", "<f8")])

    def deal_out(self, blocks: Iterable[SparseTensor], order: NDArray[np.int64]) -> None:
        """Write the entries of all blocks, each to the part of its row."""
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        done = 0
        for block in blocks:
            at = position[done + block.coordinates[:, 0]]
            numbers = np.searchsorted(self._cuts, at, side="right") - 1
            entries = np.empty(block.n_entries, self._kind)
            entries["place"] = block.coordinates
            entries["place"][:, 0] = at - self._cuts[numbers]
            entries["value"] = block.values
            entries = entries[np.argsort(numbers, kind="stable")]
            ends = np.cumsum(np.bincount(numbers, minlength=len(self)))
            for number, piece in enumerate(np.split(entries, ends[:-1])):
                with self._path(number).open("ab") as file:
                    piece.tofile(file)
            done += block.shape[0]
        for number in range(len(self)):
            entries = np.fromfile(self._path(number), self._kind)
            entries[np.lexsort(entries["place"].T[::-1])].tofile(self._path(number))

    def __len__(self) -> int:
        return len(self._cuts) - 1

    @overload
    def __getitem__(self, number: int) -> RowPart: ...
    @overload
    def __getitem__(self, number: slice) -> list[RowPart]: ...
    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        if not 0 <= number < len(self):
            raise IndexError(number)
        first = int(self._cuts[number])
        begin = number * NEIGHBOURHOODS_OF_A_PART
        starts = self._starts[begin : begin + NEIGHBOURHOODS_OF_A_PART + 1] - first
        entries = np.fromfile(self._path(number), self._kind)
        values = np.ascontiguousarray(entries["value"])
        return RowPart(first, starts, np.ascontiguousarray(entries["place"]), values)

    def values(self) -> _Values:
        """The values of all entries, part by part."""
        return _Values(self)

    def _path(self, number: int) -> Path:
        return self._folder / f"part-{number:06d}.entries"


class _Values(Sequence[Array]):
    def __init__(self, parts: PartFiles) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: Any) -> Any:
        return self._parts[number].values
