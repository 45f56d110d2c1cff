"""The engine's transport brought to rest for fixed factors, and what it says of itself there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from swiftcore.runtime.workers import Workers
from swiftcore.tensor import SparseTensor
from swiftcore.transport.column_task import ModeState
from swiftcore.transport.kernel import DenseKernel
from swiftcore.transport.problem import TransportSettings, describe_problem
from swiftcore.transport.sweep import Sweeper, TransportValue, cold_state, stack_factors

Array = NDArray[np.float64]
MANY_SWEEPS = {(10.0, 50.0), (10.0, 100.0)}  # thousands until plain sweeps come to rest
PAPER_GRID = [
    pytest.param(*pair, marks=pytest.mark.slow if pair in MANY_SWEEPS else ())
    for pair in product((0.1, 1.0, 10.0), (10.0, 20.0, 50.0, 100.0, 1000.0))
]
BEYOND = [pytest.param(marginal_weight, 1e5) for marginal_weight in (0.1, 1.0, 10.0)]
MAX_SWEEPS = 20_000


@dataclass(frozen=True, eq=False)
class Settled:
    """Everything the engine knows once its plans no longer change; factors are of X / scale."""

    sweeper: Sweeper
    states: list[ModeState]
    factors: list[Array]
    value: TransportValue
    numerators: list[Array]

    @property
    def scale(self) -> float:
        return self.sweeper.problem.scale

    def in_units_of_data(self, factors: Sequence[Array]) -> list[Array]:
        """Factors of X / scale turned into factors of X."""
        return [factors[0] * self.scale, *factors[1:]]


def make_sweeper(
    tensor: SparseTensor,
    costs: Sequence[Array | None],
    sharpness: float,
    marginal_weight: float,
    dtype: str = "float64",
    value_unit: float = 1.0,
) -> Sweeper:
    """A sweeper that runs in this thread."""
    settings = TransportSettings(sharpness, marginal_weight, value_unit, dtype)
    with Workers(1) as workers:
        return Sweeper(describe_problem(tensor, costs, settings), workers)


def settle(
    tensor: SparseTensor,
    costs: Sequence[Array | None],
    factors: Sequence[Array],
    sharpness: float,
    marginal_weight: float,
    dtype: str = "float64",
    value_unit: float = 1.0,
) -> Settled:
    """Sweep until the duality gap is at the rounding of the number type (or the sweeps run out).

    The gap is quadratic in the error of the plans, so it is driven far below the accuracy
    that the marginals shall have.
    """
    sweeper = make_sweeper(tensor, costs, sharpness, marginal_weight, dtype, value_unit)
    scaled = [factors[0] / sweeper.problem.scale, *factors[1:]]
    states, stacked = cold_state(sweeper.problem), stack_factors(scaled, dtype)
    small = 1e-22 if dtype == "float64" else 1e-12
    patience = 400 if any(isinstance(k, DenseKernel) for k in sweeper.problem.kernels) else 4
    lowest, since = np.inf, 0
    for _ in range(MAX_SWEEPS):
        numerators = sweeper.sweep(states, stacked, tolerance=small)
        value = sweeper.value(states, scaled)
        since += 1
        if value.gap < 0.5 * lowest:
            lowest, since = value.gap, 0
        if value.gap <= small * abs(value.objective) or since > patience:
            break
    assert numerators is not None
    return Settled(sweeper, states, scaled, value, numerators)


def model_side(settled: Settled, mode: int, cost: Array) -> Array:
    """Delta of one mode as a dense tensor: x^^phi (K v)^(1 - phi), from the state's log v."""
    problem, phi = settled.sweeper.problem, settled.sweeper.problem.settings.relaxation
    part, h = problem.unfoldings[mode], settled.states[mode].log_scaling
    delta = np.zeros(problem.shape)
    along = np.moveaxis(delta, mode, 0)
    for j in range(part.n_columns):
        entries = slice(part.starts[j], part.starts[j + 1])
        log_kernel = -problem.settings.sharpness * cost[:, part.rows[entries]] - problem.offset
        log_kv = np.logaddexp.reduce(log_kernel + h[entries], axis=1)
        others = [
            settled.factors[o][i]
            for o, i in zip(part.other_modes, part.column_places[j], strict=True)
        ]
        model = settled.factors[mode] @ np.prod(others, axis=0)
        column = np.zeros(len(model))
        alive = model > 0
        column[alive] = model[alive] ** phi * np.exp((1 - phi) * log_kv[alive])
        along[(slice(None), *part.column_places[j])] = settled.scale * column
    return delta
