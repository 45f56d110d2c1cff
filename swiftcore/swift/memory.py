"""How much memory a fit will need, known before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import NotEnoughMemory, refuse
from swiftcore.runtime.memory import GIGABYTE, SPARE, available_memory
from swiftcore.tensor import SparseTensor
from swiftcore.transport.limits import BLOCK, MAX_EXPONENT, MAX_NEWTON, TILE
from swiftcore.transport.problem import TransportSettings


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes a fit will take at its peak, beyond the tensor and the costs it is given.

    Attributes
    ----------
    kernels : int
        exp(-sharpness C), one per mode.
    entries : int
        Unfoldings, log scalings and their sorting, for every mode.
    working : int
        Blocks and numerators of all workers at once, and the factors.
    """

    kernels: int
    entries: int
    working: int

    @property
    def total(self) -> int:
        return self.kernels + self.entries + self.working


def estimate_memory(
    tensor: SparseTensor,
    costs: Sequence[NDArray[np.float64] | None],
    rank: int,
    settings: TransportSettings,
    n_jobs: int,
) -> MemoryEstimate:
    """What ``Swift.fit`` will take on top of its arguments."""
    exponents = [
        None if cost is None else settings.sharpness * float(cost.max(initial=0.0))
        for cost in costs
    ]
    longest = [
        _longest_column(tensor, mode) if _is_sharp(exponent) else 0
        for mode, exponent in enumerate(exponents)
    ]
    return fit_memory(
        tensor.shape,
        tensor.n_entries,
        rank,
        dtype=settings.dtype,
        n_jobs=n_jobs,
        exponents=exponents,
        longest_columns=longest,
    )


def fit_memory(
    shape: Sequence[int],
    n_entries: int,
    rank: int,
    *,
    dtype: str,
    n_jobs: int,
    exponents: Sequence[float | None],
    longest_columns: Sequence[int],
) -> MemoryEstimate:
    """What a fit will take, from numbers alone: no tensor and no cost need be at hand.

    Parameters
    ----------
    shape : sequence of int
    n_entries : int
        Nonzeros of the tensor.
    rank : int
    dtype : {"float32", "float64"}
    n_jobs : int
        Workers.
    exponents : sequence of float or None
        Per mode sharpness x largest cost; None where no mass moves.
    longest_columns : sequence of int
        Per mode the nonzeros of the fullest column of its unfolding. Looked at only where the
        exponent is beyond ``MAX_EXPONENT``; who does not know it gives the size of the mode.
    """
    item = np.dtype(dtype).itemsize
    kernels, block = 0, 0
    for size, exponent, longest in zip(shape, exponents, longest_columns, strict=True):
        if exponent is None:
            continue
        kernels += item * size * size
        if _is_sharp(exponent):  # the longest column's shares, a weighted copy for Newton's matrix
            copies = 2 if longest <= MAX_NEWTON else 1
            block = max(block, BLOCK * size * item, copies * longest * size * item)
        else:
            block = max(block, BLOCK * min(size, TILE) * item)
    # Per entry and mode: unfolding, log value, log scaling and scaling with their copies in
    # the tasks, sorting, and the share of its column; calibrated by ``benchmarks``.
    per_entry = 78 + 3 * item
    entries = len(shape) * n_entries * per_entry
    factors = sum(shape) * rank * (8 * 12 + item)
    working = n_jobs * (block + BLOCK * rank * item) + factors
    return MemoryEstimate(kernels, entries, working)


def _is_sharp(exponent: float | None) -> bool:
    """Whether a mode's columns are solved in logarithms."""
    return exponent is not None and exponent > MAX_EXPONENT


def refuse_if_too_large(estimate: MemoryEstimate, shape: Sequence[int]) -> None:
    """Raise :class:`NotEnoughMemory` when the fit would not fit, with numbers and a way out."""
    free = available_memory()
    if estimate.total <= SPARE * free:
        return
    largest = max(range(len(shape)), key=lambda mode: shape[mode])
    raise refuse(
        "memory",
        "The fit needs more memory than is free",
        f"shape {tuple(shape)}",
        f"{estimate.total / GIGABYTE:.2f} GB needed ({estimate.kernels / GIGABYTE:.2f} GB "
        f"of it for kernels), {free / GIGABYTE:.2f} GB free",
        f"Give mode {largest + 1} (size {shape[largest]}) the cost None, so that no mass "
        "moves within it, use fewer rows, or float32.",
        kind=NotEnoughMemory,
    )


def _longest_column(tensor: SparseTensor, mode: int) -> int:
    """Nonzeros of the fullest column of one unfolding."""
    others = [axis for axis in range(tensor.n_modes) if axis != mode]
    _, counts = np.unique(tensor.coordinates[:, others], axis=0, return_counts=True)
    return int(counts.max(initial=0))
