"""Values and the ranges in which they mean anything, all checked at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from swiftcore.errors import Problem

MAX_WHOLE = 2**63 - 1


@dataclass(frozen=True)
class Range:
    """Which values may stand somewhere, and how a person is told."""

    fits: Callable[[Any], bool]
    words: str


def is_real(value: Any) -> bool:
    """Whether a value is a finite number that a float can hold; True and False are none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def whole(least: int, most: int = MAX_WHOLE) -> Range:
    """Whole numbers from ``least`` to ``most``."""

    def fits(value: Any) -> bool:
        return (
            isinstance(value, Integral)
            and not isinstance(value, bool)
            and (least <= int(value) <= most)
        )

    return Range(fits, f"a whole number {_bounds(least, most, MAX_WHOLE)}")


def real(least: float, most: float = math.inf) -> Range:
    """Finite numbers from ``least`` to ``most``."""
    return Range(
        lambda value: is_real(value) and least <= value <= most,
        f"a finite number {_bounds(least, most, math.inf)}",
    )


def text(longest: int, pattern: str = "") -> Range:
    """Texts of at most so many letters, perhaps of one pattern."""
    wanted = re.compile(pattern or "(?s:.*)")
    return Range(
        lambda value: (
            isinstance(value, str) and len(value) <= longest and wanted.fullmatch(value) is not None
        ),
        f"a text of at most {longest:,} letters" + (f" like {pattern}" if pattern else ""),
    )


def listed(each: Range, most: int) -> Range:
    """Lists of at most so many values of one range."""
    return Range(
        lambda value: isinstance(value, list) and len(value) <= most and all(map(each.fits, value)),
        f"a list of at most {most:,}, each {each.words}",
    )


def named(each: Range) -> Range:
    """Values of one range by name."""
    return Range(
        lambda value: isinstance(value, dict) and all(map(each.fits, value.values())),
        f"names, each with {each.words}",
    )


def maybe(one: Range) -> Range:
    """The same, or nothing."""
    return Range(lambda value: value is None or one.fits(value), f"{one.words}, or nothing")


def record(fields: Mapping[str, Range], optional: Container[str] = ()) -> Range:
    """Named values, each in its range, and no others."""
    return Range(
        lambda value: not any(record_faults(value, fields, optional)),
        f"a record of {', '.join(fields)}",
    )


def record_faults(
    plain: Any, fields: Mapping[str, Range], optional: Container[str] = ()
) -> Iterator[str]:
    """What is missing, unknown or out of its range in a record from a file, in words."""
    if not isinstance(plain, Mapping):
        yield f"{type(plain).__name__} instead of a record"
        return
    yield from (f"no {name}" for name in fields if name not in plain and name not in optional)
    yield from (f"unknown {str(name)[:40]!r}" for name in plain if name not in fields)
    for name, allowed in fields.items():
        if name in plain and not allowed.fits(plain[name]):
            yield f"{name} is {shortened(plain[name])}, not {allowed.words}"


def shortened(value: Any) -> str:
    """A value as it may stand in a sentence, however long it is."""
    if isinstance(value, int) and value.bit_length() > 100:
        return "a giant number"
    return repr(value)[:80]


def _bounds(least: float, most: float, unbounded: float) -> str:
    return f"of {least:g} or more" if most == unbounded else f"from {least:g} to {most:g}"


FLAG = Range(lambda value: isinstance(value, bool), "yes or no")
ANY_REAL = Range(is_real, "a finite number")
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
            shortened(parameters[name]),
            f"Give {allowed.words}.",
        )
        for name, allowed in ranges.items()
        if not allowed.fits(parameters[name])
    ]
