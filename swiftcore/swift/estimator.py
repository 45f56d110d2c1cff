"""The estimator: SWIFT behind scikit-learn's interface."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from swiftcore.cost.checks import check_cost, check_costs
from swiftcore.cost.memory import refuse_costs
from swiftcore.cost.neighbourhoods import Neighbourhoods
from swiftcore.cost.recipe import build_costs, row_cost, row_neighbourhoods
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.phenotypes.identifiers import dead_components
from swiftcore.progress import FitOutcome, FitProgress, ProgressCallback
from swiftcore.runtime.workers import Workers
from swiftcore.spec import ModelSpec
from swiftcore.spec.row_relation import resolved
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.engine import LoopState, WholeRows
from swiftcore.swift.factor_update import Factors, normalize
from swiftcore.swift.fit_file import FitFile, fit_key
from swiftcore.swift.loop import FitResult, Schedule, alternate, project_rows
from swiftcore.swift.memory import MemoryEstimate, estimate_memory, refuse_if_too_large
from swiftcore.swift.search import Plan, find_factors
from swiftcore.swift.settings import check_settings
from swiftcore.tensor import Mode, SparseTensor
from swiftcore.tensor.factor_checks import checked_factors, checked_pins
from swiftcore.tensor.row_checks import check_features, check_tensor
from swiftcore.transport.problem import (
    TransportProblem,
    TransportSettings,
    describe_problem,
    fitting_settings,
)
from swiftcore.transport.sweep import Sweeper

logger = logging.getLogger(__name__)

ALONE_AT_ONCE = 20_000  # rows of an independent projection
PLAIN_STEPS = 500  # the most of an independent projection
USUAL = ModelSpec()  # where the defaults of the estimator come from


class Swift(BaseEstimator):  # type: ignore[misc]
    """Nonnegative CP factors at the smallest Wasserstein distance from a sparse tensor.

    Minimises, over nonnegative factors ``A_n`` and transport plans ``T_n``, with
    ``X^ = [[A_1 ... A_N]]`` ::

        sum_n <C_n, T_n> - E(T_n) / sharpness
              + marginal_weight (KL(Delta(T_n) || X^_(n)) + KL(Psi(T_n) || X_(n)))

    Parameters
    ----------
    rank : int
        Number of components (phenotypes, topics).
    sharpness : float
        rho; larger makes transport plans sharper (the entropy weighs 1 / sharpness).
    marginal_weight : float
        lambda; what it costs to leave the data or the model.
    max_iterations : int
    tolerance : float
        Stop when an iteration lowers the objective by less than this share of what an empty
        model would cost, on average over the last few iterations.
    start : {"kl", "random"}
        From a cheap sparse KL factorization, or from random feature profiles.
    n_restarts : int
        Starts tried; the one with the lowest objective goes on.
    momentum : float
        How far steps are carried on (0: plain steps). A worse trial is always taken back.
    value_unit : float or "mean"
        The value that counts as 1 in the entropy. 1 is the paper's formula; with "mean" the
        result follows the data's unit exactly (c X gives c times the factors).
    random_state : int or None
    n_jobs : int or None
        Workers; None takes all cores. Results do not depend on it.
    dtype : {"float32", "float64"}
        Inside the column blocks; sums and factors are always float64.
    row_relation : {"auto", "dense", "neighbourhoods", "none"}
        Between which rows mass moves where a fit or a projection builds the row cost itself:
        any two, those of a neighbourhood of similar rows, or none. ``auto``: any two up to
        ``swiftcore.spec.row_relation.DENSE_ROWS`` rows, then neighbourhoods.

    Attributes
    ----------
    nonnegative, loss_never_rises : bool
        What SWIFT promises.
    factors_ : list of ndarray, (mode size x rank)
        Columns of all modes but the first sum to 1; the first carries the weight.
    memberships_ : ndarray
        ``factors_[0]``.
    history_ : tuple of FitProgress
        Objective and its parts at every iteration, the start first.
    outcome_ : FitOutcome
    n_iterations_ : int
    objective_ : float
    dead_components_ : tuple of int
        Components that lost (almost) all their mass.
    rows_fixed_ : bool
        Whether the fit had no row cost.
    row_relation_ : {"dense", "neighbourhoods", "none"}
        Between which rows mass moved in the fit.
    value_unit_ : float
        The unit of the entropy, as a number; projections use the same.
    modes_ : tuple of Mode
    feature_costs_ : list of ndarray or None
        Costs of the modes after the first, kept for ``transform``.
    """

    nonnegative: ClassVar[bool] = True
    loss_never_rises: ClassVar[bool] = True

    def __init__(
        self,
        rank: int = USUAL.rank,
        *,
        sharpness: float = USUAL.sharpness,
        marginal_weight: float = USUAL.marginal_weight,
        max_iterations: int = USUAL.max_iterations,
        tolerance: float = USUAL.tolerance,
        start: str = USUAL.start,
        n_restarts: int = USUAL.n_restarts,
        momentum: float = USUAL.momentum,
        value_unit: float | str = USUAL.value_unit,
        random_state: int | None = None,
        n_jobs: int | None = None,
        dtype: str = USUAL.dtype,
        row_relation: str = USUAL.row_relation,
    ) -> None:
        self.rank = rank
        self.sharpness = sharpness
        self.marginal_weight = marginal_weight
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.start = start
        self.n_restarts = n_restarts
        self.momentum = momentum
        self.value_unit = value_unit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.dtype = dtype
        self.row_relation = row_relation

    def fit(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | None = None,
        *,
        labels: ArrayLike | None = None,
        initial_factors: Sequence[ArrayLike] | None = None,
        pinned: Sequence[int] = (),
        callback: ProgressCallback | None = None,
        checkpoint: FitCheckpoint | None = None,
    ) -> Self:
        """Find the factors.

        Parameters
        ----------
        tensor : SparseTensor
        costs : sequence of ndarray or None, optional
            One cost matrix per mode; None where no mass may move. Left out: cosine costs
            built from the tensor itself.
        labels : optional
            Left aside: SWIFT is unsupervised. Every factorizer takes them.
        initial_factors : sequence of ndarray, optional
            Start from these instead; zeros in them stay zero.
        pinned : sequence of int
            Components that keep the profiles of ``initial_factors`` in all modes but the first,
            bit for bit; how much of them each row holds is found as for all others.
        callback : callable, optional
            Gets a :class:`FitProgress` after each iteration; returns True to stop.
        checkpoint : FitCheckpoint, optional
            Where the state is kept, so that the same fit, started again after it was stopped or
            killed, goes on from there and ends at the same bits.
        """
        check_settings(self.get_params())
        check_tensor(tensor)
        if costs is None:
            costs = self._cosine_costs(tensor)
        self.value_unit_ = self._value_unit(tensor)
        problem, workers = self._prepare(tensor, costs)
        with workers:
            sweeper = Sweeper(problem, workers)
            initial = self._initial(problem, initial_factors)
            plan = self._plan(checked_pins(pinned, initial, self.rank))
            file = None
            if checkpoint is not None:
                key = fit_key(tensor, costs, initial, self.get_params(), plan.pinned)
                file = FitFile(checkpoint, key)
            result = find_factors(sweeper, plan, initial, callback, file)
        self._keep(result, problem, tensor.modes)
        self.rows_fixed_ = costs[0] is None
        self.row_relation_ = "none" if self.rows_fixed_ else "dense"
        if isinstance(costs[0], Neighbourhoods):
            self.row_relation_ = "neighbourhoods"
        self.feature_costs_ = [None if cost is None else np.array(cost) for cost in costs[1:]]
        logger.info("%s iterations: %s", self.n_iterations_, self.outcome_.value)
        return self

    def _cosine_costs(self, tensor: SparseTensor) -> list[Any]:
        """Costs from the tensor itself; that of the rows as the row relation asks."""
        rows = self._row_cost(tensor)
        return [rows, *build_costs(tensor.select(0, [0]), reference=tensor)[1:]]

    def _row_cost(self, tensor: SparseTensor) -> NDArray[np.float64] | Neighbourhoods | None:
        kind = resolved(self.row_relation, tensor.shape[0]).kind
        if kind == "neighbourhoods":
            return row_neighbourhoods(tensor)
        if kind == "none":
            return None
        refuse_costs(tensor.shape)
        return row_cost(tensor)

    def estimate_memory(
        self, tensor: SparseTensor, costs: Sequence[ArrayLike | None]
    ) -> MemoryEstimate:
        """What :meth:`fit` would take on top of its arguments, without running it."""
        check_settings(self.get_params())
        check_tensor(tensor)
        checked = check_costs(costs, tensor.shape)
        settings = self._settings(tensor, self._value_unit(tensor))
        return estimate_memory(tensor, checked, self.rank, settings, Workers(self.n_jobs).n_jobs)

    def transform(
        self,
        tensor: SparseTensor,
        costs: Sequence[ArrayLike | None] | ArrayLike | None = None,
        *,
        independent: bool = False,
        max_iterations: int | None = None,
    ) -> NDArray[np.float64]:
        """Memberships of new rows for the factors found.

        Parameters
        ----------
        tensor : SparseTensor
            New rows, same features as in the fit.
        costs : ndarray or sequence of ndarray, optional
            The row cost among the new rows, or all costs. Without it rows are compared by
            their features (cosine), or not at all if the fit had no row cost; give it when the
            fit's row cost was of another kind.
        independent : bool
            The paper projects rows together, and mass moves between them. True projects
            every row by itself: the answer for a person does not depend on the others.
        max_iterations : int, optional
            Default: as in the fit; when independent, 10 times as many plain steps, at most 500.

        Returns
        -------
        ndarray, (rows x rank)
        """
        check_features(getattr(self, "modes_", None), tensor)
        if max_iterations is not None:
            check_settings({**self.get_params(), "max_iterations": max_iterations})
        if independent and costs is not None:
            raise refuse(
                "independent-costs",
                "Rows projected one by one need no cost between them",
                "costs",
                "a cost together with independent=True",
                "Leave out one of the two.",
                kind=InvalidSettings,
            )
        if independent:
            usual = min(10 * self.max_iterations, PLAIN_STEPS)
            most = usual if max_iterations is None else max_iterations
            return self._transform_alone(tensor, most)
        all_costs = self._projection_costs(tensor, costs)
        problem, workers = self._prepare(tensor, all_costs)
        schedule = self._schedule(max_iterations)
        with workers:
            start = self._membership_start(problem)
            begun = LoopState.cold(problem, start, [0])
            engine = WholeRows(Sweeper(problem, workers))
            result = alternate(engine, begun, [0], schedule)
        return problem.in_data_units(result.factors[0])

    def _transform_alone(self, tensor: SparseTensor, most: int) -> NDArray[np.float64]:
        """Rows by themselves, some at a time: what they take of memory does not grow."""
        n_rows = tensor.shape[0]
        if n_rows > ALONE_AT_ONCE:
            blocks = np.split(np.arange(n_rows), range(ALONE_AT_ONCE, n_rows, ALONE_AT_ONCE))
            parts = [self._transform_alone(tensor.select(0, rows), most) for rows in blocks]
            return np.concatenate(parts)
        if not tensor.n_entries:
            return np.zeros((n_rows, self.rank))
        problem, workers = self._prepare(tensor, [None, *self.feature_costs_], "float64")
        with workers:
            start = self._membership_start(problem)
            factors, _ = project_rows(Sweeper(problem, workers), start, most, 1e-7)
        return problem.in_data_units(factors[0])

    def _membership_start(self, problem: TransportProblem) -> Factors:
        """Every row's own mass, equally on all living components."""
        mass = np.zeros(problem.shape[0])
        np.add.at(mass, problem.unfoldings[0].rows, np.exp(problem.log_values[0]))
        alive = np.array([part not in self.dead_components_ for part in range(self.rank)])
        share = alive / max(1, alive.sum())
        return [mass[:, None] * share, *self.factors_[1:]]

    def _projection_costs(
        self, tensor: SparseTensor, costs: Sequence[ArrayLike | None] | ArrayLike | None
    ) -> list[Any]:
        if costs is None:
            rows = None if self.rows_fixed_ else self._row_cost(tensor)
            return [rows, *self.feature_costs_]
        if isinstance(costs, np.ndarray) and costs.ndim == 2:
            return [check_cost(costs, tensor.shape[0], "mode 1"), *self.feature_costs_]
        return list(costs)  # type: ignore[arg-type]

    def _prepare(
        self, tensor: SparseTensor, costs: Sequence[ArrayLike | None], dtype: str | None = None
    ) -> tuple[TransportProblem, Workers]:
        checked = check_costs(costs, tensor.shape)
        settings, workers = self._settings(tensor, self.value_unit_, dtype), Workers(self.n_jobs)
        estimate = estimate_memory(tensor, checked, self.rank, settings, workers.n_jobs)
        refuse_if_too_large(estimate, tensor.shape)
        return describe_problem(tensor, checked, settings), workers

    def _value_unit(self, tensor: SparseTensor) -> float:
        if self.value_unit != "mean":
            return float(self.value_unit)
        top = float(tensor.values.max(initial=1.0))
        return float(np.mean(tensor.values / top)) * top

    def _settings(
        self, tensor: SparseTensor, value_unit: float, dtype: str | None = None
    ) -> TransportSettings:
        asked = TransportSettings(
            float(self.sharpness), float(self.marginal_weight), value_unit, dtype or self.dtype
        )
        return fitting_settings(tensor, asked)

    def _schedule(self, max_iterations: int | None = None) -> Schedule:
        most = self.max_iterations if max_iterations is None else max_iterations
        return Schedule(most, float(self.tolerance), float(self.momentum))

    def _plan(self, pinned: tuple[int, ...]) -> Plan:
        schedule = self._schedule()
        return Plan(self.rank, self.start, self.n_restarts, self.random_state, schedule, pinned)

    def _initial(
        self, problem: TransportProblem, initial: Sequence[ArrayLike] | None
    ) -> Factors | None:
        """The start that was given, in the problem's scale."""
        if initial is None:
            return None
        factors = checked_factors(initial, problem.shape, self.rank)
        return [problem.from_data(factors[0]), *factors[1:]]

    def _keep(self, result: FitResult, problem: TransportProblem, modes: tuple[Mode, ...]) -> None:
        modes_found = range(problem.n_modes)
        pinned, parts = result.state.pinned, problem.row_parts
        factors = normalize(result.factors, modes_found, pinned, parts)
        weights = factors[0].sum(axis=0)
        self.factors_ = [problem.in_data_units(factors[0]), *factors[1:]]
        self.memberships_ = self.factors_[0]
        self.history_: tuple[FitProgress, ...] = result.history
        self.outcome_: FitOutcome = result.outcome
        self.n_iterations_ = len(result.history) - 1
        self.objective_ = result.history[-1].objective
        self.dead_components_ = dead_components(weights)
        self.modes_ = modes
