"""From a phenotype of a data set to its rule, with all that is known of the codes behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from swiftcore.data.building.ehr_layouts import OMOP
from swiftcore.data.dataset import Dataset
from swiftcore.definitions.quality import Quality, RuleCurve
from swiftcore.definitions.rule import Rule, RuleFeature, RulePart, features_had, mode_axes
from swiftcore.errors import InvalidSettings, Problem
from swiftcore.phenotypes.describe import Phenotype

Concepts = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Definition:
    """A phenotype with the features that may define it, and how every rule over them does.

    Attributes
    ----------
    rule : Rule
        With the thresholds chosen.
    curve : RuleCurve
        One axis per part of the rule.
    """

    rule: Rule
    curve: RuleCurve

    def asking(self, at_least: Mapping[str, int]) -> Definition:
        """The same with other thresholds, by mode; those not named stay.

        Raises
        ------
        InvalidSettings
            If a mode is unknown, a threshold above its number of features, or nothing is asked.
        """
        parts = {part.mode: part for part in self.rule.parts}
        problems = [
            Problem(
                "at-least",
                "This cannot be asked of the rule",
                f"{mode}={number}",
                f"{len(parts[mode].features)} features" if mode in parts else "no such mode",
                f"Modes are {', '.join(parts)}; give 0 up to the number of features.",
            )
            for mode, number in at_least.items()
            if mode not in parts or not 0 <= number <= len(parts[mode].features)
        ]
        chosen = tuple(
            replace(part, at_least=at_least.get(part.mode, part.at_least))
            for part in self.rule.parts
        )
        if not problems and not any(part.at_least for part in chosen):
            problems = [
                Problem(
                    "rule-empty",
                    "A rule must ask for something",
                    self.rule.phenotype,
                    "0 of every mode",
                    "Ask for at least one feature of one mode.",
                )
            ]
        if problems:
            raise InvalidSettings(problems)
        return replace(self, rule=replace(self.rule, parts=chosen))

    @property
    def quality(self) -> Quality:
        """Of the rule with the thresholds chosen."""
        return self.curve.at(tuple(part.at_least for part in self.rule.parts))


def define(
    phenotype: Phenotype,
    dataset: Dataset,
    features: Sequence[Sequence[str]],
    concepts: Concepts | None = None,
) -> Definition:
    """The best balanced rule over some features of a phenotype.

    Parameters
    ----------
    features : sequence of sequence of str
        Labels per feature mode, such as :func:`~swiftcore.definitions.rule.strongest_features`.
    concepts : mapping of str to tuple of int, optional
        OMOP concepts by label, for data that do not carry them.

    Raises
    ------
    InvalidSettings
        If no rule over these features finds any carrier.
    """
    carries = np.zeros(dataset.tensor.shape[0], dtype=bool)
    carries[list(phenotype.rows)] = True
    asked = [(axis, tuple(labels)) for axis, labels in enumerate(features, start=1) if labels]
    had = [features_had(dataset.tensor, axis, labels) for axis, labels in asked]
    curve = RuleCurve(had, [len(labels) for _, labels in asked], carries)
    chosen = curve.balanced() if asked else None
    if chosen is None:
        raise InvalidSettings(
            [
                Problem(
                    "rule-finds-nobody",
                    "No rule over these features finds a carrier of the phenotype",
                    phenotype.identifier,
                    f"{curve.carriers} carriers",
                    "Choose another phenotype, or more features.",
                )
            ]
        )
    names = list(mode_axes(dataset.tensor.modes))
    parts = tuple(
        RulePart(names[axis - 1], number, _features(dataset, axis, labels, concepts))
        for (axis, labels), number in zip(asked, chosen.at_least, strict=True)
    )
    return Definition(Rule(phenotype.identifier, phenotype.name, parts), curve)


def _features(
    dataset: Dataset, axis: int, labels: Sequence[str], concepts: Concepts | None
) -> tuple[RuleFeature, ...]:
    codes = dataset.outside.of_mode(dataset.tensor.modes[axis].name)
    is_omop = dataset.summary is not None and dataset.summary.kind == OMOP.kind
    found = []
    for label in labels:
        code = codes.get(label, label)
        known = concepts.get(label, ()) if concepts else ()
        if not known and is_omop and code.isascii() and code.isdecimal():
            known = (int(code),)
        found.append(RuleFeature(label, code, known))
    return tuple(found)
