"""A rule as a cohort definition of OHDSI's ATLAS (circe), and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from swiftcore.definitions.omop_tables import TABLES, OmopTable, Placed
from swiftcore.definitions.rule import Rule, RuleFeature, RulePart
from swiftcore.errors import InvalidData, refuse

_EVER = {  # any number of days before and after the first event
    "Start": {"Coeff": -1},
    "End": {"Coeff": 1},
    "UseEventEnd": False,
    "UseIndexEnd": False,
}
_ONCE = {"Type": 2, "Count": 1, "IsDistinct": False}  # 2: at least


def atlas_cohort(rule: Rule, placed: Placed) -> dict[str, Any]:
    """The cohort: people with an event of the rule, and per part a group "at least k of".

    A concept set of its own for every feature keeps "k of these features" exact even where a
    feature has several concepts. Circe asks that the first event lies in an observation period.
    """
    sets: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []
    for number, table in placed:
        part = rule.parts[number]
        criteria = []
        for feature in part.features:
            sets.append(_concept_set(len(sets), feature, table))
            criteria.append({table.criteria: {"CodesetId": sets[-1]["id"]}})
        events += criteria
        rules.append(_inclusion_rule(part, criteria))
    return {
        "Title": f"{rule.phenotype} {rule.name}",
        "ConceptSets": sets,
        "PrimaryCriteria": {
            "CriteriaList": events,
            "ObservationWindow": {"PriorDays": 0, "PostDays": 0},
            "PrimaryCriteriaLimit": {"Type": "First"},
        },
        "QualifiedLimit": {"Type": "First"},
        "ExpressionLimit": {"Type": "First"},
        "InclusionRules": rules,
        "CensoringCriteria": [],
        "CollapseSettings": {"CollapseType": "ERA", "EraPad": 0},
        "CensorWindow": {},
        "cdmVersionRange": ">=5.0.0",
    }


def _concept_set(number: int, feature: RuleFeature, table: OmopTable) -> dict[str, Any]:
    items = [
        {
            "concept": {
                "CONCEPT_ID": concept,
                "CONCEPT_NAME": feature.label,
                "DOMAIN_ID": table.domain,
            },
            "isExcluded": False,
            "includeDescendants": False,
            "includeMapped": False,
        }
        for concept in feature.concepts
    ]
    return {"id": number, "name": feature.label, "expression": {"items": items}}


def _inclusion_rule(part: RulePart, criteria: list[dict[str, Any]]) -> dict[str, Any]:
    each = [
        {
            "Criteria": one,
            "StartWindow": _EVER,
            "RestrictVisit": False,
            "IgnoreObservationPeriod": True,
            "Occurrence": _ONCE,
        }
        for one in criteria
    ]
    group = {
        "Type": "AT_LEAST",
        "Count": part.at_least,
        "CriteriaList": each,
        "DemographicCriteriaList": [],
        "Groups": [],
    }
    return {"name": part.mode, "description": part.words(), "expression": group}


def rule_from_atlas(cohort: Any) -> Rule:
    """The rule in a cohort definition of the form that :func:`atlas_cohort` writes.

    Raises
    ------
    InvalidData
        If it is no such definition, or asks for more than the number of features at any time.
    """
    try:
        sets = {one["id"]: one for one in cohort["ConceptSets"]}
        parts = tuple(_part(one, sets) for one in cohort["InclusionRules"])
        if not parts:
            raise ValueError("no inclusion rule")
        phenotype, _, name = str(cohort.get("Title", "")).partition(" ")
        return Rule(phenotype, name, parts)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise refuse(
            "atlas-unknown-form",
            "This cohort definition asks for more than a number of features, or is none",
            "cohort definition",
            f"{type(error).__name__}: {error}"[:120],
            "Give one written by swift define.",
            kind=InvalidData,
        ) from error


def _part(written: dict[str, Any], sets: dict[int, Any]) -> RulePart:
    group = written["expression"]
    if group["Type"] != "AT_LEAST" or group.get("Groups") or group.get("DemographicCriteriaList"):
        raise ValueError(f"a group of another kind in {written['name']}")
    features = tuple(
        feature for one in group["CriteriaList"] for feature in _read_features(one, sets)
    )
    if not 1 <= int(group["Count"]) <= len(features):
        raise ValueError(f"at least {group['Count']} of {len(features)}")
    return RulePart(str(written["name"]), int(group["Count"]), features)


def _read_features(one: dict[str, Any], sets: dict[int, Any]) -> Iterator[RuleFeature]:
    ((criteria, asked),) = one["Criteria"].items()
    if criteria not in {table.criteria for table in TABLES.values()} or set(asked) != {"CodesetId"}:
        raise ValueError(f"a criterion of another kind: {criteria}")
    if one["StartWindow"] != _EVER or one["Occurrence"] != _ONCE:
        raise ValueError("a time or a number of events")
    found = sets[asked["CodesetId"]]
    items = found["expression"]["items"]
    if any(item[flag] for item in items for flag in _FLAGS):
        raise ValueError(f"more than the concepts themselves in {found['name']}")
    concepts = tuple(int(item["concept"]["CONCEPT_ID"]) for item in items)
    yield RuleFeature(str(found["name"]), str(concepts[0]), concepts)


_FLAGS = ("isExcluded", "includeDescendants", "includeMapped")
