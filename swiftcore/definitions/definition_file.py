"""A definition as plain values for programs, as a list of codes, and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from swiftcore.data.dataset import Dataset
from swiftcore.definitions.atlas import rule_from_atlas
from swiftcore.definitions.define import Definition
from swiftcore.definitions.quality import Quality
from swiftcore.definitions.rule import Rule, RuleFeature, RulePart, mode_axes
from swiftcore.errors import InvalidData, Problem, refuse
from swiftcore.runtime.ranges import listed, record, record_faults, text, whole
from swiftcore.runtime.spreadsheet_text import csv_safe

FORMAT = "swift-definition 1"  # raise it when a field changes its meaning
_LABEL, _MANY = text(100_000), 100_000
_FEATURE = record({"label": _LABEL, "code": _LABEL, "concepts": listed(whole(0), _MANY)})
_PART = record({"mode": _LABEL, "at_least": whole(0, _MANY), "features": listed(_FEATURE, _MANY)})


def plain_definition(definition: Definition) -> dict[str, Any]:
    """Everything of a definition: the rule, how well it does, and the other rules on the curve."""
    rule = definition.rule
    return {
        **plain_rule(rule),
        "quality": _plain(definition.quality, rule),
        "curve": [_plain(one, rule) for one in definition.curve.best()],
    }


def plain_rule(rule: Rule) -> dict[str, Any]:
    """What :func:`read_rule` reads."""
    return {
        "format": FORMAT,
        "phenotype": rule.phenotype,
        "name": rule.name,
        "rule": rule.words(),
        "parts": [
            {
                "mode": part.mode,
                "at_least": part.at_least,
                "features": [
                    {"label": one.label, "code": one.code, "concepts": list(one.concepts)}
                    for one in part.features
                ],
            }
            for part in rule.parts
        ],
    }


def _plain(quality: Quality, rule: Rule) -> dict[str, Any]:
    thresholds = {p.mode: k for p, k in zip(rule.parts, quality.at_least, strict=True)}
    return {
        "at_least": thresholds,
        "found": quality.found,
        "right": quality.right,
        "carriers": quality.carriers,
        "sensitivity": quality.sensitivity,
        "positive_predictive_value": quality.predictive_value,
    }


def quality_words(quality: Quality) -> str:
    """How well a rule does, as one sentence."""
    return (
        f"In these data it finds {quality.sensitivity:.0%} of the {quality.carriers:,} carriers "
        f"(sensitivity); {quality.predictive_value:.0%} of the {quality.found:,} it finds carry "
        "the phenotype (positive predictive value)."
    )


def code_lines(rule: Rule) -> Iterator[Sequence[object]]:
    """The features of a rule as lines of a CSV file, a line per concept; the header first."""
    yield ["mode", "at least", "feature", "code", "concept_id"]
    for part in rule.parts:
        for one in part.features:
            for concept in one.concepts or ("",):
                label, code = csv_safe(one.label), csv_safe(one.code)
                yield [csv_safe(part.mode), part.at_least, label, code, concept]


def read_rule(plain: Any, where: str) -> Rule:
    """The rule of a definition, ours or one of ATLAS; raises InvalidData if it is neither."""
    if isinstance(plain, Mapping) and "ConceptSets" in plain:
        return rule_from_atlas(plain)
    shown = plain if isinstance(plain, Mapping) else {}
    kept: dict[str, Any] = {name: shown.get(name) for name in ("phenotype", "name", "parts")}
    fields = {"phenotype": _LABEL, "name": _LABEL, "parts": listed(_PART, 100)}
    faults = list(record_faults(kept, fields))
    if shown.get("format") != FORMAT or faults:
        raise refuse(
            "definition-unknown",
            "This is no definition of a phenotype",
            where,
            "; ".join(faults[:3]) or f"format {shown.get('format')!r}"[:80],
            "Give definition.json or atlas.json written by swift define.",
            kind=InvalidData,
        )
    parts = tuple(
        RulePart(one["mode"], one["at_least"], tuple(map(_feature, one["features"])))
        for one in kept["parts"]
    )
    return Rule(kept["phenotype"], kept["name"], parts)


def _feature(plain: Mapping[str, Any]) -> RuleFeature:
    return RuleFeature(plain["label"], plain["code"], tuple(plain["concepts"]))


def on_data(rule: Rule, dataset: Dataset) -> tuple[Rule, list[str]]:
    """The rule in the labels of a data set, and its features that the data set does not have.

    A feature is found by its label, its code, or one of its concepts.

    Raises
    ------
    InvalidData
        With every mode of the rule that the data set does not have.
    """
    axes = mode_axes(dataset.tensor.modes)
    strange = [
        Problem(
            "mode-unknown",
            "The data set has no such mode",
            part.mode,
            f"modes {', '.join(axes)}",
            "Choose a data set of the same modes, or rename them when it is built.",
        )
        for part in rule.parts
        if part.mode not in axes
    ]
    if strange:
        raise InvalidData(strange)
    parts, missing = [], []
    for part in rule.parts:
        mode = dataset.tensor.modes[axes[part.mode]]
        codes = dataset.outside.of_mode(mode.name)
        by_code = {codes.get(label, label): label for label in mode.labels}
        known, found = set(mode.labels), []
        for one in part.features:
            names = [
                one.label,
                *(by_code.get(key, "") for key in (one.code, *map(str, one.concepts))),
            ]
            label = next((name for name in names if name in known), "")
            missing += [] if label else [one.label]
            found.append(RuleFeature(label or one.label, one.code, one.concepts))
        parts.append(RulePart(part.mode, part.at_least, tuple(found)))
    return Rule(rule.phenotype, rule.name, tuple(parts)), missing
