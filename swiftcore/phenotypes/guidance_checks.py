"""What the steps of a guided refit mean for one result: columns, modes and places, all checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, Problem
from swiftcore.phenotypes.guidance import (
    MAX_STEPS,
    Drop,
    Merge,
    Pin,
    Seed,
    Split,
    Step,
    feature_modes,
)
from swiftcore.phenotypes.identifiers import component_id, dead_components
from swiftcore.spec import SETTINGS, ModelSpec
from swiftcore.tensor import Mode

Place = tuple[int, int]  # axis and index of a feature
Factors = Sequence[NDArray[np.float64]]


@dataclass(frozen=True)
class Changes:
    """The steps for one result, as columns of its factors and places of its features.

    Attributes
    ----------
    rank : int
        Of the result.
    merges : tuple of (int, int)
        The smaller column first.
    splits, pins : tuple of int
    drops : tuple of (int, Place)
    seeds : tuple of tuple of Place
    """

    rank: int
    merges: tuple[tuple[int, int], ...] = ()
    splits: tuple[int, ...] = ()
    drops: tuple[tuple[int, Place], ...] = ()
    pins: tuple[int, ...] = ()
    seeds: tuple[tuple[Place, ...], ...] = ()

    def origins(self) -> list[tuple[int, ...]]:
        """For every column of the refit, the columns of the result it begins as.

        Merged ones stand where the first of them stood; the second half of a split and seeds,
        which begin as none, follow at the end, so that few phenotypes change their numbers.
        """
        second = {gone for _, gone in self.merges}
        merged = dict(self.merges)
        kept = [
            (part, merged[part]) if part in merged else (part,)
            for part in range(self.rank)
            if part not in second
        ]
        return [*kept, *((part,) for part in self.splits), *(() for _ in self.seeds)]

    @property
    def new_rank(self) -> int:
        """Components of the refit."""
        return self.rank - len(self.merges) + len(self.splits) + len(self.seeds)

    def pinned(self) -> tuple[int, ...]:
        """The columns of the refit whose profiles stay as they are."""
        held = set(self.pins)
        return tuple(at for at, origin in enumerate(self.origins()) if held & {*origin})

    def steps(self, modes: Sequence[Mode]) -> tuple[Step, ...]:
        """The same in words and in one order: equal changes are equal steps."""
        name = {axis: mode for mode, axis in feature_modes(modes).items()}

        def words(place: Place) -> tuple[str, str]:
            return name[place[0]], modes[place[0]].labels[place[1]]

        ids = [component_id(part, self.rank) for part in range(self.rank)]
        return (
            *(Merge(ids[one], ids[other]) for one, other in self.merges),
            *(Split(ids[part]) for part in self.splits),
            *(Drop(ids[part], *reversed(words(place))) for part, place in self.drops),
            *(Pin(ids[part]) for part in self.pins),
            *(Seed(tuple(map(words, places))) for places in self.seeds),
        )


def find_changes(steps: Iterable[Step], modes: Sequence[Mode], factors: Factors) -> Changes:
    """What the steps mean for a result with these factors.

    Raises
    ------
    InvalidSettings
        With everything that cannot be done, and why.
    """
    reading = _Reading(modes, factors)
    listed = list(dict.fromkeys(steps))
    for step in listed[:MAX_STEPS]:
        reading.take(step)
    changes = reading.changes()
    problems = [*reading.problems, *_count_problems(changes, len(listed))]
    if not problems:
        problems = [*_conflicts(changes), *_empty_problems(changes, modes, factors)]
    if problems:
        raise InvalidSettings(problems)
    return changes


def guided_spec(spec: ModelSpec, changes: Changes) -> ModelSpec:
    """The spec of the refit: that of the result, but for the rank; its start is not looked for."""
    return replace(spec, rank=changes.new_rank, consensus=1, outcome_share=0.0)


class _Reading:
    """Reads one step after the other, and notes what it cannot read."""

    def __init__(self, modes: Sequence[Mode], factors: Factors) -> None:
        self.problems: list[Problem] = []
        self._modes, self._rank = modes, factors[0].shape[1]
        self._dead = dead_components(factors[0].sum(axis=0))
        self._merges: set[tuple[int, int]] = set()
        self._splits: set[int] = set()
        self._pins: set[int] = set()
        self._drops: set[tuple[int, Place]] = set()
        self._seeds: dict[tuple[Place, ...], None] = {}

    def changes(self) -> Changes:
        """All that was read."""
        return Changes(
            self._rank,
            tuple(sorted(self._merges)),
            tuple(sorted(self._splits)),
            tuple(sorted(self._drops)),
            tuple(sorted(self._pins)),
            tuple(self._seeds),
        )

    def take(self, step: Step) -> None:
        """Read one step."""
        match step:
            case Merge(first, second):
                parts = self._component(first, step), self._component(second, step)
                if parts[0] is not None and parts[1] is not None:
                    self._merge(parts[0], parts[1], step)
            case Split(phenotype):
                self._splits |= {*self._known(phenotype, step)}
            case Pin(phenotype):
                self._pins |= {*self._known(phenotype, step)}
            case Drop(phenotype, feature, mode):
                part, place = self._component(phenotype, step), self._place(mode, feature, step)
                if part is not None and place is not None:
                    self._drops.add((part, place))
            case Seed(features):
                self._seed(features, step)

    def _merge(self, first: int, second: int, step: Step) -> None:
        if first == second:
            cure = "Name two phenotypes."
            self._note("merge-itself", "A phenotype cannot be merged with itself", step, cure)
        self._merges.add((min(first, second), max(first, second)))

    def _seed(self, features: Sequence[tuple[str, str]], step: Step) -> None:
        places = [self._place(mode, feature, step) for mode, feature in features]
        found = sorted({place for place in places if place is not None})
        if not features:
            cure = "Name at least one feature: diagnosis=Gout."
            self._note("seed-empty", "A new phenotype needs a feature to begin with", step, cure)
        if found:
            self._seeds[tuple(found)] = None

    def _known(self, phenotype: str, step: Step) -> list[int]:
        part = self._component(phenotype, step)
        return [] if part is None else [part]

    def _component(self, phenotype: str, step: Step) -> int | None:
        digits = phenotype.strip().upper().removeprefix("P")
        part = int(digits) - 1 if digits.isdecimal() and len(digits) < 10 else -1
        if not 0 <= part < self._rank:
            first, last = component_id(0, self._rank), component_id(self._rank - 1, self._rank)
            cure = f"Choose one from {first} to {last}."
            self._note("phenotype-unknown", "There is no such phenotype", step, cure, phenotype)
            return None
        if part in self._dead:
            cure = "Choose one that is shown."
            self._note("phenotype-dead", "This phenotype died out", step, cure, phenotype)
            return None
        return part

    def _place(self, mode: str, feature: str, step: Step) -> Place | None:
        """Where a feature is, from its label or from ``mode=label``."""
        known = feature_modes(self._modes)
        if mode and mode not in known:
            cure = f"Choose one of {', '.join(known)}."
            self._note("mode-unknown", "There is no such mode", step, cure, mode)
            return None
        wanted = [(mode, feature)] if mode else [(name, feature) for name in known]
        found = [place for pair in wanted for place in self._places(*pair)]
        prefix, equals, rest = feature.partition("=")
        if not mode and not found and equals and prefix.strip() in known:
            return self._place(prefix.strip(), rest.strip(), step)
        if len(found) == 1:
            return found[0]
        if found:
            names = [name for name, axis in known.items() if axis in {at[0] for at in found}]
            cure = f"Write {' or '.join(f'{name}={feature}' for name in names)}."
            self._note("feature-ambiguous", "Several modes have this feature", step, cure, feature)
        else:
            cure = self._suggestion(feature, [name for name, _ in wanted])
            self._note("feature-unknown", "There is no such feature", step, cure, feature)
        return None

    def _places(self, mode: str, feature: str) -> list[Place]:
        axis = feature_modes(self._modes)[mode]
        labels = self._modes[axis].labels
        return [(axis, labels.index(feature))] if feature in labels else []

    def _suggestion(self, feature: str, modes: Sequence[str]) -> str:
        known = feature_modes(self._modes)
        labels = {
            label.casefold(): label for mode in modes for label in self._modes[known[mode]].labels
        }
        near = get_close_matches(feature.casefold(), labels, n=3, cutoff=0.6)
        inside = [key for key in labels if feature.casefold() in key][:3]
        names = list(dict.fromkeys(labels[key] for key in [*near, *inside]))[:3]
        if not names:
            return (
                f"Write it as it stands in the data, as {next(iter(labels.values()), '')!r} does."
            )
        return f"Did you mean {' or '.join(map(repr, names))}?"

    def _note(self, code: str, what: str, step: Step, cure: str, found: str = "") -> None:
        self.problems.append(
            Problem(code, what, str(step)[:120], repr(found or str(step))[:80], cure)
        )


def _count_problems(changes: Changes, steps: int) -> Iterable[Problem]:
    offered = SETTINGS["rank"].offered
    most = int(offered[1]) if offered else changes.new_rank
    if not steps:
        yield Problem(
            "guidance-empty",
            "Nothing is to be changed",
            "the steps",
            "none",
            "Merge, split, drop, pin or seed something.",
        )
    if steps > MAX_STEPS or changes.new_rank > most:
        yield Problem(
            "guidance-long",
            "This is too much for one refit",
            "the steps",
            f"{steps:,} steps, {changes.new_rank:,} phenotypes",
            f"Take at most {MAX_STEPS} steps and {most} phenotypes at once.",
        )


def _conflicts(changes: Changes) -> Iterable[Problem]:
    """A phenotype can go one way only; what is pinned goes none."""
    merged = [part for pair in changes.merges for part in pair]
    ways = Counter([*merged, *changes.splits])
    dropped = {part for part, _ in changes.drops}
    for part in range(changes.rank):
        name = component_id(part, changes.rank)
        found = ["a merge"] * merged.count(part)
        found += ["a split"] * (part in changes.splits)
        found += ["a dropped feature"] * (part in dropped and part in changes.pins)
        found += ["a pin"] * (part in changes.pins)
        if ways[part] > 1:
            cure = "Merge or split it once, refit, and go on from there."
        elif part in changes.pins and len(found) > 1:
            cure = "Pin it, or change it, not both."
        else:
            continue
        what = "These steps do not go together"
        yield Problem("guidance-conflict", what, name, " and ".join(found), cure)


def _empty_problems(changes: Changes, modes: Sequence[Mode], factors: Factors) -> Iterable[Problem]:
    """Phenotypes that would have no feature left, or nobody to be split between."""
    names = {axis: name for name, axis in feature_modes(modes).items()}
    columns = {part: origin for origin in changes.origins() for part in origin}
    for axis, part in sorted({(place[0], part) for part, place in changes.drops}):
        gone = [at[1] for one, at in changes.drops if at[0] == axis and one in columns[part]]
        left = np.delete(factors[axis][:, list(columns[part])], gone, axis=0)
        if not left.sum() > 0:
            yield Problem(
                "drop-all",
                "Nothing would be left",
                f"{component_id(part, changes.rank)}, {names[axis]}",
                "all its features dropped",
                "Keep at least one feature that it has.",
            )
    for part in changes.splits:
        if np.count_nonzero(factors[0][:, part]) < 2:
            yield Problem(
                "split-one",
                "It cannot be split",
                component_id(part, changes.rank),
                f"fewer than two {modes[0].name} rows",
                "Split one that more rows carry.",
            )
