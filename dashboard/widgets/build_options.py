"""Every choice between a file and a tensor, in plain words; only those that fit the file."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.privacy import uploads
from dashboard.session import cache
from dashboard.text.display import clipped
from dashboard.widgets.column_choice import choose_columns, choose_modes, show_candidates
from dashboard.widgets.handed_over import ask_for_file
from swiftcore.data.building.fhir import FHIR
from swiftcore.data.from_path.sandbox import Inspection
from swiftcore.data.from_path.table_sources import table_names
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.fhir_resources import EVENTS

DOCUMENTS = ("documents", "document-table")
TABLES = ("table", "tables")
OWN = "own"
TENSORS = ("tns", "npz", "bundle", "code-map")
WORDS = {
    "join": {
        "patient": "all of one patient",
        "visit": "those of one visit",
        "window": "those within some days of each other",
    },
    "rows": {"patient": "one patient", "visit": "one visit"},
    "values": {
        "count": "how often (a count)",
        "binary": "yes or no",
        "log-count": "how often, dampened (logarithm)",
    },
    "duplicates": {"sum": "add them up", "max": "keep the largest", "refuse": "refuse the file"},
    "outcome": {
        "": "as given below, else none",
        "none": "none",
        "column": "a column",
        "death": "death",
        "codes": "certain codes",
    },
    "code_groups": {
        "": "as they are",
        "ccs": "in CCS groups (ICD-9, ICD-10-CM)",
        "icd3": "in ICD categories (three characters)",
        OWN: "by a table of mine",
    },
    "medication_groups": {
        "": "as they are",
        "atc1": "by ATC, 1 character (C)",
        "atc3": "by ATC, 3 characters (C09)",
        "atc4": "by ATC, 4 characters (C09A)",
        "atc5": "by ATC, 5 characters (C09AA)",
        OWN: "by a table of mine",
    },
    "code_names": {
        "": "those in the data",
        "ccs": "diagnoses by their CCS groups",
        OWN: "from a table of mine",
    },
    "vocabulary_by": {"tfidf": "telling words (TF-IDF)", "documents": "words of most documents"},
    "stop_words": {"english": "leave out English ones", "none": "keep all"},
    "index_base": {"": "ask if unclear", "0": "0", "1": "1", "detect": "find out"},
    "date_order": {"": "ask if unclear", "day first": "day first", "month first": "month first"},
}


def choose_options(inspection: Inspection, name: str) -> BuildOptions:
    """Draw the choices that fit what was uploaded; raises InvalidSettings.

    Parameters
    ----------
    inspection : Inspection
        What the files are when nothing is chosen; its guesses are shown as such.
    name : str
        The name the data set gets unless another is typed.
    """
    kind = inspection.kind
    chosen: dict[str, Any] = {
        "name": st.text_input("Name of the data set", name[:60], max_chars=60, key="option.name")
    }
    if kind not in (*DOCUMENTS, *TENSORS):
        chosen |= _tables(inspection)
    left, right = st.columns(2)
    with left:
        chosen |= choose_columns(inspection) if kind in TABLES else {}
        chosen |= choose_modes(inspection) if kind in ("tns", "npz") else {}
        chosen |= _join() if kind not in (*DOCUMENTS, *TENSORS, "table") else {}
        chosen |= _words() if kind in DOCUMENTS else {}
        if kind == "tns":
            chosen["index_base"] = _choice("index_base", "The first index is called")
    with right:
        chosen |= _outcome(inspection) if kind not in (*DOCUMENTS, *TENSORS) else {}
        if kind not in TENSORS:
            chosen["values"] = _choice("values", "A cell says")
    if kind not in (*DOCUMENTS, *TENSORS):
        with st.expander("Groups and names of codes"):
            chosen |= _codes()
    with st.expander("More choices"):
        chosen |= _more(kind)
    return BuildOptions(**chosen)


def _tables(inspection: Inspection) -> dict[str, Any]:
    """Which sheets, tables or types of resources to use, where there are several."""
    names = EVENTS if inspection.kind == FHIR else table_names(inspection.tables)
    if len(names) < 2:
        return {}
    wanted = st.multiselect(
        "Only these tables",
        names,
        format_func=clipped,
        accept_new_options=True,
        placeholder="all that fit",
        help="A hidden sheet is read when you type its name.",
        key="option.tables",
    )
    return {"tables": ", ".join(wanted)}


def _choice(name: str, label: str, **options: Any) -> str:
    words = WORDS[name]
    return str(
        st.selectbox(
            label, list(words), format_func=words.__getitem__, key=f"option.{name}", **options
        )
    )


def _join() -> dict[str, Any]:
    chosen: dict[str, Any] = {"join": _choice("join", "What belongs together")}
    if chosen["join"] == "window":
        chosen["window_days"] = float(_number("window_days", "Days", 0, 3650, 30))
    chosen["rows"] = _choice("rows", "One row is")
    return chosen


def _codes() -> dict[str, Any]:
    """What codes are put together, and what they are called."""
    st.caption("Codes that a grouping or a table does not know are counted below.")
    asked = (
        ("code_groups", "Diagnosis codes", "code, group"),
        ("medication_groups", "Medications", "medication, group"),
        ("code_names", "Names of codes", "code, name"),
    )
    chosen = {}
    for place, (name, label, columns) in zip(st.columns(3), asked, strict=True):
        with place:
            setting = _choice(name, label)
            chosen[name] = _own_table(name, columns) if setting == OWN else setting
    return chosen


def _own_table(name: str, columns: str) -> str:
    """The path of a table of codes, once it is uploaded."""
    file = ask_for_file(f"Table: {columns}", type=["csv"], key=f"option.{name}.file")
    if file is None:
        st.warning("Without this table the codes stay as they are.")
        return ""
    return str(uploads.save([(file.name, file.content)], cache.store().root / uploads.UPLOADS))


def _outcome(inspection: Inspection) -> dict[str, Any]:
    source = _choice("outcome", "Outcome")
    chosen: dict[str, Any] = {"outcome": source}
    if source in ("", "column"):
        show_candidates(inspection.candidate_counts)
        chosen["outcome_column"] = (
            st.selectbox(
                "Column of the outcome",
                inspection.outcome_candidates,
                index=None,
                format_func=clipped,
                accept_new_options=True,
                placeholder="none; choose or type one",
                key="option.outcome_column",
            )
            or ""
        )
    if source in ("", "codes"):
        codes = _text(
            "outcome_codes",
            "Codes that mean the outcome",
            placeholder="428*, I50*",
            help="A star takes all that begin so.",
            max_chars=2000,
        )
        chosen["outcome_codes"] = _listed(codes)
    if source != "none":
        chosen["outcome_name"] = _text("outcome_name", "Name of the outcome", max_chars=60)
        chosen["before_outcome"] = _yes("before_outcome", "Use only what came before the outcome")
    return chosen


def _words() -> dict[str, Any]:
    return {
        "vocabulary_size": _number("vocabulary_size", "Number of words (0: all)", 0, 20_000, 100),
        "vocabulary_by": _choice("vocabulary_by", "Which words"),
        "stop_words": _choice("stop_words", "Frequent small words"),
    }


def _more(kind: str) -> dict[str, Any]:
    if kind in ("npz", "bundle", "code-map"):
        st.caption("There is nothing more to choose for this kind of file.")
        return {}
    tables = kind not in (*DOCUMENTS, "tns")
    left, right = st.columns(2)
    chosen: dict[str, Any] = {}
    with left:
        chosen |= _features() if tables else {}
    with right:
        encoding = _text("encoding", "Encoding", placeholder="found out", max_chars=20)
        chosen["encoding"] = encoding.strip()
        chosen |= _reading() if tables else {}
    return chosen


def _features() -> dict[str, Any]:
    """Which features of tables enter, and how."""
    return {
        "min_support": _number("min_support", "Leave out features in fewer rows than", 1, 10_000),
        "top": _number("top", "Features of each kind, at most (0: all)", 0, 20_000),
        "drop_codes": _listed(
            _text(
                "drop_codes",
                "Leave out these features",
                placeholder="names or codes, commas between them",
                max_chars=2000,
            )
        ),
        "duplicates": _choice("duplicates", "When the same entry comes twice"),
        "merge_similar_names": _yes(
            "merge_similar_names", "Take names that only look different (case, spaces) for one"
        ),
    }


def _reading() -> dict[str, Any]:
    """How the cells of tables are read."""
    return {
        "delimiter": _text(
            "delimiter", "Character between columns", max_chars=1, placeholder="found out"
        ),
        "date_order": _choice("date_order", "Dates like 03/04/2020"),
        "keep_outcome_codes": _yes(
            "keep_outcome_codes",
            "Keep the outcome's own codes among the features",
            help="They give the answer away.",
        ),
        "lookback_days": float(
            _number("lookback_days", "Days before the outcome, at most (0: all)", 0, 36_500)
        ),
    }


def _number(name: str, label: str, least: int, most: int, start: int | None = None) -> int:
    value = least if start is None else start
    return int(st.number_input(label, least, most, value, key=f"option.{name}"))


def _text(name: str, label: str, **options: Any) -> str:
    return str(st.text_input(label, key=f"option.{name}", **options))


def _yes(name: str, label: str, **options: Any) -> bool:
    return bool(st.checkbox(label, key=f"option.{name}", **options))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
