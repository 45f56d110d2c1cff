"""Charts of the Data page: how full the rows are, how frequent the features, how similar."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts import style

BARS = 40
NAMED = 45  # heatmaps with more features than this show their names on hover only


def entries_table(per_row: NDArray[np.int64]) -> pd.DataFrame:
    """How many rows have how many entries, in at most 40 steps of equal width."""
    width = max(1, -(-(int(per_row.max(initial=0)) + 1) // BARS))
    counts = np.bincount(per_row // width)
    start = np.arange(len(counts)) * width
    return pd.DataFrame({"from": start, "to": start + width - 1, "rows": counts})


def entries_bars(table: pd.DataFrame, row_name: str) -> go.Figure:
    """How many rows have how many entries."""
    spans = [
        f"{a} to {b}" if b > a else f"{a}" for a, b in zip(table["from"], table["to"], strict=True)
    ]
    figure = go.Figure(
        go.Bar(
            x=(table["from"] + table["to"]) / 2,
            y=table["rows"],
            marker_color=style.GREY,
            hovertext=spans,
            hovertemplate="%{hovertext} entries: %{y} rows<extra></extra>",
        )
    )
    return style.dress(
        figure, height=320, x=f"Entries of one {style.safe(row_name, 30)}", y="Number of rows"
    ).update_layout(bargap=0.05)


def frequency_table(counts: NDArray[np.int64], labels: Sequence[str], n_rows: int) -> pd.DataFrame:
    """In how many of all rows each feature stands, most frequent first."""
    table = pd.DataFrame({"feature": list(labels), "rows": counts, "share": counts / n_rows})
    return table.sort_values("rows", ascending=False, ignore_index=True, kind="stable")


def frequency_bars(table: pd.DataFrame, colour: str) -> go.Figure:
    """In how many rows each of the given features stands, in the given order."""
    figure = go.Figure(
        go.Bar(
            x=table["rows"],
            y=np.arange(len(table)),
            orientation="h",
            marker_color=colour,
            hovertext=[style.hover(name) for name in table["feature"]],
            customdata=table["share"],
            hovertemplate="%{hovertext}<br>%{x} rows, %{customdata:.1%}<extra></extra>",
        )
    )
    style.dress(figure, height=style.bars_height(len(table)), x="Rows that have it")
    return style.name_bars(figure, table["feature"].tolist())


def cost_heatmap(cost: NDArray[np.float64], labels: Sequence[str]) -> go.Figure:
    """Distances between features, in the order given: dark is far apart, light is close."""
    names = [style.hover(name, 60, 2) for name in labels]
    places = np.arange(len(names))
    figure = go.Figure(
        go.Heatmap(
            z=cost,
            x=places,
            y=places,
            zmin=0,
            zmax=1,
            colorscale=f"{style.HEAT}_r",
            colorbar={"title": "distance"},
            customdata=np.array([[f"{one}<br>{other}" for other in names] for one in names]),
            hovertemplate="%{customdata}<br>distance %{z:.2f}<extra></extra>",
        )
    )
    shown = len(names) <= NAMED
    room = 150 if shown else 0  # for the names below
    style.dress(figure, height=room + style.grid_height(len(names), 16, 320, 720))
    ticks = {
        "tickvals": places,
        "ticktext": [style.safe(name, 24) for name in labels],
        "showticklabels": shown,
        "showgrid": False,
    }
    figure.update_xaxes(**ticks, tickangle=90)
    figure.update_yaxes(**ticks, autorange="reversed")
    return figure


def nearest(
    cost: NDArray[np.float64], labels: Sequence[str], feature: str, top: int = 10
) -> pd.DataFrame:
    """The features closest to one feature, nearest first."""
    here = list(labels).index(feature)
    distance = cost[here]
    order = [int(index) for index in np.argsort(distance, kind="stable") if index != here][:top]
    return pd.DataFrame(
        {
            "feature": [labels[index] for index in order],
            "distance": distance[order],
            "similarity": 1 - distance[order],
        }
    )
