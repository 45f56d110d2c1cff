"""The columns of OMOP tables that were published without a header line, by the CDM's definition."""

from __future__ import annotations

from dataclasses import replace

from swiftcore.data.building.ehr_tables import TABLE_ENDING
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import refuse

_CONDITION = "condition_occurrence_id person_id condition_concept_id condition_start_date"
_CONDITION_TIMES = (
    f"{_CONDITION} condition_start_datetime condition_end_date condition_end_datetime "
    "condition_type_concept_id"
)
_DRUG = "drug_exposure_id person_id drug_concept_id drug_exposure_start_date"
_DRUG_TIMES = (
    f"{_DRUG} drug_exposure_start_datetime drug_exposure_end_date drug_exposure_end_datetime "
    "verbatim_end_date drug_type_concept_id stop_reason refills quantity days_supply sig "
    "route_concept_id lot_number provider_id visit_occurrence_id"
)
# By table and number of columns: the names, from the first column on, on which all versions of the
# CDM (5.0 to 5.4) with so many columns agree.
_DEFINITIONS: dict[str, dict[int, str]] = {
    "person": {
        18: "person_id gender_concept_id year_of_birth month_of_birth day_of_birth birth_datetime "
        "race_concept_id ethnicity_concept_id location_id provider_id care_site_id "
        "person_source_value gender_source_value gender_source_concept_id race_source_value "
        "race_source_concept_id ethnicity_source_value ethnicity_source_concept_id"
    },
    "condition_occurrence": {
        11: f"{_CONDITION} condition_end_date condition_type_concept_id stop_reason provider_id "
        "visit_occurrence_id",
        13: f"{_CONDITION_TIMES} stop_reason provider_id visit_occurrence_id",
        15: f"{_CONDITION_TIMES} stop_reason provider_id visit_occurrence_id",
        16: _CONDITION_TIMES,  # 5.3.1 and 5.4 have the visit in different places
    },
    "condition_era": {
        6: "condition_era_id person_id condition_concept_id condition_era_start_date "
        "condition_era_end_date condition_occurrence_count"
    },
    "drug_exposure": {
        21: f"{_DRUG} drug_exposure_end_date drug_type_concept_id",
        22: _DRUG_TIMES,
        23: f"{_DRUG} drug_exposure_start_datetime drug_exposure_end_date",  # 5.1, and 5.3 on
    },
    "drug_era": {
        7: "drug_era_id person_id drug_concept_id drug_era_start_date drug_era_end_date "
        "drug_exposure_count gap_days"
    },
    "death": {
        6: "person_id death_date death_type_concept_id",
        7: "person_id death_date death_datetime death_type_concept_id",
    },
    "concept": {
        10: "concept_id concept_name domain_id vocabulary_id concept_class_id standard_concept "
        "concept_code valid_start_date valid_end_date invalid_reason"
    },
}


def headerless_table(file: str, first_line: tuple[str, ...]) -> str:
    """The OMOP table that a file holds without a header line; "" when it has one or is another."""
    table = TABLE_ENDING.sub("", file.rsplit("/", 1)[-1]).lower().removeprefix("cdm_")
    headless = bool(first_line) and first_line[0].strip().isdigit()
    return table if headless and table in _DEFINITIONS else ""


def known_columns(table: str) -> tuple[str, ...]:
    """What the first columns of a table are called in every version of the CDM."""
    return tuple(next(iter(_DEFINITIONS[table].values())).split())


def with_cdm_columns(read: TextTable, table: str, findings: Findings) -> TextTable:
    """The same rows under the names that the CDM gives to so many columns.

    Raises
    ------
    InvalidData
        When no version of the CDM has so many.
    """
    found = len(read.columns)
    known = _DEFINITIONS[table].get(found)
    if known is None:
        versions = " or ".join(str(count) for count in _DEFINITIONS[table])
        raise refuse(
            "header-missing",
            "The table has no header line, so its columns have no names",
            read.name,
            f"{found} columns where the OMOP CDM's {table} has {versions}",
            "Add the header line with the names of the columns to every table.",
        )
    names = known.split()
    columns = (*names, *read.columns[len(names) :])
    findings.note(
        f"{read.name} has no header line; with {found} columns it is the OMOP CDM's {table}, and "
        f"its columns are named after that ({len(names)} of {found}; the others are not needed)."
    )
    return replace(read, columns=columns, rows=read.rows.rename_columns(list(columns)))
