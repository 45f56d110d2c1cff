"""Where a guided refit starts: the factors of a finished fit with a person's changes made to them.

Every row keeps the sum of its memberships, whatever is changed. With m the mass of a component
(the sum of its memberships) and p its profile in one mode:

- merge: memberships added, profile ``(m_a p_a + m_b p_b) / (m_a + m_b)``;
- split: the entries of the data, each times the share of it that the component explains, are
  factorized into two by the sparse KL factorization from which every fit starts; each membership
  is divided between the halves as this says, and the half with more mass goes first;
- drop: the weight becomes 0, what is left of the profile is brought back to a sum of 1;
- seed: 90 % of a profile lies on the features named, 9 % on those near to them (by the kernel of
  the model), 1 % on all; where no feature is named, on what the data record together with the
  others. Each row gives it the share that a projection of the row on all profiles finds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.phenotypes.guidance_checks import Changes, Place
from swiftcore.swift.factor_update import Factors
from swiftcore.swift.start import finish_kl, kl_memberships, kl_trial
from swiftcore.tensor import SparseTensor
from swiftcore.transport.problem import TransportProblem, TransportSettings, describe_problem

ON_NAMED, ON_NEAR, ON_ALL = 0.9, 0.09, 0.01
Costs = Sequence[NDArray[np.float64] | None]


def guided_start(
    tensor: SparseTensor,
    factors: Sequence[NDArray[np.float64]],
    changes: Changes,
    costs: Costs,
    sharpness: float,
) -> Factors:
    """The factors from which the refit sets out, in the units of the data.

    Parameters
    ----------
    tensor : SparseTensor
        The rows as they were fitted: weighed.
    factors : sequence of ndarray, (mode size x rank)
        Of the finished fit; columns of all modes but the first sum to 1.
    changes : Changes
    costs : sequence of ndarray or None
        One per mode.
    sharpness : float
        Of the kernel that says which features are near.
    """
    start = [_columns(factors, axis, changes) for axis in range(len(factors))]
    ends = changes.new_rank - len(changes.seeds)
    for second, part in enumerate(changes.splits, start=ends - len(changes.splits)):
        first = changes.origins().index((part,))
        for factor, halves in zip(start, _halves(tensor, factors, part), strict=True):
            factor[:, [first, second]] = halves
    _drop(start, changes)
    return _seed(start, tensor, changes, costs, sharpness) if changes.seeds else start


def _columns(
    factors: Sequence[NDArray[np.float64]], axis: int, changes: Changes
) -> NDArray[np.float64]:
    """One factor with merged columns; those of seeds and second halves are filled in later."""
    mass, factor = factors[0].sum(axis=0), factors[axis]
    found = np.zeros((len(factor), changes.new_rank))
    for at, origin in enumerate(changes.origins()):
        if len(origin) == 2 and axis:
            parts = list(origin)
            found[:, at] = factor[:, parts] @ (mass[parts] / mass[parts].sum())
        else:
            found[:, at] = factor[:, list(origin)].sum(axis=1)
    return found


def _drop(start: Factors, changes: Changes) -> None:
    """Take the dropped features out, of all columns that their phenotypes went into."""
    for at, origin in enumerate(changes.origins()):
        places = [place for part, place in changes.drops if part in origin]
        for axis in {axis for axis, _ in places}:
            column = start[axis][:, at]
            column[[index for mode, index in places if mode == axis]] = 0.0
            start[axis][:, at] = column / column.sum()


def _halves(
    tensor: SparseTensor, factors: Sequence[NDArray[np.float64]], part: int
) -> list[NDArray[np.float64]]:
    """Two columns per mode in place of one."""
    problem = _kl_problem(_carried(tensor, factors, part))
    halves, _ = kl_trial(problem, 2, np.random.default_rng(0), 0)
    halves = finish_kl(problem, halves)
    order = np.argsort(-halves[0].sum(axis=0), kind="stable")
    rows, *profiles = (factor[:, order] for factor in halves)
    sums = rows.sum(axis=1, keepdims=True)
    overall = np.broadcast_to(rows.sum(axis=0) / rows.sum(), rows.shape)
    shares = np.divide(rows, sums, out=np.array(overall), where=sums > 0)
    found = [factors[0][:, [part]] * shares]
    for before, profile in zip(factors[1:], profiles, strict=True):
        possible = profile * (before[:, [part]] > 0)
        found.append(possible / possible.sum(axis=0))
    return found


def _carried(
    tensor: SparseTensor, factors: Sequence[NDArray[np.float64]], part: int
) -> SparseTensor:
    """The entries, each times the share of it that one component explains."""
    whole = np.zeros(tensor.n_entries)
    for component in range(factors[0].shape[1]):
        explained = np.ones(tensor.n_entries)
        for axis, factor in enumerate(factors):
            explained *= factor[tensor.coordinates[:, axis], component]
        whole += explained
        if component == part:
            own = explained
    values = tensor.values * np.divide(own, whole, out=np.zeros_like(own), where=whole > 0)
    kept = values > 0
    if not kept.any():
        raise refuse(
            "split-nothing",
            "It cannot be split",
            f"component {part + 1}",
            "no entry of the data that it explains",
            "Split one that explains more.",
            kind=InvalidSettings,
        )
    return SparseTensor(tensor.modes, tensor.coordinates[kept], values[kept])


def _seed(
    start: Factors, tensor: SparseTensor, changes: Changes, costs: Costs, sharpness: float
) -> Factors:
    """Fill in the last columns; the others give up what the new ones take of each row."""
    first = changes.new_rank - len(changes.seeds)
    for at, places in enumerate(changes.seeds, start=first):
        together = _together(tensor, places)
        for axis in range(1, tensor.n_modes):
            named = [index for mode, index in places if mode == axis]
            start[axis][:, at] = (
                _near_profile(named, costs[axis], sharpness, tensor.shape[axis])
                if named
                else _data_profile(tensor, together, axis)
            )
    problem, rows = _kl_problem(tensor), start[0].sum(axis=1, keepdims=True)
    even = np.full((tensor.shape[0], changes.new_rank), problem.mass / tensor.shape[0])
    found = kl_memberships(problem, [even, *start[1:]])
    sums = found.sum(axis=1, keepdims=True)
    shares = np.divide(found, sums, out=np.zeros_like(found), where=sums > 0)[:, first:]
    old = start[0][:, :first] * (1 - shares.sum(axis=1, keepdims=True))
    return [np.hstack([old, rows * shares]), *start[1:]]


def _together(tensor: SparseTensor, places: Sequence[Place]) -> NDArray[np.bool_]:
    """Entries with a named feature in every mode that has one; failing that, in any."""
    axes = sorted({axis for axis, _ in places})
    inside = [
        np.isin(tensor.coordinates[:, axis], [index for mode, index in places if mode == axis])
        for axis in axes
    ]
    every = np.logical_and.reduce(inside)
    found = every if every.any() else np.logical_or.reduce(inside)
    if not found.any():
        labels = ", ".join(tensor.modes[axis].labels[index] for axis, index in places)
        raise refuse(
            "seed-absent",
            "A new phenotype cannot begin with features that no row has",
            "seed",
            labels[:80],
            "Name features that are in the data.",
            kind=InvalidSettings,
        )
    return np.asarray(found)


def _near_profile(
    named: Sequence[int], cost: NDArray[np.float64] | None, sharpness: float, size: int
) -> NDArray[np.float64]:
    own, everywhere = np.zeros(size), np.full(size, 1 / size)
    own[list(named)] = 1 / len(named)
    near = own
    if cost is not None:
        near = np.exp(-sharpness * cost[:, list(named)]).sum(axis=1)
    found = ON_NAMED * own + ON_NEAR * near / near.sum() + ON_ALL * everywhere
    return np.asarray(found)


def _data_profile(
    tensor: SparseTensor, entries: NDArray[np.bool_], axis: int
) -> NDArray[np.float64]:
    size = tensor.shape[axis]
    mass = np.bincount(
        tensor.coordinates[entries, axis], weights=tensor.values[entries], minlength=size
    )
    return np.asarray((1 - ON_ALL) * mass / mass.sum() + ON_ALL / size)


def _kl_problem(tensor: SparseTensor) -> TransportProblem:
    """The data as the sparse KL factorization wants them: nothing moves."""
    return describe_problem(tensor, [None] * tensor.n_modes, TransportSettings(dtype="float64"))
