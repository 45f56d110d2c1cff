"""Settings and the ranges in which they mean anything, all checked at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from swiftcore.errors import Problem


@dataclass(frozen=True)
class Range:
    """Which values a setting may take, and how a person is told."""

    fits: Callable[[Any], bool]
    words: str


def is_real(value: Any) -> bool:
    """Whether a value is a finite number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def whole(least: int) -> Range:
    """Whole numbers from ``least`` on."""

    def fits(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least

    return Range(fits, f"a whole number of {least} or more")


def real(least: float) -> Range:
    """Finite numbers from ``least`` on."""
    return Range(
        lambda value: is_real(value) and value >= least, f"a finite number of {least:g} or more"
    )


ABOVE_ZERO = Range(lambda value: is_real(value) and value > 0, "a finite number above 0")
SEED = Range(
    lambda value: value is None or whole(0).fits(value), "a whole number of 0 or more, or None"
)


def out_of_range(parameters: Mapping[str, Any], ranges: Mapping[str, Range]) -> list[Problem]:
    """A problem for every parameter outside its range."""
    return [
        Problem(
            f"setting-{name}",
            "A setting is out of range",
            name,
            repr(parameters[name]),
            f"Give {allowed.words}.",
        )
        for name, allowed in ranges.items()
        if not allowed.fits(parameters[name])
    ]
