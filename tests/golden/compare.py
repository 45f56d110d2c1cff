"""How a result differs from the recorded one: to the bit, or closely on another machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from golden.plain import Result


def differences(found: Result, wanted: Result, *, same_machine: bool) -> list[str]:
    """Every place where the result is not what was recorded."""
    if same_machine:
        return list(_unequal(found, wanted, ""))
    told = list(_unequal(found["always"], wanted["always"], "always"))
    return told + list(_far(found["close"], wanted["close"], wanted["rtol"], "close"))


def _unequal(found: Any, wanted: Any, where: str) -> Iterator[str]:
    if isinstance(found, dict) and isinstance(wanted, dict):
        yield from _other_names(found, wanted, where)
        for name in found.keys() & wanted.keys():
            yield from _unequal(found[name], wanted[name], f"{where}/{name}")
    elif found != wanted or type(found) is not type(wanted):
        yield f"{where}: {found!r:.200} instead of {wanted!r:.200}"


def _far(found: Any, wanted: Any, rtol: float, where: str, scale: float = 0.0) -> Iterator[str]:
    if isinstance(found, dict) and isinstance(wanted, dict):
        yield from _other_names(found, wanted, where)
        for name in found.keys() & wanted.keys():
            yield from _far(found[name], wanted[name], rtol, f"{where}/{name}")
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        largest = max((abs(one) for one in wanted if _is_number(one)), default=0.0)
        for place, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
            yield from _far(mine, theirs, rtol, f"{where}[{place}]", largest)
    elif _is_number(found) and _is_number(wanted):
        if not math.isclose(found, wanted, rel_tol=rtol, abs_tol=rtol * scale):
            yield f"{where}: {found} is not close to {wanted}"
    elif found != wanted:
        yield f"{where}: {found!r:.200} instead of {wanted!r:.200}"


def _other_names(found: dict[str, Any], wanted: dict[str, Any], where: str) -> Iterator[str]:
    for name in sorted(found.keys() ^ wanted.keys()):
        yield f"{where}/{name}: {'new' if name in found else 'missing'}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
