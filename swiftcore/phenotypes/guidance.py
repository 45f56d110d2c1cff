"""What a person asks of a result before it is fitted again: merge, split, drop, pin, seed.

Steps name phenotypes and features by the words on the screen, so that a stored request can be read
by anybody. :mod:`swiftcore.phenotypes.guidance_checks` finds out what they mean for one result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.phenotypes.describe import unique_mode_name
from swiftcore.runtime.ranges import Range, listed, record_faults, text
from swiftcore.tensor import Mode

MAX_STEPS = 200
_WORD = text(2000)
_PAIR = Range(lambda value: isinstance(value, list) and len(value) == 2, "a mode and a feature")


@dataclass(frozen=True)
class Merge:
    """These two are one."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first} and {self.second} are one"


@dataclass(frozen=True)
class Split:
    """This one is two."""

    phenotype: str

    def __str__(self) -> str:
        return f"{self.phenotype} is two"


@dataclass(frozen=True)
class Drop:
    """This feature does not belong to this one; without a mode, the one that has the feature."""

    phenotype: str
    feature: str
    mode: str = ""

    def __str__(self) -> str:
        where = f" ({self.mode})" if self.mode else ""
        return f"{self.feature}{where} does not belong to {self.phenotype}"


@dataclass(frozen=True)
class Pin:
    """This one stays as it is."""

    phenotype: str

    def __str__(self) -> str:
        return f"{self.phenotype} stays as it is"


@dataclass(frozen=True)
class Seed:
    """There is another one, with these features: pairs of a mode and a feature."""

    features: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        words = (f"{feature} ({mode})" if mode else feature for mode, feature in self.features)
        return f"There is one with {', '.join(words)}"


Step = Merge | Split | Drop | Pin | Seed
KINDS: dict[str, type[Step]] = {
    "merge": Merge,
    "split": Split,
    "drop": Drop,
    "pin": Pin,
    "seed": Seed,
}
_FIELDS = {"features": listed(_PAIR, MAX_STEPS)}


@dataclass(frozen=True)
class Guidance:
    """How a guided refit came about.

    Attributes
    ----------
    parent : str
        Digest of the factors of the result it began as.
    steps : tuple of Step
    by_outcome : bool
        Whether the outcome took part in finding that result, or one before it.
    """

    parent: str
    steps: tuple[Step, ...]
    by_outcome: bool = False

    def plain(self) -> dict[str, Any]:
        """As values that JSON can hold."""
        marked = {"by_outcome": True} if self.by_outcome else {}
        return {"parent": self.parent, "steps": plain_steps(self.steps), **marked}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Guidance:
        """Read what :meth:`plain` gave; raises InvalidSettings if these are no steps."""
        steps = steps_from_plain(plain["steps"])
        return cls(plain["parent"], steps, plain.get("by_outcome", False))


def plain_steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The steps as values that JSON can hold."""
    names = {kind: name for name, kind in KINDS.items()}
    found: list[dict[str, Any]] = []
    for step in steps:
        values = dict(vars(step))
        if isinstance(step, Seed):
            values["features"] = [list(pair) for pair in step.features]
        found.append({"do": names[type(step)], **values})
    return found


def steps_from_plain(plain: Any) -> tuple[Step, ...]:
    """Read what :func:`plain_steps` gave.

    Raises
    ------
    InvalidSettings
        If these are no steps.
    """
    try:
        if not isinstance(plain, list | tuple) or len(plain) > MAX_STEPS:
            raise ValueError(f"no list of at most {MAX_STEPS} steps")
        return tuple(_step(one) for one in plain)
    except (LookupError, TypeError, ValueError) as error:
        raise refuse(
            "guidance-steps",
            "These are no steps of a guided refit",
            "the steps",
            f"{type(error).__name__}: {error}"[:200],
            f"Give a list of steps; each does one of {', '.join(KINDS)}.",
            kind=InvalidSettings,
        ) from error


def _step(plain: Mapping[str, Any]) -> Step:
    values = dict(plain)
    kind = KINDS[values.pop("do")]
    known = {one.name: _FIELDS.get(one.name, _WORD) for one in fields(kind)}
    if faults := [*record_faults(values, known)]:
        raise ValueError("; ".join(faults))
    if kind is Seed:
        pairs = values["features"]
        if not all(_WORD.fits(word) for pair in pairs for word in pair):
            raise ValueError("a feature that is no text")
        return Seed(tuple((mode, feature) for mode, feature in pairs))
    return kind(**values)


def drop_from_text(words: str) -> Drop:
    """Read ``P02:Vitamins`` or ``P02:medication=Vitamins``; which of the two is found later."""
    phenotype, colon, feature = words.partition(":")
    if not colon or not feature.strip():
        raise refuse(
            "drop-text",
            "It is not said what is to be dropped from what",
            "drop",
            repr(words)[:80],
            "Write the phenotype, a colon and the feature: P02:Vitamins.",
            kind=InvalidSettings,
        )
    return Drop(phenotype.strip(), feature.strip())


def seed_from_text(words: str, modes: Sequence[Mode]) -> Seed:
    """Read ``diagnosis=Gout;medication=Allopurinol``.

    A semicolon separates features only before the name of a mode: many codes have one in their
    names.
    """
    names = "|".join(re.escape(name) for name in feature_modes(modes))
    pairs = []
    for part in re.split(rf";\s*(?=(?:{names})\s*=)", words):
        mode, equals, feature = part.partition("=")
        known = equals and mode.strip() in feature_modes(modes)
        pairs.append((mode.strip(), feature.strip()) if known else ("", part.strip()))
    return Seed(tuple(pair for pair in pairs if pair[1]))


def feature_modes(modes: Sequence[Mode]) -> dict[str, int]:
    """The modes after the first by a name of their own, with their places."""
    return {unique_mode_name(modes, axis): axis for axis in range(1, len(modes))}
