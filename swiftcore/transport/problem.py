"""What is to be transported where: the unfoldings of a tensor, their kernels, the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.tensor import SparseTensor, Unfolding, unfold
from swiftcore.transport.kernel import IdentityKernel, Kernel, build_kernel
from swiftcore.transport.limits import task_width


@dataclass(frozen=True)
class TransportSettings:
    """The paper's two weights and the numbers they are computed with.

    Attributes
    ----------
    sharpness : float
        rho: the entropy weighs 1 / sharpness, larger is sharper.
    marginal_weight : float
        lambda: what it costs when the plan's marginals leave model and data.
    value_unit : float
        The value that counts as 1 in the entropy; the paper's formula has 1.
    dtype : str
        "float32" or "float64", inside the column blocks; sums are float64.
    """

    sharpness: float = 10.0
    marginal_weight: float = 1.0
    value_unit: float = 1.0
    dtype: str = "float32"

    @property
    def relaxation(self) -> float:
        """phi = lambda rho / (lambda rho + 1)."""
        product = self.marginal_weight * self.sharpness
        return product / (product + 1.0)


@dataclass(frozen=True)
class ColumnRange:
    """A share of one mode's work: a range of its columns."""

    mode: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class TransportProblem:
    """All transport problems of one tensor; describes, does not compute.

    Values are divided by ``scale`` (their mean), and ``offset`` makes up for it in the
    kernel K = exp(-sharpness C - offset), so extreme units neither overflow nor vanish.
    """

    shape: tuple[int, ...]
    unfoldings: tuple[Unfolding, ...]
    kernels: tuple[Kernel, ...]
    log_values: tuple[NDArray[np.float64], ...]
    settings: TransportSettings
    scale: float
    offset: float
    mass: float
    spans: tuple[ColumnRange, ...]

    @property
    def n_modes(self) -> int:
        return len(self.shape)

    @property
    def first_rows(self) -> NDArray[np.int64]:
        """Where each mode's factor begins when all factors are stacked."""
        return np.concatenate(([0], np.cumsum(self.shape)[:-1])).astype(np.int64)


def describe_problem(
    tensor: SparseTensor,
    costs: Sequence[NDArray[np.float64] | None],
    settings: TransportSettings,
) -> TransportProblem:
    """Unfold the tensor along every mode and pair each unfolding with its kernel.

    A cost of ``None`` means that no mass moves within that mode.
    """
    unfoldings = tuple(unfold(tensor, mode) for mode in range(tensor.n_modes))
    kernels = tuple(build_kernel(cost, settings.sharpness, settings.dtype) for cost in costs)
    scale = float(np.mean(tensor.values / tensor.values.max()) * tensor.values.max())
    return TransportProblem(
        shape=tensor.shape,
        unfoldings=unfoldings,
        kernels=kernels,
        log_values=tuple(np.log(part.values) - np.log(scale) for part in unfoldings),
        settings=settings,
        scale=scale,
        offset=1.0 + float(np.log(scale) - np.log(settings.value_unit)),
        mass=float(np.sum(tensor.values / scale)),
        spans=_cut_columns(unfoldings, kernels),
    )


def _cut_columns(
    unfoldings: Sequence[Unfolding], kernels: Sequence[Kernel]
) -> tuple[ColumnRange, ...]:
    """Cut every mode's columns into ranges of about the same work."""
    spans = []
    for part, kernel in zip(unfoldings, kernels, strict=True):
        width = task_width(part.n_columns, part.n_rows, isinstance(kernel, IdentityKernel))
        spans += [
            ColumnRange(part.mode, first, min(first + width, part.n_columns))
            for first in range(0, part.n_columns, width)
        ]
    return tuple(spans)
