"""Charts of the Runs page: the objective of one fit, and of two side by side."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts import style


def objective_lines(histories: Mapping[str, pd.DataFrame], axis: str) -> go.Figure:
    """The objectives of one or several fits after every iteration; they never rise."""
    figure = go.Figure()
    for number, (name, history) in enumerate(histories.items()):
        figure.add_scatter(
            x=history["iteration"],
            y=history["objective"],
            name=style.safe(name),
            mode="lines+markers" if len(history) < 3 else "lines",
            line={
                "width": 3,
                "color": style.SERIES[number % len(style.SERIES)],
                "dash": style.DASHES[number % len(style.DASHES)],
            },
            hovertemplate="iteration %{x}: %{y:,.4g}<extra></extra>",
        )
    style.dress(figure, height=320, legend=len(histories) > 1, x="Iteration", y=axis)
    figure.update_xaxes(rangemode="tozero")
    return figure
