"""How much memory SWIFT takes for given data and costs, known before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.neighbourhoods import Neighbourhoods
from swiftcore.runtime.memory import not_enough_memory, usable_memory
from swiftcore.tensor import SparseTensor, TensorSize
from swiftcore.transport.limits import (
    BLOCK,
    MAX_EXPONENT,
    MAX_NEWTON,
    NEIGHBOURHOODS_OF_A_PART,
    PARTS_BESIDE,
    TILE,
    task_width,
)
from swiftcore.transport.problem import TransportSettings

# Bytes. Of an entry in every unfolding: row, value, logarithm; and while sweeps run two
# scalings, each with its copy in a task. Of a column: start, place in each other mode (and both
# again in a task); while sweeps run its sums and shift, and their copy.
ENTRY, ENTRY_SWEPT = 20, 16
COLUMN, COLUMN_PLACE, COLUMN_SWEPT = 16, 12, 120
# Of an entry while the rows are clustered for a start: sparse matrices of the features.
ENTRY_CLUSTERED, FEATURE_CLUSTERED = 14, 48
LARGEST_COST = 1.0  # between two rows of a neighbourhood
FACTOR_COPIES = 12  # factors, steps, trials and what they are computed from, at once


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes a fit will take at its peak, beyond the tensor and the costs it is given.

    Attributes
    ----------
    kernels : int
        exp(-sharpness C), one per mode; a model keeps the costs of the features besides.
    entries : int
        Unfoldings, and the state of their columns.
    working : int
        Blocks of all workers at once, numerators, and the factors.
    """

    kernels: int
    entries: int
    working: int

    @property
    def total(self) -> int:
        return self.kernels + self.entries + self.working


def estimate_memory(
    tensor: SparseTensor,
    costs: Sequence[NDArray[np.float64] | Neighbourhoods | None],
    rank: int,
    settings: TransportSettings,
    n_jobs: int,
) -> MemoryEstimate:
    """What ``Swift.fit`` will take on top of its arguments."""
    exponents: list[float | None] = []
    blocks = 1
    for cost in costs:
        if isinstance(cost, Neighbourhoods):
            blocks = len(cost)
            exponents.append(settings.sharpness * LARGEST_COST)
        else:
            top = None if cost is None else float(cost.max(initial=0.0))
            exponents.append(None if top is None else settings.sharpness * top)
    size = TensorSize.of(tensor)
    return fit_memory(
        size, rank, dtype=settings.dtype, n_jobs=n_jobs, exponents=exponents, blocks=blocks
    )


def fit_memory(
    size: TensorSize,
    rank: int,
    *,
    dtype: str,
    n_jobs: int,
    exponents: Sequence[float | None],
    blocks: int = 1,
) -> MemoryEstimate:
    """What a fit will take, from numbers alone: no tensor and no cost need be at hand.

    Parameters
    ----------
    size : TensorSize
    rank : int
    dtype : {"float32", "float64"}
    n_jobs : int
        Workers.
    exponents : sequence of float or None
        Per mode sharpness x largest cost; None where no mass moves.
    blocks : int
        Neighbourhoods of the rows, if they are cut into any.
    """
    size = size.in_blocks(blocks)
    item = np.dtype(dtype).itemsize
    moving = [mode for mode, exponent in enumerate(exponents) if exponent is not None]
    kernels = sum(
        _block_rows(size, mode, blocks) ** 2
        * (blocks if mode == 0 else 1)
        * ((0 if _in_place(exponents[mode], item) else item) + 8 * (mode > 0))
        for mode in moving
    )
    block = max((_block(size, mode, exponents[mode], item, blocks) for mode in moving), default=0)
    working = n_jobs * (block + BLOCK * rank * item)
    working += rank * sum(size.shape) * (8 * FACTOR_COPIES + item)
    working += 8 * rank * _numerator_rows(size, exponents, blocks)
    return MemoryEstimate(kernels, _entries(size, item), working)


def _in_place(exponent: float | None, item: int) -> bool:
    """Whether a mode needs no kernel because its columns are solved from the cost as it is."""
    return _is_sharp(exponent) and item == 8


def _is_sharp(exponent: float | None) -> bool:
    """Whether a mode's columns are solved in logarithms."""
    return exponent is not None and exponent > MAX_EXPONENT


def _block_rows(size: TensorSize, mode: int, blocks: int) -> int:
    """Rows of a mode between which mass can move."""
    return -(-size.shape[0] // blocks) if mode == 0 else size.shape[mode]


def _block(size: TensorSize, mode: int, exponent: float | None, item: int, blocks: int) -> int:
    """What a worker holds of the columns it works on."""
    rows, longest = _block_rows(size, mode, blocks), size.longest[mode]
    longest = min(longest, rows) if mode == 0 else longest
    if not _is_sharp(exponent):
        return BLOCK * min(rows, TILE) * item
    # the longest column's shares, and a weighted copy for Newton's matrix
    copies = 2 if longest <= MAX_NEWTON else 1
    return max(BLOCK, copies * longest) * rows * item


def _entries(size: TensorSize, item: int) -> int:
    n_modes, columns = len(size.shape), sum(size.columns)
    unfolded = n_modes * ENTRY * size.entries
    unfolded += (COLUMN + COLUMN_PLACE * (n_modes - 1)) * columns
    swept = n_modes * (ENTRY_SWEPT + 2 * item) * size.entries + COLUMN_SWEPT * columns
    clustered = (ENTRY_CLUSTERED + FEATURE_CLUSTERED * (n_modes - 1)) * size.entries
    return unfolded + max(swept, clustered)


def _numerator_rows(size: TensorSize, exponents: Sequence[float | None], blocks: int) -> int:
    """Rows of all tasks' numerators: of the own mode, and of the others those they reach.

    Columns are sorted by the first of the other modes, so tasks share that one out; the rows of
    the data are shared out by neighbourhoods and parts, too.
    """
    rows, parts = 0, -(-blocks // NEIGHBOURHOODS_OF_A_PART)
    for mode, columns in enumerate(size.columns):
        first, *rest = (length for other, length in enumerate(size.shape) if other != mode)
        own, cut = _block_rows(size, mode, blocks), blocks if mode == 0 else parts
        beside = (PARTS_BESIDE if mode else NEIGHBOURHOODS_OF_A_PART) if blocks > 1 else 1
        width = task_width(-(-columns // cut), own, exponents[mode] is None, beside)
        tasks = cut * -(-columns // (cut * width))
        rows += tasks * (own + sum(rest)) + (first if mode or cut == 1 else tasks * first)
    return rows


def refuse_if_too_large(estimate: MemoryEstimate, shape: Sequence[int]) -> None:
    """Raise :class:`NotEnoughMemory` when the fit would not fit, with numbers and a way out."""
    had = usable_memory()
    if estimate.total <= had:
        return
    largest = max(range(len(shape)), key=lambda mode: shape[mode])
    raise not_enough_memory(
        f"shape {tuple(shape)}",
        estimate.total,
        had,
        f"Give mode {largest + 1} (size {shape[largest]}) the cost None, so that no mass "
        "moves within it, or neighbourhoods if it is that of the rows; or use fewer rows, or "
        "float32.",
    )
