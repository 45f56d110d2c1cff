"""A label term: in a fit, each row carries its outcome as one more feature.

The outcome stands in the first feature mode, beside every entry of the row, as if it had been
recorded with them; components then gather what goes with it. Later rows come without it, so
everything that belongs to these features is taken off again once the fit is done.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.weighting import EntryWeighting
from swiftcore.phenotypes.identifiers import dead_components
from swiftcore.spec import ModelSpec
from swiftcore.tensor import Mode, SparseTensor

MODE = 1  # where the outcome stands


def with_outcome(rows: SparseTensor, codes: NDArray[np.int64], share: float) -> SparseTensor:
    """The rows with their outcome as further features.

    Parameters
    ----------
    codes : ndarray of int
        The class of each row; -1 where it is not known, and such a row stays as it is.
    share : float
        How much an entry of the outcome counts, as a share of the entry beside which it stands.
    """
    known = codes[rows.coordinates[:, 0]] >= 0
    beside = rows.coordinates[known]
    beside[:, MODE] = rows.shape[MODE] + codes[beside[:, 0]]
    modes = list(rows.modes)
    named = [f"outcome {code}" for code in range(int(codes.max(initial=-1)) + 1)]
    modes[MODE] = Mode(modes[MODE].name, _unlike(modes[MODE].labels, named))
    return SparseTensor.from_coordinates(
        np.vstack([rows.coordinates, beside]),
        np.concatenate([rows.values, share * rows.values[known]]),
        modes=tuple(modes),
    )


def _unlike(labels: tuple[str, ...], added: list[str]) -> tuple[str, ...]:
    """Labels and further ones, which get dashes until they are new."""
    known = set(labels)
    while known.intersection(added):
        added = [f"{label}-" for label in added]
    return (*labels, *added)


def learn_with_outcome(
    training: SparseTensor, spec: ModelSpec, codes: NDArray[np.int64]
) -> tuple[EntryWeighting, SparseTensor]:
    """How later rows are weighed, and the weighed training rows with their outcome.

    The outcome is weighed as any feature is; where features are weighed by it, it is the one
    that says most.
    """
    counted = EntryWeighting(spec.entry_values).apply(training)
    marked = with_outcome(counted, codes, spec.outcome_share)
    found = EntryWeighting.learn(marked, replace(spec, entry_values="counts"), codes)
    later = replace(found, entry_values=spec.entry_values)
    if found.features is not None:
        own = training.shape[MODE]
        weights = np.delete(found.features, range(own, marked.shape[MODE]))
        later = replace(later, features=weights)
    return later, found.apply(marked)


def take_off_outcome(model: Any, rows: SparseTensor) -> None:
    """Leave in a fitted estimator only what later rows have.

    Profiles add up to 1 again. What the rows of the fit hold is found anew without their
    outcome, as for any later row: else it would give the outcome away.

    Parameters
    ----------
    rows : SparseTensor
        The rows of the fit, weighed, without their outcome.
    """
    own = rows.shape[MODE]
    profiles = model.factors_[MODE][:own]
    mass = profiles.sum(axis=0)
    model.factors_[MODE] = profiles / np.where(mass > 0, mass, 1.0)
    model.modes_ = rows.modes
    cost = model.feature_costs_[MODE - 1]
    if cost is not None:
        model.feature_costs_[MODE - 1] = np.ascontiguousarray(cost[:own, :own])
    model.factors_[0] = model.transform(rows, independent=True)
    model.memberships_ = model.factors_[0]
    model.dead_components_ = dead_components(model.memberships_.sum(axis=0))


def check_method(spec: ModelSpec) -> None:
    """Raise :class:`InvalidSettings` if the method cannot take the outcome as a feature."""
    if factorization(spec.method).costs != "all":
        raise refuse(
            "outcome-share",
            "Only SWIFT takes the outcome as a feature",
            "outcome_share",
            f"{spec.outcome_share:g} with the method {spec.method!r}",
            "Set it to 0, or choose the method swift.",
            kind=InvalidSettings,
        )
