"""A chart with its words, its numbers and its file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.charts.style import darken, say_source
from dashboard.session import state
from dashboard.session.shown_from import file_name, made_for, method, source
from dashboard.widgets.tables import download_csv, show_table

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def show_figure(
    figure: Figure,
    alt: str,
    table: pd.DataFrame,
    name: str,
    picked: Callable[[list[int]], None] | None = None,
) -> None:
    """Draw a figure, with the same numbers as a table and as a file below it.

    Parameters
    ----------
    figure : Figure
    alt : str
        What a person who cannot see the chart should know.
    table : DataFrame
        The numbers behind it; user text may stand in it as it is.
    name : str
        Of the file; also the key of the widgets, so one per chart on a page.
    picked : callable, optional
        Called with the numbers of the points that were clicked.
    """
    config = CONFIG | {"toImageButtonOptions": {"format": "svg", "filename": file_name(name)}}
    if said := "; ".join(filter(None, (method(), made_for().partition(":")[0], source()))):
        say_source(figure, said)
    if st.context.theme.type == "dark":
        darken(figure)
    key = f"figure.{name}"

    def clicked() -> None:
        points = state.widget_value(key)["selection"]["point_indices"]
        if points and picked:
            picked(points)

    choosing: dict[str, Any] = {"on_select": clicked, "selection_mode": "points"} if picked else {}
    st.plotly_chart(figure, config=config, alt=alt, theme=None, key=key, **choosing)
    numbers = st.expander("Numbers and download", key=f"numbers.{name}", on_change="rerun")
    if numbers.open:
        with numbers:
            show_table(table, alt=f"Numbers: {alt}")
            download_csv(table, name)
