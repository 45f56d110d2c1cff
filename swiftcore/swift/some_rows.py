"""Where a fit of very many rows starts: at the start of some of its neighbourhoods.

Looking for a start among all rows would take longer than many iterations. Profiles found on
neighbourhoods that lie evenly over all are as good; every row then takes its memberships from them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.spec.row_relation import NEIGHBOURHOOD
from swiftcore.swift.factor_update import Factors
from swiftcore.swift.start import kl_memberships
from swiftcore.tensor import Mode, SparseTensor
from swiftcore.transport.kernel import BlockKernel
from swiftcore.transport.problem import TransportProblem, describe_problem

START_NEIGHBOURHOODS = 20_000 // NEIGHBOURHOOD
MEMBERSHIP_STEPS = 5  # of the sparse KL factorization, towards profiles that stay


def chosen_neighbourhoods(count: int) -> NDArray[np.int64]:
    """The neighbourhoods on which a start is looked for: all of a few, else evenly spaced ones."""
    if count <= START_NEIGHBOURHOODS:
        return np.arange(count)
    return np.linspace(0, count - 1, START_NEIGHBOURHOODS).round().astype(np.int64)


def start_problem(problem: TransportProblem) -> TransportProblem:
    """The problem on which a start is looked for: the same, or one of some neighbourhoods."""
    rows = problem.kernels[0]
    if not isinstance(rows, BlockKernel) or len(rows.blocks) <= START_NEIGHBOURHOODS:
        return problem
    chosen = chosen_neighbourhoods(len(rows.blocks))
    sizes = np.diff(rows.starts)
    wanted = np.concatenate([np.arange(*rows.starts[one : one + 2]) for one in chosen])
    kernel = BlockKernel(
        np.r_[0, np.cumsum(sizes[chosen])], tuple(rows.blocks[one] for one in chosen)
    )
    tensor = _tensor(problem).select(0, wanted)
    costs = [kernel, *problem.kernels[1:]]
    return describe_problem(tensor, costs, problem.settings, problem.scale)


def _tensor(problem: TransportProblem) -> SparseTensor:
    """The entries of a problem, in the order of its rows."""
    part = problem.unfoldings[0]
    columns = np.repeat(np.arange(part.n_columns), np.diff(part.starts))
    places = np.column_stack([part.rows, part.column_places[columns]]).astype(np.int64)
    order = np.lexsort(places.T[::-1])
    modes = tuple(Mode.numbered(str(axis), size) for axis, size in enumerate(problem.shape))
    return SparseTensor(modes, places[order], part.values[order])


def memberships_for(
    problem: TransportProblem, features: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Of every row, for profiles that stay: its own mass on all components, then a few steps."""
    mass = np.zeros(problem.shape[0])
    np.add.at(mass, problem.unfoldings[0].rows, np.exp(problem.log_values[0]))
    rank = features[0].shape[1]
    even: Factors = [np.repeat(mass[:, None], rank, axis=1) / rank, *features]
    return kl_memberships(problem, even, MEMBERSHIP_STEPS)
