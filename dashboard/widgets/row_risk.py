"""Why a row is thought to have the outcome or not: the part of every phenotype, and what if."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.fit_view.row_risk import RiskModel
from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.session.state import Key
from dashboard.text.display import clipped
from dashboard.text.wording import capital, plural, vocabulary
from dashboard.widgets.figure import show_figure
from dashboard.widgets.text import plain

MAX_PARTS = 10  # bars; the table has all


def show_risk(summary: FitSummary, model: RiskModel, membership: np.ndarray) -> None:
    """The chance that the links of this result give a row, and how it comes about."""
    noun, kind = plain(summary.row_noun, 40), vocabulary(summary.card.mode_names).finding
    column = _spoken_for(model, membership)
    chance, target = float(model.chances(membership)[column]), plain(model.classes[column], 60)
    st.markdown(f"**Why: predicted chance of {target}: {chance:.0%}**")
    parts = model.parts(membership)[:, column]
    table = _table(summary, model, membership, column, parts)
    without = _what_if(summary, table["id"].tolist())
    if without:
        left = float(table.loc[table["id"] == without, "chance without it"].iloc[0])
        st.markdown(
            f"Without {plain(summary.title(without), 80)} it would be **{left:.0%}** "
            f"instead of {chance:.0%}."
        )
    total = float(model.scores(membership)[column])
    _show_parts(table, model, float(model.intercepts[column]), total)
    st.caption(
        f"A linear model of the {plural(kind)}, learnt from these same {plural(noun)}: read it as "
        f"an explanation of this result, not as what happens if a {noun} changes. "
        "The page Prediction says how well such a model does on others."
    )


def _spoken_for(model: RiskModel, membership: np.ndarray) -> int:
    """The class that is explained: the likeliest, unless another is chosen."""
    if not model.several:
        return 0
    likeliest = model.classes[int(model.chances(membership).argmax())]
    kept = state.get(Key.SPOKEN_FOR, "")
    chosen = st.selectbox(
        "Explain the chance of",
        ["", *model.classes],
        width=420,
        format_func=lambda each: clipped(each) or f"the likeliest: {clipped(likeliest)}",
        **state.bind_widget(Key.SPOKEN_FOR, kept if kept in model.classes else ""),
    )
    return model.classes.index(chosen or likeliest)


def _table(
    summary: FitSummary, model: RiskModel, membership: np.ndarray, column: int, parts: np.ndarray
) -> pd.DataFrame:
    """Every living phenotype: id, name, what it adds, the chance without it; large ones first."""
    living = [each.component for each in summary.phenotypes.values()]
    order = sorted(living, key=lambda part: (-abs(parts[part]), part))
    names = [summary.fit.identifiers[part] for part in order]
    return pd.DataFrame(
        {
            "id": names,
            "name": [summary.names.get(name, "") for name in names],
            "adds": parts[order],
            "chance without it": [float(model.without(membership, part)[column]) for part in order],
        }
    )


def _what_if(summary: FitSummary, names: list[str]) -> str:
    kept = state.get(Key.WITHOUT, "")
    return st.selectbox(
        "What if it had nothing of",
        ["", *names],
        width=420,
        format_func=lambda each: clipped(summary.title(each), 60) if each else "(as it is)",
        **state.bind_widget(Key.WITHOUT, kept if kept in names else ""),
    )


def _show_parts(table: pd.DataFrame, model: RiskModel, start: float, total: float) -> None:
    """Bars to both sides; data scientists see the numbers, which are none to a clinician."""
    from dashboard.charts.patients import risk_parts  # plotly: only when a row is shown

    drawn = table[table["adds"].abs() >= 0.005][:MAX_PARTS]
    titles = [f"{one.id}: {one.name}" for one in drawn.itertuples()]
    score, numbers = "score" if model.several else "log-odds", state.wording() == "scientist"
    if numbers:
        st.markdown(f"{capital(score)}: {start:+.2f} on average, {total:+.2f} here.")
    if not titles:
        st.info("Nothing here moves the chance away from the average.")
        return
    axis = f"Adds to the {score}" if numbers else "\u25c0 lowers it \u00b7 raises it \u25b6"
    show_figure(
        risk_parts(titles, drawn["adds"].tolist(), axis, numbers=numbers),
        f"Bars: what moves the predicted chance most: {', '.join(drawn['id'][:5])}",
        table if numbers else table.drop(columns="adds"),
        "row_level_risk",
    )
