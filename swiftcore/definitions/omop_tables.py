"""Where the events of a rule stand in an OMOP CDM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swiftcore.data.building.ehr_layouts import OMOP
from swiftcore.data.summary import DatasetSummary
from swiftcore.definitions.rule import Rule
from swiftcore.errors import InvalidData, Problem


@dataclass(frozen=True)
class OmopTable:
    """One table of events: its name, its column of concepts, and circe's words for it."""

    name: str
    concept: str
    criteria: str
    domain: str


TABLES = {
    table.name: table
    for table in (
        OmopTable("condition_era", "condition_concept_id", "ConditionEra", "Condition"),
        OmopTable(
            "condition_occurrence", "condition_concept_id", "ConditionOccurrence", "Condition"
        ),
        OmopTable("drug_era", "drug_concept_id", "DrugEra", "Drug"),
        OmopTable("drug_exposure", "drug_concept_id", "DrugExposure", "Drug"),
        OmopTable(
            "procedure_occurrence", "procedure_concept_id", "ProcedureOccurrence", "Procedure"
        ),
        OmopTable("measurement", "measurement_concept_id", "Measurement", "Measurement"),
        OmopTable("observation", "observation_concept_id", "Observation", "Observation"),
    )
}
_USUAL = {  # for data that are not of an OMOP CDM
    "diagnosis": "condition_occurrence",
    "condition": "condition_occurrence",
    "medication": "drug_exposure",
    "drug": "drug_exposure",
    "procedure": "procedure_occurrence",
}
Placed = tuple[tuple[int, OmopTable], ...]  # the number of a part, and its table


def tables_of(rule: Rule, summary: DatasetSummary | None, named: Mapping[str, str]) -> Placed:
    """The table of every part of a rule that asks for something.

    Parameters
    ----------
    summary : DatasetSummary or None
        Of the data set: it says which table was read.
    named : mapping of str to str
        Tables by mode that a person chose; they come first.

    Raises
    ------
    InvalidData
        With every mode that has no table and every feature that has no concept.
    """
    problems, placed = [], []
    for number, part in enumerate(rule.parts):
        if not part.at_least:
            continue
        table = named.get(part.mode) or _read_from(part.mode, summary) or _USUAL.get(part.mode, "")
        if table not in TABLES:
            problems.append(
                Problem(
                    "omop-table-unknown",
                    "The rule needs a table of the OMOP CDM for this mode",
                    part.mode,
                    table or "none known",
                    f"Name one: --table {part.mode}=TABLE, of {', '.join(TABLES)}.",
                )
            )
        else:
            placed.append((number, TABLES[table]))
        problems += [
            Problem(
                "concept-unknown",
                "No OMOP concept is known for a feature",
                part.mode,
                feature.label[:80],
                "Give a table with the columns feature,concept_id: --concepts FILE.",
            )
            for feature in part.features
            if not feature.concepts
        ]
    if problems:
        raise InvalidData(problems)
    return tuple(placed)


def _read_from(mode: str, summary: DatasetSummary | None) -> str:
    """The table that the events of a mode were read from."""
    if summary is None or summary.kind != OMOP.kind:
        return ""
    file = summary.mapping.get(mode, "").partition(":")[0].lower()
    spec = next((one for one in OMOP.events if one.mode == mode), None)
    return next((name for name in (spec.tables if spec else ()) if name in file), "")
