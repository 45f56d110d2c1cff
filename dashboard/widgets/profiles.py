"""The features of one phenotype, a chart per mode, with what is hidden and why."""

from __future__ import annotations

import streamlit as st
from numpy.typing import ArrayLike

from dashboard.charts.style import has_signs, mode_colour
from dashboard.fit_view.summary import FitSummary
from dashboard.privacy.small_counts import hidden
from dashboard.session import cache, state
from dashboard.text.display import clipped
from dashboard.text.wording import capital, plural
from dashboard.widgets.figure import show_figure
from dashboard.widgets.text import plain
from swiftcore.phenotypes.describe import Phenotype


def show_profiles(
    summary: FitSummary, identifier: str, frequency_weight: float, place: str
) -> None:
    """One chart per feature mode, two side by side where there is room.

    Parameters
    ----------
    frequency_weight : float
        1 puts frequent features first, 0 special ones.
    place : str
        The page, for the names of the charts.
    """
    ranked = {each.identifier: each for each in cache.phenotypes(summary.run, frequency_weight)}
    phenotype = ranked[identifier]
    columns = st.columns(min(2, len(phenotype.items)))
    for axis, mode in enumerate(phenotype.items, start=1):
        with columns[(axis - 1) % len(columns)]:
            _show_mode(summary, phenotype, axis, mode, place)


def weight_label(weights: ArrayLike) -> str:
    """What the weights of features are called, with or without signs."""
    return state.label("signed_weight" if has_signs(weights) else "weight")


def _show_mode(summary: FitSummary, phenotype: Phenotype, axis: int, mode: str, place: str) -> None:
    from dashboard.charts.phenotypes import (  # plotly: only once the table is drawn
        feature_bars,
        with_signs,
    )

    st.markdown(f"**{plain(capital(plural(mode)), 40)}**")
    profile = summary.profile(phenotype, axis)
    carriers = len(phenotype.rows)  # shown beside it
    table = profile.table.assign(
        rows=[hidden(n, summary.limit, carriers) for n in profile.table["rows"]]
    )
    if table.empty:
        st.caption("No feature stands out.")
    else:
        tops = ", ".join(with_signs(table["feature"][:3], table["weight"][:3]))
        show_figure(
            feature_bars(table, mode_colour(axis), weight_label(table["weight"])),
            f"Bars: the strongest {plural(mode)} of {phenotype.identifier} are {tops}",
            table.rename(
                columns={
                    "feature": mode,
                    "weight": state.label("weight"),
                    "lift": state.label("lift"),
                    "rows": f"{plural(summary.row_noun)} behind it",
                    "spread": state.label("spread"),
                }
            ),
            f"{place}_{phenotype.identifier}_mode_{axis}",
        )
    notes = profile.notes(summary.limit, plural(clipped(summary.row_noun, 40)))
    if notes:
        st.caption(f"{plain('; '.join(notes), 300)}.")
