"""Every choice between a file and a tensor, in plain words; only those that fit the file."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.privacy import uploads
from dashboard.session import cache
from dashboard.text.display import clipped
from swiftcore.data.from_path.sandbox import Inspection
from swiftcore.data.options import BuildOptions

DOCUMENTS = ("documents", "document-table")
TENSORS = ("tns", "npz", "bundle", "code-map")
ROLES = {
    "row": "Rows (patient, case, document)",
    "features": "Features, with commas between them",
    "value": "How often, or how much",
    "outcome": "Outcome",
    "date": "Date",
    "visit": "Visit",
}
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
        "own": "by a table of mine",
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
    left, right = st.columns(2)
    with left:
        chosen |= _columns(inspection) if kind == "table" else {}
        chosen |= _join() if kind not in (*DOCUMENTS, *TENSORS, "table") else {}
        chosen |= _words() if kind in DOCUMENTS else {}
        if kind == "tns":
            chosen["index_base"] = _choice("index_base", "The first index is called")
    with right:
        chosen |= _outcome(inspection) if kind not in (*DOCUMENTS, *TENSORS, "table") else {}
        if kind not in TENSORS:
            chosen["values"] = _choice("values", "A cell says")
    with st.expander("More choices"):
        chosen |= _more(kind)
    return BuildOptions(**chosen)


def _choice(name: str, label: str, **options: Any) -> str:
    words = WORDS[name]
    return str(
        st.selectbox(
            label, list(words), format_func=words.__getitem__, key=f"option.{name}", **options
        )
    )


def _columns(inspection: Inspection) -> dict[str, Any]:
    st.markdown("**Which column is what**")
    columns = {}
    for role, label in ROLES.items():
        guess = inspection.mapping.get(role, "")
        typed = st.text_input(
            label,
            placeholder=f"guessed: {clipped(guess)}" if guess else "none",
            key=f"option.columns.{role}",
            max_chars=300,
        )
        if typed and typed.strip():
            columns[role] = typed.strip()
    return {"columns": columns}


def _join() -> dict[str, Any]:
    chosen: dict[str, Any] = {"join": _choice("join", "What belongs together")}
    if chosen["join"] == "window":
        chosen["window_days"] = float(
            st.number_input("Days", 0, 3650, 30, key="option.window_days")
        )
    chosen["rows"] = _choice("rows", "One row is")
    groups = _choice("code_groups", "Diagnosis codes")
    chosen["code_groups"] = _own_groups() if groups == "own" else groups
    return chosen


def _own_groups() -> str:
    """The path of a table that groups codes, once it is uploaded."""
    file = st.file_uploader("Table: code, group", type=["csv"], key="option.code_groups.file")
    if file is None:
        st.warning("Without this table the codes stay as they are.")
        return ""
    return str(uploads.save([(file.name, file.getbuffer())], cache.store().root / "uploads"))


def _outcome(inspection: Inspection) -> dict[str, Any]:
    source = _choice("outcome", "Outcome")
    chosen: dict[str, Any] = {"outcome": source}
    if source in ("", "column"):
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
        codes = st.text_input(
            "Codes that mean the outcome",
            placeholder="428*, I50*",
            help="A star takes all that begin so.",
            max_chars=2000,
            key="option.outcome_codes",
        )
        chosen["outcome_codes"] = _listed(codes)
    if source != "none":
        chosen["outcome_name"] = st.text_input(
            "Name of the outcome", max_chars=60, key="option.outcome_name"
        )
        chosen["before_outcome"] = st.checkbox(
            "Use only what came before the outcome", key="option.before_outcome"
        )
    return chosen


def _words() -> dict[str, Any]:
    return {
        "vocabulary_size": int(
            st.number_input("Number of words", 2, 2000, 100, key="option.vocabulary_size")
        ),
        "vocabulary_by": _choice("vocabulary_by", "Which words"),
        "stop_words": _choice("stop_words", "Frequent small words"),
    }


def _more(kind: str) -> dict[str, Any]:
    if kind in ("npz", "bundle", "code-map"):
        st.caption("There is nothing more to choose for this kind of file.")
        return {}
    left, right = st.columns(2)
    chosen: dict[str, Any] = {}
    with left:
        if kind not in (*DOCUMENTS, "tns"):
            chosen["min_support"] = int(
                st.number_input(
                    "Leave out features in fewer rows than", 1, 10_000, 1, key="option.min_support"
                )
            )
            chosen["top"] = int(
                st.number_input(
                    "Features of each kind, at most (0: all)", 0, 20_000, 0, key="option.top"
                )
            )
            chosen["drop_codes"] = _listed(
                st.text_input(
                    "Leave out these features",
                    placeholder="names or codes, commas between them",
                    max_chars=2000,
                    key="option.drop_codes",
                )
            )
            chosen["duplicates"] = _choice("duplicates", "When the same entry comes twice")
            chosen["merge_similar_names"] = st.checkbox(
                "Take names that only look different (case, spaces) for one",
                key="option.merge_similar_names",
            )
    with right:
        chosen["encoding"] = st.text_input(
            "Encoding", placeholder="found out", max_chars=20, key="option.encoding"
        ).strip()
        if kind not in (*DOCUMENTS, "tns"):
            chosen["delimiter"] = st.text_input(
                "Character between columns",
                max_chars=1,
                placeholder="found out",
                key="option.delimiter",
            )
            chosen["date_order"] = _choice("date_order", "Dates like 03/04/2020")
            chosen["keep_outcome_codes"] = st.checkbox(
                "Keep the outcome's own codes among the features",
                help="They give the answer away.",
                key="option.keep_outcome_codes",
            )
            chosen["lookback_days"] = float(
                st.number_input(
                    "Days before the outcome, at most (0: all)",
                    0,
                    36_500,
                    0,
                    key="option.lookback_days",
                )
            )
    return chosen


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
