"""One row: how much of which phenotype, and which of its entries stand behind each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.session.fit_summary import link_words
from dashboard.session.state import Key
from dashboard.widgets.figure import show_figure
from dashboard.widgets.tables import download_csv, hundreds, percents, show_table

MIN_SHARE = 0.02  # weaker phenotypes of a row are not drawn
MAX_ENTRIES = 100


def show_row_phenotypes(summary: FitSummary, shares: np.ndarray, place: str) -> None:
    """The phenotypes of a row as bars, with the link to the outcome in the table."""
    from dashboard.charts.patients import row_bars  # plotly: only when a row is shown

    size = np.abs(shares)
    order = [int(part) for part in np.argsort(-size, kind="stable") if size[part] >= MIN_SHARE]
    names = [summary.fit.identifiers[part] for part in order]
    if not names:
        st.info("Nothing in this row is known to these phenotypes.")
        return
    titles = [summary.title(name) for name in names]
    table = pd.DataFrame({"phenotype": titles, "part of this row": shares[order]})
    if summary.links:
        table[state.label("link")] = [link_words(summary, name) for name in names]
    show_figure(
        row_bars(titles, shares[order].tolist(), "Part of this row"),
        f"Bars: the phenotypes of this row, strongest first: {', '.join(names[:5])}",
        table,
        f"row_level_{place}",
    )


def show_entries(summary: FitSummary, table: pd.DataFrame, name: str) -> None:
    """The entries behind the phenotypes of a row, perhaps of one phenotype only."""
    st.markdown("**Why: the entries of this row**")
    present = [each for each in summary.phenotypes if each in set(table["phenotype"])]
    options = ["", *present]
    kept = state.get(Key.BECAUSE, "")
    only = st.selectbox(
        "Entries explained most by",
        options,
        width=420,
        format_func=lambda each: each or "any phenotype",
        **state.bind_widget(Key.BECAUSE, kept if kept in options else "", place=name),
    )
    shown = table[table["phenotype"] == only] if only else table
    part = ("part of it",)
    show_table(
        hundreds(shown[:MAX_ENTRIES], part), alt="Entries of this row", column_config=percents(part)
    )
    if len(shown) > MAX_ENTRIES:
        st.caption(f"The first {MAX_ENTRIES} of {len(shown):,} entries are shown.")
    download_csv(shown, name, "Download row-level data (CSV)")
