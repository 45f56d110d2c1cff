"""A chart with its words, its numbers and its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.charts.style import darken, say_source
from dashboard.session import state
from dashboard.session.shown_from import file_name, made_for, method, source
from dashboard.widgets.tables import download_csv, show_table

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

NO_SELECTION = ("select2d", "lasso2d")  # buttons of a chart of which nothing can be selected


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

    def clicked() -> None:
        points = state.widget_value(f"figure.{name}")["selection"]["point_indices"]
        if points and picked:
            picked(points)

    choosing: dict[str, Any] = {"on_select": clicked, "selection_mode": "points"} if picked else {}
    draw_figure(figure, alt, name, **choosing)
    numbers = st.expander("Numbers and download", key=f"numbers.{name}", on_change="rerun")
    if numbers.open:
        with numbers:
            show_table(table, alt=f"Numbers: {alt}")
            download_csv(table, name)


def draw_figure(
    figure: Figure, alt: str, name: str, unused: Sequence[str] = NO_SELECTION, **options: Any
) -> Any:
    """The chart alone, in the theme of the screen, with where its numbers came from.

    Parameters
    ----------
    unused : sequence of str
        Buttons of the chart that would do nothing here.
    options
        Go to ``st.plotly_chart``.
    """
    if said := "; ".join(filter(None, (method(), made_for().partition(":")[0], source()))):
        say_source(figure, said)
    if st.context.theme.type == "dark":
        darken(figure)
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": [*unused, "autoScale2d"],
        "toImageButtonOptions": {"format": "svg", "filename": file_name(name)},
    }
    return st.plotly_chart(
        figure, config=config, alt=alt, theme=None, key=f"figure.{name}", **options
    )
