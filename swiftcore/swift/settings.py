"""Settings out of range, which a fit or a projection refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swiftcore.errors import InvalidSettings
from swiftcore.runtime.ranges import SEED, Range, out_of_range, whole
from swiftcore.spec import value_problems

# What every estimator has besides the settings of its spec.
RANGES = {
    "random_state": SEED,
    "n_jobs": Range(
        lambda value: value is None or (whole(-(2**31)).fits(value) and value != 0),
        "a whole number other than 0, or None for all cores",
    ),
}


def check_settings(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of its range."""
    if problems := [*value_problems(parameters), *out_of_range(parameters, RANGES)]:
        raise InvalidSettings(problems)
