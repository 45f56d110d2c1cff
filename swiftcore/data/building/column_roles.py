"""What each column of a table means: set by the person, or guessed by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import where_list

ROLES = (
    "row",
    "features",
    "domain",
    "value",
    "outcome",
    "date",
    "visit",
    "text",
    "label",
    "covariates",
    "ignored",
)
# what columns are usually called, compared letter by letter without case, spaces and marks
OF_LINES = ("id", "row", "rowid")  # the lines of any table may be numbered under these names
ID_NAMES = (
    "patient",
    "patientid",
    "person",
    "personid",
    "subject",
    "subjectid",
    "mrn",
    "caseid",
    "uniquepid",
    "document",
    "docid",
    "userid",
    "user",
    "pid",
    "member",
    "memberid",
    "patientnumber",
    "participant",
    "participantid",
    *OF_LINES,
)
_VALUE = ("value", "count", "n", "amount", "weight", "freq", "frequency", "counts", "times")
_OUTCOME = ("outcome", "label", "class", "target", "died", "death", "y", "category", "event")
_DATE = (
    "date",
    "time",
    "datetime",
    "timestamp",
    "start",
    "startdate",
    "starttime",
    "eventdate",
    "day",
)
VISIT_NAMES = (
    "visit",
    "visitid",
    "encounter",
    "encounterid",
    "hadmid",
    "stay",
    "stayid",
    "admission",
    "admissionid",
    "visitoccurrenceid",
)
_TEXT = ("text", "content", "body", "article", "document", "note", "abstract", "description")
FEATURE_NAMES = re.compile(
    r"code|diag|dx|icd|ccs|condition|disease|drug|med|rx|generic|atc|ingredient|feature|item|word|"
    r"concept|proc|lab|finding|term|symptom"
)
DRUG_NAMES = re.compile(r"drug|med(?!ical)|rx|atc|arznei|wirkstoff|substance|farmac|generic")


@dataclass(frozen=True)
class ColumnRoles:
    """Which column of a table plays which role; features may be several."""

    row: str = ""
    features: tuple[str, ...] = ()
    value: str = ""
    outcome: str = ""
    date: str = ""
    visit: str = ""

    def described(self) -> dict[str, str]:
        named = {
            "row": self.row,
            "features": ", ".join(self.features),
            "value": self.value,
            "outcome": self.outcome,
            "date": self.date,
            "visit": self.visit,
        }
        return {role: column for role, column in named.items() if column}


def plain_name(column: str) -> str:
    """A column name without case, spaces, dots and underscores."""
    return re.sub(r"[\W_]+", "", column).lower()


def find_column(columns: tuple[str, ...], wanted: str) -> str:
    """The column meant by a name typed by a person; "" when there is none."""
    if wanted in columns:
        return wanted
    alike = [column for column in columns if plain_name(column) == plain_name(wanted)]
    return alike[0] if len(alike) == 1 else ""


def set_here(columns: tuple[str, ...], chosen: Mapping[str, str]) -> dict[str, str]:
    """Of the columns that a person set for several tables those that this one has."""
    found = {}
    for role, names in chosen.items():
        here = [part.strip() for part in names.split(",")]
        here = [name for name in here if name and find_column(columns, name)]
        if here:
            found[role] = ", ".join(here)
    return found


def guess_roles(table: TextTable, settings: Mapping[str, str], findings: Findings) -> ColumnRoles:
    """Take the columns set by the person and guess the others by their names.

    Problems are noted for columns that were set but are not there.
    """
    chosen = _set_columns(table, settings, findings)
    taken = {column for columns in chosen.values() for column in columns}
    free = [column for column in table.columns if column not in taken]

    def pick(role: str, usual: tuple[str, ...]) -> str:
        if role in chosen or role in settings:
            return chosen.get(role, [""])[0]
        for name in usual:
            for column in free:
                if plain_name(column) == name:
                    free.remove(column)
                    return column
        return ""

    row = pick("row", ID_NAMES)
    if not row and free and "row" not in settings:
        row = free.pop(0)
    value, date, visit = pick("value", _VALUE), pick("date", _DATE), pick("visit", VISIT_NAMES)
    outcome = pick("outcome", _OUTCOME)
    if "features" in settings:
        features = chosen.get("features", [])
    else:
        telling = [column for column in free if FEATURE_NAMES.search(plain_name(column))]
        features = _without_names(telling or free)
    return ColumnRoles(row, tuple(features), value, outcome, date, visit)


def _set_columns(
    table: TextTable, settings: Mapping[str, str], findings: Findings
) -> dict[str, list[str]]:
    chosen: dict[str, list[str]] = {}
    for role, text in settings.items():
        if role not in ROLES:
            findings.problem(
                "role-unknown",
                "There is no such role for a column",
                table.name,
                f"'{role}'",
                f"Use one of {', '.join(ROLES)}.",
            )
            continue
        for wanted in (part.strip() for part in text.split(",")):
            column = find_column(table.columns, wanted) if wanted else ""
            if column:
                chosen.setdefault(role, []).append(column)
            elif wanted:
                findings.problem(
                    "column-missing",
                    "A column is missing",
                    table.name,
                    f"no column '{wanted}' for {role}",
                    f"Choose from {where_list(table.columns, 12)}.",
                )
    return chosen


def _without_names(columns: list[str]) -> list[str]:
    """Leave out "ccs_name" where "ccs" is there: it names the same thing."""
    stems = {plain_name(column) for column in columns}
    return [
        column
        for column in columns
        if not any(
            plain_name(column) == stem + ending
            for stem in stems
            for ending in ("name", "description", "title")
        )
    ] or columns


def document_columns(
    table: TextTable, options: BuildOptions, findings: Findings
) -> tuple[str, str] | None:
    """Columns of text and label when the table holds documents, else None.

    A table holds documents when the text column is set, or when a column with a usual name
    holds running text: eight words or more per cell on average.
    """
    text = find_column(table.columns, options.columns.get("text", ""))
    if not text:
        if options.columns.get("features"):
            return None
        for column in table.columns:
            if plain_name(column) in _TEXT:
                sample = table.texts(column)[:200]
                if sum(len(cell.split()) for cell in sample) >= 8 * len(sample):
                    text = column
    if not text:
        return None
    wanted = options.columns.get("label", "")
    label = (
        find_column(table.columns, wanted)
        if wanted
        else next((column for column in table.columns if plain_name(column) in _OUTCOME), "")
    )
    findings.mapping.update({"text": text, **({"label": label} if label else {})})
    return text, label
