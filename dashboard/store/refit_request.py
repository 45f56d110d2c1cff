"""The request for a refit: what was computed once, with a person's changes, in one form only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dashboard.store.cards import RunCard
from dashboard.store.request import Request
from swiftcore.phenotypes.guidance import Step
from swiftcore.phenotypes.guidance_checks import find_changes, guided_spec
from swiftcore.tensor import Mode


def refit_request(
    parent: RunCard,
    modes: Sequence[Mode],
    factors: Sequence[NDArray[np.float64]],
    steps: Iterable[Step],
) -> Request:
    """Whoever asks for the same changes, in whatever order and words, asks for the same run.

    Parameters
    ----------
    parent : RunCard
        The finished fit that is changed.
    modes, factors
        Of that fit.
    steps : iterable of Step

    Raises
    ------
    InvalidSettings
        With everything that cannot be done.
    """
    changes = find_changes(steps, modes, factors)
    settings = guided_spec(parent.request.spec, changes).plain()
    return Request("fit", parent.dataset, settings, parent.id, changes.steps(modes))
