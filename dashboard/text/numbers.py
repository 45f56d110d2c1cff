"""How numbers are written: one function per kind, so that all pages show the same digits."""

from __future__ import annotations

BASES = (10, 100, 1_000, 10_000)  # of "5 of 10"
APART = 0.02  # shares that differ by less may be said alike


def percent(share: float) -> str:
    """A share: 41%, and below 1% with one more digit."""
    return f"{share:.1%}" if 0 < abs(share) < 0.01 else f"{share:.0%}"


def score(value: float) -> str:
    """A score between 0 and 1, or a difference of two: 0.541."""
    return f"{value:.3f}"


def similarity(value: float) -> str:
    """How similar two things are, from 0 to 1: 0.82."""
    return f"{value:.2f}"


def base_for(*pairs: tuple[float, float]) -> int:
    """The smallest round number of which these shares can be said in whole numbers.

    Shares above 0 do not become "0 of 10", and the two of a pair that differ by :data:`APART`
    or more do not become the same.
    """
    known = [pair for pair in pairs if pair[0] == pair[0] and pair[1] == pair[1]]
    for base in BASES:
        said = [(round(base * one), round(base * other)) for one, other in known]
        tiny = any(
            share > 0 and not whole
            for pair, whole_pair in zip(known, said, strict=True)
            for share, whole in zip(pair, whole_pair, strict=True)
        )
        merged = any(
            one == other and abs(pair[0] - pair[1]) >= APART
            for pair, (one, other) in zip(known, said, strict=True)
        )
        if not tiny and not merged:
            return base
    return BASES[-1]


def out_of(share: float, base: int) -> str:
    """A share as a person says it: 5 of 10."""
    return f"{round(base * share):,} of {base:,}"


def interval(low: float, high: float, base: int) -> str:
    """The ends of a 95% interval: 4 to 6 of 10."""
    return f"{round(base * max(0.0, low)):,} to {out_of(min(1.0, high), base)}"
