"""Which column is what: the first rows, the role of every column with its reason, pick lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.privacy.small_counts import hidden_share
from dashboard.session import state
from dashboard.text.display import clipped
from dashboard.widgets.tables import show_table
from dashboard.widgets.text import plain
from swiftcore.data.from_path.sandbox import Inspection
from swiftcore.data.reading.findings import ColumnRole, Preview

ONE = {  # roles of one column, by the name of the role in the inspection
    "row": ("Rows: whose an entry is", "id"),
    "value": ("How often, or how much", "count"),
    "date": ("Date", "date"),
    "visit": ("Visit", "visit"),
    "domain": ("Kind of entry (diagnosis, medication)", "domain"),
}
SEVERAL = {
    "features": "Features",
    "covariates": "Describes the rows, never a feature",
    "ignored": "Leave out",
}
LAYOUTS = {
    "": "as found",
    "long": "one event per line",
    "wide": "numbered columns (diag_1, diag_2 ...)",
    "onehot": "one column of yes and no per feature",
    "lists": "lists in cells (E11.9|I10)",
}
MAX_VALUES = 4


def show_first_rows(inspection: Inspection) -> None:
    """The first rows of every table, and what each column is taken for and why."""
    show_previews(inspection.previews, inspection.roles)


def show_previews(previews: Sequence[Preview], roles: Sequence[ColumnRole] = ()) -> None:
    """A tab for every table."""
    if not previews:
        return
    tabs = st.tabs([clipped(one.table) for one in previews])
    for tab, preview in zip(tabs, previews, strict=True):
        with tab:
            table = pd.DataFrame(list(preview.rows), columns=list(preview.columns))
            show_table(table, f"First rows of {clipped(preview.table)}")
            own = [one for one in roles if one.table == preview.table]
            if own:
                cells = [(one.column, one.role, one.reason, one.examples) for one in own]
                show_table(
                    pd.DataFrame(cells, columns=["Column", "Taken for", "Why", "For example"]),
                    f"What each column of {clipped(preview.table)} is taken for, and why",
                )


def choose_columns(guess: Inspection) -> dict[str, Any]:
    """Pick lists for all roles and the layout; what is not chosen is taken as guessed.

    Parameters
    ----------
    guess : Inspection
        With nothing chosen.
    """
    names = list(dict.fromkeys(one.column for one in guess.roles))
    names = names or [name for one in guess.previews for name in one.columns]
    taken: dict[str, list[str]] = {}
    for one in guess.roles:
        taken.setdefault(one.role, []).append(one.column)
    st.markdown("**Which column is what**")
    found = " and ".join(LAYOUTS.get(one, one) for one in guess.layout.split("+") if one)
    layout = st.selectbox(
        "Layout",
        list(LAYOUTS),
        format_func=lambda one: LAYOUTS[one] if one or not found else f"as found: {found}",
        key="option.layout",
    )
    columns: dict[str, str] = {}
    left, right = st.columns(2)
    for number, (role, (label, known)) in enumerate(ONE.items()):
        with left if number % 2 == 0 else right:
            columns[role] = _pick(role, label, names, taken.get(known, []))
    features = [*taken.get("code", []), *taken.get("drug", [])]
    for role, label in SEVERAL.items():
        guessed = features if role == "features" else []
        chosen = st.multiselect(
            label,
            names,
            format_func=clipped,
            placeholder=_guessed(guessed),
            key=f"option.columns.{role}",
        )
        columns[role] = ", ".join(chosen)
    return {"layout": layout, "columns": {role: one for role, one in columns.items() if one}}


def _pick(role: str, label: str, names: list[str], guessed: list[str]) -> str:
    chosen = st.selectbox(
        label,
        names,
        index=None,
        format_func=clipped,
        placeholder=_guessed(guessed),
        key=f"option.columns.{role}",
    )
    return chosen or ""


def _guessed(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    if not distinct:
        return "none"
    more = f" and {len(distinct) - 3} more" if len(distinct) > 3 else ""
    return f"guessed: {', '.join(clipped(one, 30) for one in distinct[:3])}{more}"


def show_candidates(rates: Mapping[str, Mapping[str, int]]) -> None:
    """Columns that could be the outcome, with how frequent each value is."""
    limit = state.small_cells()
    lines = []
    for name, counts in rates.items():
        total = sum(counts.values())
        shares = [
            f"{clipped(value, 20)} {hidden_share(count, total, limit)}"
            for value, count in list(counts.items())[:MAX_VALUES]
        ]
        more = ", ..." if len(counts) > MAX_VALUES else ""
        lines.append(f"{clipped(name, 40)}: {', '.join(shares)}{more}")
    if lines:
        st.caption(plain("Could be the outcome. " + "; ".join(lines[:8]) + ".", 800))


def choose_modes(guess: Inspection) -> dict[str, Any]:
    """Names of the modes of a tensor file, and which of them are the rows."""
    summary = guess.summary
    if summary is None:
        return {}
    names = list(summary.mode_names)
    st.markdown("**What the modes are**")
    typed = [
        st.text_input(
            f"Mode {axis + 1} ({size:,} entries)",
            name[:60],
            max_chars=60,
            key=f"option.mode_names.{axis}",
        ).strip()
        for axis, (name, size) in enumerate(zip(names, summary.shape, strict=True))
    ]
    chosen: dict[str, Any] = {}
    if typed != names and all(typed):
        chosen["mode_names"] = tuple(typed)
    row = st.selectbox(
        "The rows are",
        range(1, len(names) + 1),
        format_func=lambda axis: f"mode {axis}: {clipped(typed[axis - 1] or names[axis - 1], 40)}",
        key="option.row_mode",
    )
    return chosen | {"row_mode": row}
