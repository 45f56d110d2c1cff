"""Every choice a person can make when a file becomes a tensor, in one place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from swiftcore.errors import InvalidSettings, Problem

MEGABYTE = 1 << 20
CHOICES: dict[str, tuple[str, ...]] = {
    "header": ("", "none", "one", "two"),
    "layout": ("", "long", "wide", "onehot", "lists"),
    "join": ("patient", "visit", "window"),
    "rows": ("patient", "visit"),
    "values": ("count", "binary", "log-count"),
    "duplicates": ("sum", "max", "refuse"),
    "outcome": ("", "none", "codes", "death", "column"),
    "vocabulary_by": ("tfidf", "documents"),
    "stop_words": ("english", "none"),
    "index_base": ("", "0", "1", "detect"),
    "date_order": ("", "day first", "month first"),
}
CCS = "ccs"
ICD_CATEGORIES = "icd3"
ATC_GROUPS = {"atc1": 1, "atc3": 3, "atc4": 4, "atc5": 5}  # characters: the levels 1 to 4
GROUPINGS = {CCS: "CCS", ICD_CATEGORIES: "ICD category", **dict.fromkeys(ATC_GROUPS, "ATC")}
_CODE_FILES = ("code_groups", "medication_groups", "code_names")
MINIMA = {
    "row_mode": 1,
    "min_support": 1,
    "top": 0,
    "vocabulary_size": 0,
    "window_days": 0,
    "lookback_days": 0,
}


@dataclass(frozen=True)
class Limits:
    """What reading one path may use before it is stopped.

    Attributes
    ----------
    memory_mb : int
        Memory of the reading process.
    seconds : float
        Time for the whole reading.
    decoded_mb : int
        Bytes after decompression, added over all files of the path.
    entries : int
        Files in a folder or an archive.
    """

    memory_mb: int = 4096
    seconds: float = 300.0
    decoded_mb: int = 1024
    entries: int = 100_000


def _about(about: str, example: str) -> dict[str, str]:
    return {"about": about, "example": example}


def _option(default: Any, about: str, example: str) -> Any:
    """An option with what it means and a value that somebody may want."""
    return field(default=default, metadata=_about(about, example))


@dataclass(frozen=True)
class BuildOptions:
    """How to read a path and build its tensor; the defaults guess and say what they guessed.

    What every option means stands in its definition; ``swift data options`` lists them.
    """

    name: str = _option("", "Name of the data set; the file's own name when empty.", "ward 3")
    kind: str = _option(
        "", "What the path is, such as table, tables, omop or tns; found out when empty.", "omop"
    )
    columns: Mapping[str, str] = field(
        default_factory=dict,
        metadata=_about(
            "Which column is what, by role: row (several with commas are the id together), "
            "features (several with commas), domain "
            "(says what kind of feature a line names), value, outcome, date, visit, text, "
            "label, covariates (they describe rows and are never features), ignored. Of "
            "several tables each takes the columns it has.",
            "columns.row=mrn",
        ),
    )
    encoding: str = _option("", "How a text table is written; found out when empty.", "cp1252")
    delimiter: str = _option(
        "", "The character between columns, or tab; found out when empty.", "tab"
    )
    header: str = _option(
        "", "How many lines hold the names of the columns; found out when empty.", "two"
    )
    layout: str = _option(
        "",
        "How a table is laid out: one event per line, numbered columns such as diag_1 "
        "... diag_9, a column of yes and no per feature, or lists in cells; found out "
        "when empty.",
        "wide",
    )
    date_order: str = _option("", "Needed only for dates like 03/04/2020.", "day first")
    tables: str = _option(
        "",
        "Which tables to use, with commas between them: sheets, tables of a database, files "
        "without their ending, FHIR types; or which set of a folder that holds two, raw or tidy "
        "for eICU.",
        "raw",
    )
    join: str = _option(
        "patient",
        "Which rows of two tables belong together: all of one patient, those of one "
        "visit, or those at most window_days apart.",
        "visit",
    )
    window_days: float = _option(30.0, "How far apart events of one window may be.", "14")
    rows: str = _option("patient", "What one row of the tensor is.", "visit")
    code_groups: str = _option(
        "",
        "Groups of diagnosis codes: ccs (ICD-9 and ICD-10-CM; a code that the CCS does not have, "
        "such as the category 428, goes with most codes that begin so), icd3 (categories of "
        "three characters), or the path of a CSV (code, group[, name]).",
        "ccs",
    )
    medication_groups: str = _option(
        "",
        "Groups of medications: atc1, atc3, atc4 or atc5 (so many first characters of ATC codes, "
        "which are the levels 1 to 4), or the path of a CSV (medication, group[, name]).",
        "atc4",
    )
    code_names: str = _option(
        "",
        "Names of codes, shown as name [code]: the path of a CSV (code, name; dots in codes make "
        "no difference), or ccs (every diagnosis code under the name of its CCS group).",
        "icd_names.csv",
    )
    outcome: str = _option(
        "",
        "Where the outcome comes from; when empty: the column or the codes given, else none.",
        "death",
    )
    outcome_codes: tuple[str, ...] = _option(
        (),
        "Codes or names that mean the outcome; a star at the end takes all that begin so.",
        "428*, I50*",
    )
    outcome_column: str = _option(
        "", "One column of the patients, or several with commas (any of them).", "hf_dx, hf_history"
    )
    outcome_name: str = _option(
        "", "What the outcome is called; its column or codes when empty.", "heart failure"
    )
    keep_outcome_codes: bool = _option(
        False,
        "Leave the outcome's own codes among the features (they give the answer away).",
        "yes",
    )
    drop_codes: tuple[str, ...] = _option(
        (), "Further codes or names that must not be features.", "108, Z00*"
    )
    before_outcome: bool = _option(False, "Use only events before the outcome.", "yes")
    lookback_days: float = _option(
        0.0, "Use only events at most so many days before the outcome (0: any time).", "365"
    )
    values: str = _option(
        "count",
        "What a cell holds: how often, yes or no, or the logarithm of 1 + how often.",
        "binary",
    )
    duplicates: str = _option("sum", "What happens to rows that name the same cell.", "max")
    min_support: int = _option(1, "Features in fewer rows are left out.", "10")
    top: int = _option(0, "At most so many features per mode, the most frequent (0: all).", "100")
    merge_similar_names: bool = _option(
        False, "Treat names that differ only in case, spacing or look-alike letters as one.", "yes"
    )
    vocabulary_size: int = _option(100, "How many words of documents are chosen (0: all).", "2000")
    vocabulary_by: str = _option("tfidf", "How the words of documents are chosen.", "documents")
    stop_words: str = _option("english", "Which small words of documents are left out.", "none")
    index_base: str = _option(
        "", "What the first index of a .tns file is called; asked when unclear.", "0"
    )
    mode_names: tuple[str, ...] = _option(
        (), "Names for the modes of a .tns or .npz file, in their order.", "patient, code, drug"
    )
    row_mode: int = _option(
        1, "Which mode of a .tns or .npz file holds the rows (1: the first).", "2"
    )
    yes: bool = _option(
        False,
        "Build also what looks doubtful: more than four modes, features that hardly any "
        "two rows share, a third of the patients lost.",
        "yes",
    )
    limits: Limits = field(
        default_factory=Limits,
        metadata=_about(
            "What reading may use, by name: memory_mb, seconds, decoded_mb, entries.",
            "limits.seconds=600",
        ),
    )

    def __post_init__(self) -> None:
        problems = [
            Problem(
                "option-choice",
                "A setting has a value it cannot take",
                f"option {name}",
                repr(getattr(self, name)),
                f"Choose one of {_listed(allowed)}.",
            )
            for name, allowed in CHOICES.items()
            if getattr(self, name) not in allowed
        ]
        problems += [
            Problem(
                "option-range",
                "A setting is too small",
                f"option {name}",
                str(getattr(self, name)),
                f"Give {least} or more.",
            )
            for name, least in MINIMA.items()
            if not getattr(self, name) >= least
        ]
        if problems:
            raise InvalidSettings(problems)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a process boundary or a manifest."""
        return {**dataclasses.asdict(self), "columns": dict(self.columns)}

    def for_new_rows(self) -> BuildOptions:
        """How to read rows that a finished model shall describe.

        They need no outcome, few of them share little, and the model alone knows which features
        count. An outcome is read where it decides which events belong to a row.
        """
        timed = self.before_outcome or self.lookback_days
        return dataclasses.replace(
            self,
            outcome=self.outcome if timed else "none",
            min_support=1,
            top=0,
            vocabulary_size=0,
            yes=True,
        )

    def changed(self) -> dict[str, Any]:
        """The options that are not at their defaults, without limits; of files only the names."""
        usual, plain = BuildOptions().to_json(), self.to_json()
        found = {name: value for name, value in plain.items() if value != usual[name]}
        found.pop("limits", None)
        for name in _CODE_FILES:
            if name in found:
                found[name] = PurePath(found[name]).name
        return found

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> BuildOptions:
        """The options that :meth:`to_json` wrote down."""
        values = dict(plain)
        for name in ("outcome_codes", "drop_codes", "mode_names"):
            values[name] = tuple(values.get(name, ()))
        if "limits" in values:
            values["limits"] = Limits(**values["limits"])
        return cls(**values)


def options_from_text(settings: Iterable[str]) -> BuildOptions:
    """Options from lines such as "join=visit", "top=100" or "columns.row=mrn".

    Raises
    ------
    InvalidSettings
        With every line that names no option or holds a value of the wrong kind.
    """
    plain: dict[str, Any] = {}
    columns: dict[str, str] = {}
    limits: dict[str, Any] = {}
    problems = []
    for line in settings:
        name, equals, text = line.partition("=")
        group, _, part = name.strip().replace("-", "_").partition(".")
        try:
            if group == "columns" and part and equals:
                columns[part] = text.strip()
            elif group == "limits" and part and equals:
                limits[part] = _converted(Limits, part, text)
            elif equals and not part:
                plain[group] = _converted(BuildOptions, group, text)
            else:
                raise KeyError(group)
        except (KeyError, ValueError):
            problems.append(_not_understood(line, bool(equals) and group in _kinds(BuildOptions)))
    if problems:
        raise InvalidSettings(problems)
    return BuildOptions(**plain, columns=columns, limits=Limits(**limits))


def _not_understood(line: str, known: bool) -> Problem:
    return Problem(
        "option-unknown",
        "A setting cannot be understood",
        f"'{line}'",
        "a value of the wrong kind" if known else "no such option",
        "Write name=value; swift data options lists all names with their values.",
    )


def _kinds(owner: type[BuildOptions] | type[Limits]) -> dict[str, str]:
    return {field.name: str(field.type) for field in dataclasses.fields(owner)}


def _converted(owner: type[BuildOptions] | type[Limits], name: str, text: str) -> Any:
    kind, text = _kinds(owner)[name], text.strip()
    if kind == "bool":
        if text.lower() not in ("yes", "no", "true", "false", "1", "0"):
            raise ValueError(text)
        return text.lower() in ("yes", "true", "1")
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind in ("int", "float"):
        return int(text) if kind == "int" else float(text)
    if kind != "str":
        raise KeyError(name)
    return {"tab": "\t"}.get(text, text) if name == "delimiter" else text


def _listed(allowed: tuple[str, ...]) -> str:
    return ", ".join(repr(choice) for choice in allowed)


def allow_only(
    options: BuildOptions,
    allowed: Mapping[str, tuple[object, ...]],
    code: str,
    what: str,
    cure: str,
) -> None:
    """Raise :class:`InvalidSettings` with every option whose value is not among those allowed."""
    problems = [
        Problem(code, what, f"option {name}", repr(getattr(options, name))[:60], cure)
        for name, values in allowed.items()
        if getattr(options, name) not in values
    ]
    if problems:
        raise InvalidSettings(problems)
