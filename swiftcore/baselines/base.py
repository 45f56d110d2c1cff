"""What all CP baselines share: sweeps over the modes until the loss converges."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from swiftcore.baselines.defaults import SWEEPS
from swiftcore.baselines.solvers.checks import check_loss, check_settings, check_values
from swiftcore.baselines.solvers.sparse_cp import (
    Factors,
    even_memberships,
    random_factors,
    weights_in_rows,
)
from swiftcore.progress import FitOutcome, FitProgress, ProgressCallback
from swiftcore.tensor import SparseTensor
from swiftcore.tensor.factor_checks import checked_factors
from swiftcore.tensor.row_checks import check_features, check_tensor

PROJECTION_STEPS = 20  # times the steps of a fit that a projection may take: it is cheap


def one_blas_thread() -> AbstractContextManager[object]:
    """The same numbers on any number of cores, and no threads in the way of other fits."""
    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


class CpBaseline(BaseEstimator):  # type: ignore[misc]
    """A CP model fitted by sweeps over its modes, features first and rows last.

    A method says how it starts, what one sweep does, what its loss is and how rows are
    projected; everything else is here.

    Parameters
    ----------
    rank : int
    max_iterations : int
        Sweeps at most.
    tolerance : float
        Stop when a sweep changes the loss by less than this share of it.
    random_state : int or None

    Attributes
    ----------
    nonnegative, loss_never_rises : bool
        What the method promises.
    factors_, memberships_, modes_
        As in :class:`swiftcore.factorizer.Factorizer`.
    history_ : tuple of FitProgress
        The loss as ``objective``; parts that only SWIFT has are NaN.
    outcome_ : FitOutcome
    n_iterations_ : int
    objective_ : float
    """

    nonnegative: ClassVar[bool] = True
    loss_never_rises: ClassVar[bool] = True

    def __init__(
        self,
        rank: int = 10,
        *,
        max_iterations: int = SWEEPS.max_iterations,
        tolerance: float = SWEEPS.tolerance,
        random_state: int | None = None,
    ) -> None:
        self.rank = rank
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.random_state = random_state

    def fit(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None = None,
        *,
        labels: ArrayLike | None = None,
        initial_factors: Sequence[ArrayLike] | None = None,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Find the factors.

        Parameters
        ----------
        tensor : SparseTensor
        costs, labels : optional
            Used by the methods that say so, left aside by the others.
        initial_factors : sequence of ndarray, optional
            Start from these instead of at random.
        callback : callable, optional
            Gets a :class:`FitProgress` after each sweep; returns True to stop.
        """
        check_settings(self.get_params())
        check_tensor(tensor)
        check_values(tensor.values)
        data = self._prepare(tensor, costs, labels)
        with one_blas_thread():
            factors = self._sweeps(data, self._first_factors(data, initial_factors), callback)
        self.factors_ = self._normalised(factors)
        self.memberships_ = self.factors_[0]
        self.modes_ = tensor.modes
        return self

    def transform(self, tensor: SparseTensor) -> NDArray[np.float64]:
        """Memberships of rows for the feature profiles found; each row is projected by itself.

        Parameters
        ----------
        tensor : SparseTensor
            Rows with the features of the fit.

        Returns
        -------
        ndarray, (rows x rank)
        """
        check_features(getattr(self, "modes_", None), tensor)
        check_values(tensor.values)
        with one_blas_thread():
            return self._project(tensor, self.factors_[1:])

    @abstractmethod
    def _sweep(self, tensor: SparseTensor, factors: Factors) -> Factors:
        """One update of every mode."""

    @abstractmethod
    def _loss(self, tensor: SparseTensor, factors: Factors) -> float:
        """What is minimised, and what the history shows."""

    @abstractmethod
    def _project(self, tensor: SparseTensor, features: Factors) -> NDArray[np.float64]:
        """Memberships for fixed features."""

    def _prepare(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None,
        labels: ArrayLike | None,
    ) -> SparseTensor:
        return tensor

    def _watched(self, tensor: SparseTensor, factors: Factors, loss: float) -> float:
        """What the stopping rule follows: the loss, unless it changes its meaning on the way."""
        return loss

    def _first_factors(self, tensor: SparseTensor, initial: Sequence[ArrayLike] | None) -> Factors:
        if initial is None:
            return self._start(tensor, np.random.default_rng(self.random_state))
        return checked_factors(initial, tensor.shape, self.rank, nonnegative=self.nonnegative)

    def _start(self, tensor: SparseTensor, rng: np.random.Generator) -> Factors:
        return random_factors(tensor, self.rank, rng)

    def _normalised(self, factors: Factors) -> Factors:
        return weights_in_rows(factors)

    def _sweeps(
        self, tensor: SparseTensor, factors: Factors, callback: ProgressCallback | None
    ) -> Factors:
        began = time.perf_counter()
        loss = self._loss(tensor, factors)
        history = [self._progress(0, loss, began)]
        watched = self._watched(tensor, factors, loss)
        self.outcome_ = FitOutcome.ITERATION_LIMIT
        for iteration in range(1, self.max_iterations + 1):
            factors = self._sweep(tensor, factors)
            loss = self._loss(tensor, factors)
            check_loss(loss)
            history.append(self._progress(iteration, loss, began))
            if callback is not None and callback(history[-1]):
                self.outcome_ = FitOutcome.STOPPED
                break
            previous, watched = watched, self._watched(tensor, factors, loss)
            if abs(previous - watched) <= self.tolerance * abs(previous):
                self.outcome_ = FitOutcome.CONVERGED
                break
        self.history_ = tuple(history)
        self.n_iterations_, self.objective_ = len(history) - 1, loss
        return factors

    def _progress(self, iteration: int, loss: float, began: float) -> FitProgress:
        no = math.nan
        seconds = time.perf_counter() - began
        return FitProgress(iteration, self.max_iterations, loss, no, no, no, no, True, seconds)

    def _climb_rows(
        self,
        tensor: SparseTensor,
        features: Factors,
        step: Callable[[SparseTensor, Factors], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Repeat a row update until every row has converged; a converged row is left alone.

        So the answer for a row does not depend on the rows beside it.
        """
        rows = even_memberships(tensor, self.rank)
        moving = np.flatnonzero(rows.any(axis=1))
        part, held = tensor, np.arange(len(rows))  # the rows in hand: all that move, and some more
        for _ in range(PROJECTION_STEPS * self.max_iterations):
            if moving.size == 0:
                break
            if 2 * moving.size < held.size:
                part, held = tensor.select(0, moving), moving
            here = np.searchsorted(held, moving)
            moved = step(part, [rows[held], *features])[here]
            change = np.abs(moved - rows[moving]).sum(axis=1)
            rows[moving] = moved
            moving = moving[change > 0.1 * self.tolerance * moved.sum(axis=1)]
        return rows
