"""A rule in words and numbers, and which rows of a data set it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.phenotypes.describe import Phenotype, unique_mode_name
from swiftcore.tensor import Mode, SparseTensor

USUAL_FEATURES = 10
WEAK = 0.01  # a feature that makes up less of a phenotype defines nothing


@dataclass(frozen=True)
class RuleFeature:
    """One feature that counts.

    Attributes
    ----------
    label : str
        As the data set shows it.
    code : str
        The source's code; the label where there is none.
    concepts : tuple of int
        Concepts of the OMOP vocabulary that stand for it; none where they are not known.
    """

    label: str
    code: str
    concepts: tuple[int, ...] = ()


@dataclass(frozen=True)
class RulePart:
    """At least so many of these features of one mode; 0 asks for nothing."""

    mode: str
    at_least: int
    features: tuple[RuleFeature, ...]

    def words(self) -> str:
        """At least 2 of 8: diagnosis."""
        return f"at least {self.at_least} of {len(self.features)}: {self.mode}"


@dataclass(frozen=True)
class Rule:
    """What a row must have to count as a carrier of a phenotype.

    Attributes
    ----------
    phenotype, name : str
        Its id and its name.
    parts : tuple of RulePart
        All must hold.
    """

    phenotype: str
    name: str
    parts: tuple[RulePart, ...]

    def words(self) -> str:
        """At least 2 of 8: diagnosis; and at least 1 of 5: medication."""
        asked = [part.words() for part in self.parts if part.at_least]
        return "; and ".join(asked)


def strongest_features(
    phenotype: Phenotype, modes: Sequence[Mode], most: int = USUAL_FEATURES
) -> list[tuple[str, ...]]:
    """Per feature mode, the labels that define a phenotype, the strongest first.

    A mode with the same features as an earlier one (word and word) adds none of its own.
    """
    found: list[tuple[str, ...]] = []
    for axis, items in enumerate(phenotype.items.values(), start=1):
        again = any(modes[axis].labels == mode.labels for mode in modes[1:axis])
        strong = [] if again else [item.label for item in items if item.weight >= WEAK]
        found.append(tuple(strong[:most]))
    return found


def features_had(tensor: SparseTensor, axis: int, labels: Sequence[str]) -> NDArray[np.int64]:
    """How many of some features of a mode each row has."""
    place = {label: index for index, label in enumerate(tensor.modes[axis].labels)}
    wanted = np.zeros(tensor.shape[axis], dtype=bool)
    wanted[[place[label] for label in labels if label in place]] = True
    rows, features = tensor.coordinates[:, 0], tensor.coordinates[:, axis]
    chosen = wanted[features]
    pairs = np.unique(rows[chosen] * tensor.shape[axis] + features[chosen])
    return np.bincount(pairs // tensor.shape[axis], minlength=tensor.shape[0])


def mode_axes(modes: Sequence[Mode]) -> dict[str, int]:
    """The place of every feature mode, by the name under which a rule has it."""
    return {unique_mode_name(modes, axis): axis for axis in range(1, len(modes))}


def matching_rows(rule: Rule, tensor: SparseTensor) -> NDArray[np.bool_]:
    """Which rows a rule finds; modes go by name, features by label."""
    found = np.ones(tensor.shape[0], dtype=bool)
    axes = mode_axes(tensor.modes)
    for part in rule.parts:
        if part.at_least:
            labels = [feature.label for feature in part.features]
            found &= features_had(tensor, axes[part.mode], labels) >= part.at_least
    return found
