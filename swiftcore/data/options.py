"""Every choice a person can make when a file becomes a tensor, in one place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from swiftcore.errors import InvalidSettings, Problem

MEGABYTE = 1 << 20
CHOICES: dict[str, tuple[str, ...]] = {
    "header": ("", "none", "one", "two"),
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
MINIMA = {"min_support": 1, "top": 0, "vocabulary_size": 0, "window_days": 0, "lookback_days": 0}


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


@dataclass(frozen=True)
class BuildOptions:
    """How to read a path and build its tensor; the defaults guess and say what they guessed.

    Attributes
    ----------
    name : str
        Name of the data set; the file's own name when empty.
    kind : str
        What the path is (see `swiftcore.data.from_path.sniff.KINDS`); detected when empty.
    columns : mapping of str to str
        Role to column, for example ``{"row": "mrn", "features": "dx, rx", "value": "n"}``.
        Roles: row, features, value, outcome, date, visit, text, label, covariates (columns
        that describe the rows; never features).
    encoding, delimiter : str
        How a text table is written; detected when empty.
    header : {"", "none", "one", "two"}
        How many lines hold the names of the columns; found out when empty.
    date_order : {"", "day first", "month first"}
        Needed only for dates like 03/04/2020.
    tables : str
        Which tables to use, with commas between them: sheets, tables of a database, files without
        their ending, FHIR types; or which set of a folder that holds two, "raw" or "tidy" for eICU.
    join : {"patient", "visit", "window"}
        Which rows of two tables belong together: all of one patient, those of one visit, or
        those at most `window_days` apart.
    rows : {"patient", "visit"}
        What one row of the tensor is.
    code_groups : str
        "ccs", or the path of a CSV (code, group[, name]) for the diagnoses.
    medication_groups : str
        The path of a CSV (medication, group[, name]).
    outcome : {"", "none", "codes", "death", "column"}
        Where the outcome comes from; when empty: the column or the codes given, else none.
    outcome_codes : tuple of str
        Codes or names that mean the outcome; a star at the end takes all that begin so.
    outcome_column : str
        One column of the patients' table, or several ("hf_dx, hf_history": any of them).
    keep_outcome_codes : bool
        Leave the outcome's own codes among the features (they give the answer away).
    drop_codes : tuple of str
        Further codes or names that must not be features.
    before_outcome, lookback_days : bool, float
        Use only events before the outcome, at most `lookback_days` before it (0: any time).
    values, duplicates : str
        What a cell holds, and what happens to rows that name the same cell.
    min_support, top : int
        Features in fewer rows are left out; at most `top` features per mode (0: all).
    merge_similar_names : bool
        Treat names that differ only in case, spacing or look-alike letters as one.
    vocabulary_size, vocabulary_by, stop_words : int, str, str
        How many words of documents are chosen (0: all), and how.
    index_base : {"", "0", "1", "detect"}
        What the first index of a .tns file is called.
    """

    name: str = ""
    kind: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    delimiter: str = ""
    header: str = ""
    date_order: str = ""
    tables: str = ""
    join: str = "patient"
    window_days: float = 30.0
    rows: str = "patient"
    code_groups: str = ""
    medication_groups: str = ""
    outcome: str = ""
    outcome_codes: tuple[str, ...] = ()
    outcome_column: str = ""
    outcome_name: str = ""
    keep_outcome_codes: bool = False
    drop_codes: tuple[str, ...] = ()
    before_outcome: bool = False
    lookback_days: float = 0.0
    values: str = "count"
    duplicates: str = "sum"
    min_support: int = 1
    top: int = 0
    merge_similar_names: bool = False
    vocabulary_size: int = 100
    vocabulary_by: str = "tfidf"
    stop_words: str = "english"
    index_base: str = ""
    limits: Limits = field(default_factory=Limits)

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

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> BuildOptions:
        """The options that :meth:`to_json` wrote down."""
        values = dict(plain)
        for name in ("outcome_codes", "drop_codes"):
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
        "Write name=value; names are those of BuildOptions.",
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
