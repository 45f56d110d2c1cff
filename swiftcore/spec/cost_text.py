"""The text of a cost: a name, or several names with weights.

cosine                 the same rows have them
one-minus-identity     every two features are equally far apart
random                 drawn by the seed, for comparison
none                   no mass moves
icd, icd9, icd10       codes of diagnoses by chapter, block, category and digits
ccs                    diagnoses by the levels of the CCS
atc                    codes of medications by the levels of the ATC
table:<digest>         what was read from a file, by the SHA-256 of its content
0.3*icd+0.7*cosine     a blend; the weights add up to 1
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from swiftcore.errors import InvalidSettings, Problem, refuse

BUILT_IN = ("cosine", "one-minus-identity", "random", "none", "icd", "icd9", "icd10", "ccs", "atc")
TABLE = "table:"
_TABLE = re.compile(TABLE + r"[0-9a-f]{64}")
_WEIGHTED = re.compile(r"\s*([0-9.]+(?:e-?\d+)?)\s*\*\s*(.*\S)\s*", re.DOTALL | re.IGNORECASE)
_WEIGHT_SUM = 1e-6  # how far the weights may be from 1: what rounding leaves


class CostTerm(NamedTuple):
    """One part of a cost and its weight."""

    weight: float
    name: str


def read_cost_text(
    text: str, where: str = "costs", resolve: Callable[[str], str] | None = None
) -> tuple[CostTerm, ...]:
    """The parts of a cost.

    Parameters
    ----------
    where : str
        For the refusal, such as "the cost of diagnosis".
    resolve : callable, optional
        Gets a name that is not known, and gives one that is; for names of files.

    Raises
    ------
    InvalidSettings
        If a name is unknown, a weight is no number, or weights do not add up to 1.
    """
    parts = [part.strip() for part in text.split("+")] if isinstance(text, str) else [""]
    terms = [_term(part, where, resolve, alone=len(parts) == 1) for part in parts]
    if len(terms) == 1 and terms[0].weight != 1:
        raise _refuse(where, f"the weight {terms[0].weight:g} for one cost alone", BLEND)
    if len(terms) > 1:
        total = math.fsum(term.weight for term in terms)
        if abs(total - 1) > _WEIGHT_SUM:
            raise _refuse(where, f"weights that add up to {total:g}", BLEND)
        if any(term.name == "none" for term in terms):
            raise _refuse(where, "'none' in a blend", "Use none alone: it means no mass moves.")
        if len({term.name for term in terms}) < len(terms):
            raise _refuse(where, "one cost twice in a blend", "Name each cost once.")
    return tuple(terms)


def mode_cost_problems(costs: Mapping[str, str]) -> list[Problem]:
    """What is wrong with the texts of some modes."""
    problems: list[Problem] = []
    for mode, text in costs.items():
        try:
            read_cost_text(text, f"the cost of {mode}"[:80])
        except InvalidSettings as error:
            problems += error.problems
    return problems


def short_cost(text: str) -> str:
    """A text fit for a title: digests cut to eight digits."""
    return re.sub(rf"({TABLE}[0-9a-f]{{8}})[0-9a-f]+", r"\1", text)


def cost_text(terms: Sequence[CostTerm]) -> str:
    """The one text of some parts; the reverse of :func:`read_cost_text`."""
    if len(terms) == 1:
        return terms[0].name
    return "+".join(f"{weight!r}*{name}" for weight, name in terms)


BLEND = "Write for instance 0.3*icd+0.7*cosine; the weights add up to 1."


def _term(part: str, where: str, resolve: Callable[[str], str] | None, *, alone: bool) -> CostTerm:
    weighted = _WEIGHTED.fullmatch(part)
    weight, name = 1.0, part
    if weighted:
        name = weighted[2]
        try:
            weight = float(weighted[1])
        except ValueError:
            raise _refuse(where, f"the weight '{weighted[1]}'", BLEND) from None
        if not 0 < weight <= 1:
            raise _refuse(where, f"the weight {weight:g}", "Give weights above 0 and at most 1.")
    elif not alone:
        raise _refuse(where, f"'{part[:60]}' without a weight", BLEND)
    known = name in BUILT_IN or _TABLE.fullmatch(name)
    if not known and resolve is not None and name:
        name = resolve(name)
    elif not known:
        raise _refuse(
            where,
            f"'{name[:60]}'" if name else "nothing",
            f"Choose from {', '.join(BUILT_IN)}, {TABLE}<digest>, or a blend of them.",
        )
    return CostTerm(weight, name)


def _refuse(where: str, found: str, cure: str) -> InvalidSettings:
    return refuse(
        "cost-text", "A cost cannot be understood", where, found, cure, kind=InvalidSettings
    )
