"""The layouts of well-known EHR exports, written down as data: tables, columns, oddities."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Names:
    """A dictionary table that names codes: its columns for code and name (and code system)."""

    table: str
    code: str
    name: str
    system: str = ""


@dataclass(frozen=True)
class EventTable:
    """One kind of event: where it stands and which columns say who, what and when.

    Attributes
    ----------
    mode : str
        Name of the mode it becomes.
    tables : tuple of str
        Possible tables; the first one present is used.
    code, name : str
        Columns of the code and of its name in the same table ("" when there is none); "a|b"
        means whichever is there.
    usual_name : bool
        One code goes under many spellings: show the most frequent. Otherwise a code with two
        names is two features, since nothing is merged silently.
    system : str
        Column of the ICD version, or a fixed system such as "=icd9".
    amount : str
        Column of a count per row.
    drop : (column, values, reason) or None
        Rows that are not events.
    """

    mode: str
    tables: tuple[str, ...]
    subject: str
    code: str
    name: str = ""
    visit: str = ""
    time: str = ""
    system: str = ""
    amount: str = ""
    usual_name: bool = False
    names: Names | None = None
    drop: tuple[str, tuple[str, ...], str] | None = None


@dataclass(frozen=True)
class Deaths:
    """Who died: rows of a table, or rows whose column is filled or holds a given text."""

    table: str
    subject: str
    day: str = ""
    column: str = ""
    values: tuple[str, ...] = ()
    name: str = "death"


@dataclass(frozen=True)
class Layout:
    """One kind of export.

    Attributes
    ----------
    signature : tuple of (table, column)
        Tables and columns that together tell this layout from the others.
    patients, patient_id : str
        The table of patients (optional) and its id column.
    owner : (table, from, to) or None
        Where event tables know only a stay: the table that gives its patient.
    visit_times : (table, visit, column) or None
        Where events are dated only by their visit.
    times_within_visit : bool
        Times are minutes from the start of each visit.
    """

    kind: str
    title: str
    signature: tuple[tuple[str, str], ...]
    events: tuple[EventTable, ...]
    patients: str
    patient_id: str
    deaths: Deaths | None = None
    owner: tuple[str, str, str] | None = None
    visit_times: tuple[str, str, str] | None = None
    times_within_visit: bool = False


_CONCEPT = Names("concept", "concept_id", "concept_name")
_NO_CONCEPT = ("0",)

OMOP = Layout(
    "omop",
    "an OMOP CDM export",
    (("person", "person_id"),),
    (
        EventTable(
            "condition",
            ("condition_era", "condition_occurrence"),
            "person_id",
            "condition_concept_id",
            visit="visit_occurrence_id",
            names=_CONCEPT,
            time="condition_era_start_date|condition_start_date",
            drop=("condition_concept_id", _NO_CONCEPT, "events without a concept (0)"),
        ),
        EventTable(
            "drug",
            ("drug_era", "drug_exposure"),
            "person_id",
            "drug_concept_id",
            visit="visit_occurrence_id",
            names=_CONCEPT,
            time="drug_era_start_date|drug_exposure_start_date",
            drop=("drug_concept_id", _NO_CONCEPT, "events without a concept (0)"),
        ),
    ),
    "person",
    "person_id",
    Deaths("death", "person_id", "death_date"),
)

_MIMIC_DEATHS = Deaths(
    "admissions", "subject_id", "deathtime", "hospital_expire_flag", ("1",), "death in hospital"
)
MIMIC3 = Layout(
    "mimic3",
    "a MIMIC-III export",
    (("diagnoses_icd", "icd9_code"), ("prescriptions", "drug")),
    (
        EventTable(
            "diagnosis",
            ("diagnoses_icd",),
            "subject_id",
            "icd9_code",
            visit="hadm_id",
            system="=icd9",
            names=Names("d_icd_diagnoses", "icd9_code", "long_title"),
        ),
        EventTable(
            "medication",
            ("prescriptions",),
            "subject_id",
            "drug",
            visit="hadm_id",
            time="startdate",
        ),
    ),
    "patients",
    "subject_id",
    _MIMIC_DEATHS,
    visit_times=("admissions", "hadm_id", "admittime"),
)

MIMIC4 = Layout(
    "mimic4",
    "a MIMIC-IV export",
    (("diagnoses_icd", "icd_version"), ("prescriptions", "drug")),
    (
        EventTable(
            "diagnosis",
            ("diagnoses_icd",),
            "subject_id",
            "icd_code",
            visit="hadm_id",
            system="icd_version",
            names=Names("d_icd_diagnoses", "icd_code", "long_title", "icd_version"),
        ),
        EventTable(
            "medication",
            ("prescriptions",),
            "subject_id",
            "drug",
            visit="hadm_id",
            time="starttime",
        ),
    ),
    "patients",
    "subject_id",
    _MIMIC_DEATHS,
    visit_times=("admissions", "hadm_id", "admittime"),
)

SYNTHEA = Layout(
    "synthea",
    "a Synthea CSV export",
    (("conditions", "encounter"), ("medications", "encounter")),
    (
        EventTable(
            "condition", ("conditions",), "patient", "code", "description", "encounter", "start"
        ),
        EventTable(
            "medication", ("medications",), "patient", "code", "description", "encounter", "start"
        ),
    ),
    "patients",
    "id",
    Deaths("patients", "id", "deathdate", "deathdate"),
)

EICU = Layout(
    "eicu",
    "an eICU export",
    (("diagnosis", "icd9code"), ("patient", "uniquepid")),
    (
        EventTable(
            "diagnosis",
            ("diagnosis",),
            "patientunitstayid",
            "icd9code",
            "diagnosisstring",
            "patientunitstayid",
            "diagnosisoffset",
        ),
        EventTable(
            "medication",
            ("medication",),
            "patientunitstayid",
            "drughiclseqno",
            "drugname",
            "patientunitstayid",
            "drugstartoffset",
            usual_name=True,
            drop=("drugordercancelled", ("yes",), "cancelled orders"),
        ),
    ),
    "patient",
    "uniquepid",
    Deaths(
        "patient", "uniquepid", "", "hospitaldischargestatus", ("expired",), "death in hospital"
    ),
    owner=("patient", "patientunitstayid", "uniquepid"),
    times_within_visit=True,
)

EICU_TIDY = Layout(
    "eicu-tidy",
    "tidy eICU tables (CCS groups, generic names)",
    (("tidy_diagnoses_ccs", "ccs"), ("tidy_medications_class", "generic")),
    (
        EventTable("diagnosis", ("tidy_diagnoses_ccs",), "patient", "ccs", "ccs_name", amount="n"),
        EventTable("medication", ("tidy_medications_class",), "patient", "generic", amount="n"),
    ),
    "tidy_patients",
    "patient",
    Deaths("tidy_patients", "patient", "", "died", ("1",), "death in hospital"),
)

LAYOUTS: tuple[Layout, ...] = (EICU_TIDY, EICU, MIMIC4, MIMIC3, OMOP, SYNTHEA)
