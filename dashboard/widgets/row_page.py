"""Everything about one row of a result: who it is, its phenotypes, why, its entries, its text."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard.fit_view.row_card import (
    NONE,
    RowEntries,
    covariate_lines,
    dated,
    grouped_entries,
    marked_text,
    timeline,
)
from dashboard.fit_view.row_tables import outcome_word
from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache
from dashboard.text.wording import row_name
from dashboard.widgets.one_row import (
    CARD_WIDTH,
    show_entries,
    show_facts,
    show_marked_text,
    show_row_phenotypes,
    show_timeline,
)
from dashboard.widgets.row_risk import show_risk


def show_row(summary: FitSummary, shared: np.ndarray, row: int, outcome: np.ndarray | None) -> None:
    """Draw the card of a row, why it has its risk, and what stands in it.

    Parameters
    ----------
    shared : ndarray, (rows x rank)
        From ``row_shares``.
    outcome : ndarray or None
        Of all rows, if it may be shown.
    """
    data, fit = cache.dataset(summary.card.id), summary.fit
    dates = None if data.side.events is None else dated(data.side.events, row)
    grouped = grouped_entries(RowEntries.of_fit(fit, data.tensor, row), dates)
    facts = covariate_lines(data.side.covariates, row)
    if outcome is not None:
        name = summary.card.outcome_name or "outcome"
        facts.append((name, outcome_word(outcome[row])))
    risk = cache.risk(summary.run, summary.card.id) if summary.links else None
    with st.container(horizontal=True):
        with st.container(border=True, width=CARD_WIDTH if risk else "stretch"):
            show_facts(row_name(summary.row_noun, fit.modes[0].labels[row]), facts)
            show_row_phenotypes(summary, shared[row], "row")
        if risk:
            with st.container(border=True, width=CARD_WIDTH):
                show_risk(summary, risk, fit.factors[0][row])
    if data.side.texts:
        text = data.side.texts[row].replace("\r\n", "\n").replace("\t", " ").strip()
        topics = {
            word: name
            for table in grouped.values()
            for word, name in zip(table["feature"], table["phenotype"], strict=True)
            if name != NONE
        }
        show_marked_text(summary, marked_text(text, topics), shared[row])
    show_entries(summary, grouped, f"row_level_entries_{summary.run[:8]}")
    if dates is not None:
        show_timeline(summary, timeline(fit.modes, dates, grouped), "timeline")
