"""How much memory a fit will need, known before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import NotEnoughMemory, refuse
from swiftcore.runtime.memory import GIGABYTE, SPARE, available_memory
from swiftcore.tensor import SparseTensor
from swiftcore.transport.compiled.blocks import BLOCK
from swiftcore.transport.compiled.columns import TILE
from swiftcore.transport.compiled.log_domain import MAX_NEWTON
from swiftcore.transport.kernel import MAX_EXPONENT
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
    item = np.dtype(settings.dtype).itemsize
    kernels, block, rows = 0, 0, sum(tensor.shape)
    for mode, (cost, size) in enumerate(zip(costs, tensor.shape, strict=True)):
        if cost is None:
            continue
        sharp = settings.sharpness * float(cost.max(initial=0.0)) > MAX_EXPONENT
        kernels += item * size * size
        block = max(block, BLOCK * (size if sharp else min(size, TILE)) * item)
        if sharp:  # the shares of the longest column, and a weighted copy for Newton's matrix
            longest = _longest_column(tensor, mode)
            copies = 2 if longest <= MAX_NEWTON else 1
            block = max(block, copies * longest * size * item)
    n = tensor.n_modes
    # Per entry and mode: unfolding, log value, log scaling and scaling with their copies in
    # the tasks, sorting, and the share of its column; calibrated by ``benchmarks``.
    per_entry = 78 + 3 * item
    entries = n * tensor.n_entries * per_entry
    factors = rows * rank * (8 * 12 + item)
    working = n_jobs * (block + BLOCK * rank * item) + factors
    return MemoryEstimate(kernels, entries, working)


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
