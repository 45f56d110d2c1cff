"""A map of all phenotypes: near ones have features in common, large ones make up more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.fit_view.phenotype_map import flat_map
from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.widgets.figure import show_figure
from swiftcore.phenotypes.matching import similarity


def show_map(summary: FitSummary) -> None:
    """Circles to look at and to choose from; the list beside the card chooses the same."""
    from dashboard.charts.phenotypes import phenotype_map  # plotly: only once the card is drawn

    names = list(summary.phenotypes)
    components = [each.component for each in summary.phenotypes.values()]
    near = np.abs(similarity(summary.fit.factors[1:], summary.fit.factors[1:]))
    places = flat_map(1 - near[np.ix_(components, components)])
    table = pd.DataFrame(
        {
            "id": names,
            "name": [summary.names[name] for name in names],
            "share": [each.share for each in summary.phenotypes.values()],
            "x": places[:, 0],
            "y": places[:, 1],
        }
    )

    def picked(places: list[int]) -> None:
        state.choose(phenotype=names[places[0]])

    show_figure(
        phenotype_map(table, state.current_phenotype()),
        state.phrase(
            f"Map of {len(names)} phenotypes: similar ones are near each other, circles by share"
        ),
        table,
        f"map_{summary.run[:8]}",
        picked=picked,
    )
    st.caption(
        "Circles near each other have features in common; the larger a circle, the more of the "
        "data it makes up. Click one to open its card. Distances on a flat map are approximate."
    )
