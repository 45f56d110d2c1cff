"""What is to be transported where: the unfoldings of a tensor, their kernels, the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.neighbourhoods import Neighbourhoods
from swiftcore.errors import refuse
from swiftcore.runtime.block_sums import total
from swiftcore.tensor import SparseTensor, Unfolding, unfold
from swiftcore.transport.kernel import BlockKernel, IdentityKernel, Kernel, build_kernel
from swiftcore.transport.limits import NEIGHBOURHOODS_OF_A_PART, PARTS_BESIDE, task_width

# Powers of ten from the mean value down to the smallest one, or either way to the unit of the
# entropy, for which float32 holds what a sweep computes.
SINGLE_REACH = 30.0
# And by which the unit may exceed any value: transport swells towards it, at last beyond float64.
MAX_UNIT = 300.0


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

    def offset(self, scale: float) -> float:
        """What the kernel makes up for when values are divided by ``scale``."""
        return 1.0 + float(np.log(scale) - np.log(self.value_unit))


@dataclass(frozen=True)
class ColumnRange:
    """A share of one mode's work: a range of its columns.

    Attributes
    ----------
    mode, first, last : int
    part : int
        The part of the data's rows that its columns belong to.
    block : int
        Of a mode of neighbourhoods, the one that its columns belong to; else 0.
    """

    mode: int
    first: int
    last: int
    part: int = 0
    block: int = 0


@dataclass(frozen=True, eq=False)
class TransportProblem:
    """All transport problems of one tensor; describes, does not compute.

    Values are divided by ``scale`` (their mean), and ``offset`` makes up for it in the
    kernel K = exp(-sharpness C - offset), so extreme units neither overflow nor vanish.

    Rows that are cut into neighbourhoods stand in their order here: ``order`` says which row of
    the data each is. Some neighbourhoods at a time are a part: no column of any unfolding
    reaches beyond it, so that parts have only the factors of the features in common.
    """

    shape: tuple[int, ...]
    unfoldings: tuple[Unfolding, ...]
    kernels: tuple[Kernel | BlockKernel, ...]
    log_values: tuple[NDArray[np.float64], ...]
    settings: TransportSettings
    scale: float
    offset: float
    mass: float
    spans: tuple[ColumnRange, ...]
    order: NDArray[np.int64] | None = None

    @property
    def n_modes(self) -> int:
        return len(self.shape)

    @property
    def row_parts(self) -> tuple[slice, ...]:
        """The rows of each part."""
        rows = self.kernels[0]
        cuts = [0, self.shape[0]]
        if isinstance(rows, BlockKernel):
            cuts = [*rows.starts[:-1:NEIGHBOURHOODS_OF_A_PART].tolist(), self.shape[0]]
        return tuple(slice(low, high) for low, high in pairwise(cuts))

    @property
    def first_rows(self) -> NDArray[np.int64]:
        """Where each mode's factor begins when all factors are stacked."""
        return np.concatenate(([0], np.cumsum(self.shape)[:-1])).astype(np.int64)

    def from_data(self, memberships: NDArray[np.float64]) -> NDArray[np.float64]:
        """The reverse of :meth:`in_data_units`."""
        ordered = memberships if self.order is None else memberships[self.order]
        return ordered / self.scale

    def in_data_units(self, memberships: NDArray[np.float64]) -> NDArray[np.float64]:
        """Memberships of the data divided by ``scale``, as memberships of the data.

        Raises
        ------
        InvalidData
            When they are more than a number can hold.
        """
        scaled = times_scale(memberships, self.scale)
        if self.order is None:
            return scaled
        found = np.empty_like(scaled)
        found[self.order] = scaled
        return found


def times_scale(memberships: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Memberships of values that were divided by ``scale``, as those of the values.

    Raises
    ------
    InvalidData
        When they are more than a number can hold.
    """
    with np.errstate(over="ignore"):  # refused below, in words
        scaled = memberships * scale
    if not np.isfinite(scaled).all():
        raise refuse(
            "value-range",
            "The weights of the components are more than a number can hold",
            "values",
            f"values of {scale:.3g} on average",
            "Divide all values by a common unit.",
        )
    return scaled


def fitting_settings(tensor: SparseTensor, settings: TransportSettings) -> TransportSettings:
    """The settings with a number type that holds these values: float64 where float32 does not.

    Raises
    ------
    InvalidData
        When a value is so small in the unit of the entropy that neither does.
    """
    mean = mean_of([tensor.values], tensor.n_entries)
    return holding_settings(settings, mean, float(tensor.values.min()))


def holding_settings(
    settings: TransportSettings, mean_value: float, least_value: float
) -> TransportSettings:
    """The same, from the mean of the values and the least of them."""
    unit = np.log10(settings.value_unit)
    mean, least = np.log10(mean_value), np.log10(least_value)
    if unit - least > MAX_UNIT:
        raise refuse(
            "value-range",
            "A value is next to nothing in the unit of the entropy",
            "values",
            f"{least_value:.3g} and a unit of {settings.value_unit:.3g}",
            "Leave out values that small, fit with another value_unit, and give new rows in the "
            "unit of the rows of the fit.",
        )
    wide = max(abs(unit - mean), mean - least) > SINGLE_REACH
    return replace(settings, dtype="float64") if wide else settings


def mean_of(blocks: Sequence[NDArray[np.float64]], count: int) -> float:
    """The mean of values, some at a time, whose sum may be more than a number can hold."""
    largest = max(float(values.max(initial=0.0)) for values in blocks)
    return total((values / largest for values in blocks), count) / count * largest


def describe_problem(
    tensor: SparseTensor,
    costs: Sequence[NDArray[np.float64] | Neighbourhoods | Kernel | BlockKernel | None],
    settings: TransportSettings,
    scale: float | None = None,
) -> TransportProblem:
    """Unfold the tensor along every mode and pair each unfolding with its kernel.

    Parameters
    ----------
    costs : sequence
        ``None`` means that no mass moves within that mode; a kernel that is at hand is taken.
    scale : float, optional
        What values are divided by, if not by their mean: some rows of a larger tensor.
    """
    rows, order, starts = costs[0], None, None
    if isinstance(rows, Neighbourhoods):
        order, starts = rows.order, rows.starts
        tensor = tensor.select(0, order)
    elif isinstance(rows, BlockKernel):  # the rows are in its order
        starts = rows.starts
    unfoldings = tuple(
        unfold(tensor, mode, starts if mode == 0 else None) for mode in range(tensor.n_modes)
    )
    kernels = tuple(
        cost
        if isinstance(cost, Kernel | BlockKernel)
        else build_kernel(cost, settings.sharpness, settings.dtype)
        for cost in costs
    )
    scale = mean_of([tensor.values], tensor.n_entries) if scale is None else scale
    return TransportProblem(
        shape=tensor.shape,
        unfoldings=unfoldings,
        kernels=kernels,
        log_values=tuple(np.log(part.values) - np.log(scale) for part in unfoldings),
        settings=settings,
        scale=scale,
        offset=settings.offset(scale),
        mass=total([tensor.values / scale], tensor.n_entries),
        spans=_cut_columns(unfoldings, kernels),
        order=order,
    )


def _cut_columns(
    unfoldings: Sequence[Unfolding], kernels: Sequence[Kernel | BlockKernel]
) -> tuple[ColumnRange, ...]:
    """Cut every mode's columns into ranges of about the same work, none across two parts."""
    spans = []
    rows, n_rows = kernels[0], unfoldings[0].n_rows
    parts, beside = np.array([0, n_rows]), 1
    if isinstance(rows, BlockKernel):
        parts, beside = np.r_[rows.starts[:-1:NEIGHBOURHOODS_OF_A_PART], n_rows], PARTS_BESIDE
    for unfolding, kernel in zip(unfoldings, kernels, strict=True):
        fixed = isinstance(kernel, IdentityKernel)
        starts, of_a_part, sizes = parts, 1, [unfolding.n_rows] * (len(parts) - 1)
        if isinstance(kernel, BlockKernel):
            starts, of_a_part = kernel.starts, NEIGHBOURHOODS_OF_A_PART
            sizes = np.diff(starts).tolist()
        cuts = pairwise(_block_columns(unfolding, starts).tolist())
        for block, ((low, high), size) in enumerate(zip(cuts, sizes, strict=True)):
            width = task_width(high - low, size, fixed, max(of_a_part, beside))
            part = block // of_a_part
            spans += [
                ColumnRange(unfolding.mode, first, min(first + width, high), part, block)
                for first in range(low, high, width)
            ]
    return tuple(spans)


def _block_columns(unfolding: Unfolding, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the columns of each block of the data's rows begin, and the end.

    Parameters
    ----------
    starts : ndarray of int64
        Where each block begins, and the end.
    """
    if unfolding.mode == 0:  # a column has rows of one block; blocks follow each other
        inside = unfolding.rows[unfolding.starts[:-1]]
    else:
        inside = unfolding.column_places[:, 0]
    numbers = np.searchsorted(starts, inside, side="right")
    return np.searchsorted(numbers, np.arange(1, len(starts) + 1))
