"""What every factorization in this project can do, SWIFT and the baselines alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.progress import ProgressCallback
from swiftcore.tensor import Mode, SparseTensor


@runtime_checkable
class Factorizer(Protocol):
    """Find feature profiles on some rows, then say how much of each any other row holds.

    An evaluation that fits on training rows and projects the rest needs no more than this.

    Attributes
    ----------
    nonnegative, loss_never_rises : bool
        What the method promises.
    rank : int
        Number of components.
    factors_ : list of ndarray, (mode size x rank)
        After the fit; the first belongs to the rows and carries the weights.
    memberships_ : ndarray
        ``factors_[0]``.
    modes_ : tuple of Mode
        Names and labels of what was fitted.
    """

    nonnegative: ClassVar[bool]
    loss_never_rises: ClassVar[bool]
    rank: int
    factors_: list[NDArray[np.float64]]
    memberships_: NDArray[np.float64]
    modes_: tuple[Mode, ...]

    def fit(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None = None,
        *,
        labels: ArrayLike | None = None,
        initial_factors: Sequence[ArrayLike] | None = None,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Find the factors; methods that use no costs or no labels leave them aside.

        Parameters
        ----------
        tensor : SparseTensor
        costs : sequence of ndarray or None, optional
            One cost matrix per mode. None in the list: no mass moves in that mode. Left out, a
            method that moves mass builds cosine costs from the tensor itself.
        labels : optional
            The class of each row, for supervised methods.
        initial_factors : sequence of ndarray, (mode size x rank), optional
            Start from these instead of from a start of the method's own.
        callback : callable, optional
            Gets a :class:`swiftcore.progress.FitProgress` after each iteration; returns True to
            stop.
        """
        ...

    def transform(self, tensor: SparseTensor) -> NDArray[np.float64]:
        """Memberships of rows, (rows x rank), for the feature profiles found."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Settings by name, as in scikit-learn."""
        ...
