"""Charts of phenotypes: their features, all at a glance, overlap, two side by side, two runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts import style

BELOW = {"thickness": 10, "orientation": "h", "y": 0, "yanchor": "top", "len": 0.6}


def feature_bars(table: pd.DataFrame, colour: str, weight_title: str) -> go.Figure:
    """The features of one mode as horizontal bars, the most relevant on top.

    Parameters
    ----------
    table : DataFrame
        feature, weight, lift, rows (rows as text: small counts may be hidden).
    """
    details = [
        f"{style.hover(row.feature)}<br>{row.weight:.1%} of this phenotype"
        f"<br>{row.lift:.1f} times its usual share<br>{style.safe(row.rows)} rows behind it"
        for row in table.itertuples()
    ]
    figure = go.Figure(
        go.Bar(
            x=table["weight"],
            y=list(range(len(table))),
            orientation="h",
            marker={"color": colour},
            hovertext=details,
            hoverinfo="text",
            text=[f"{weight:.0%}" for weight in table["weight"]],
            textposition="outside",
            cliponaxis=False,
        )
    )
    style.dress(figure, height=style.bars_height(len(table)), x=weight_title)
    top = float(table["weight"].max()) if len(table) else 1.0
    figure.update_xaxes(tickformat=".0%", nticks=5, range=[0, top * 1.15])
    return style.name_bars(figure, table["feature"].tolist())


def glance(
    weights: NDArray[np.float64], features: Sequence[str], phenotypes: Sequence[str], title: str
) -> go.Figure:
    """All phenotypes of one mode in one heatmap: a column each, a row per feature."""
    details = [
        [
            f"{style.hover(feature)}<br>{style.safe(name)}: {weight:.1%}"
            for name, weight in zip(phenotypes, row, strict=True)
        ]
        for feature, row in zip(features, weights, strict=True)
    ]
    figure = _heat(weights, phenotypes, features, details, title)
    return style.dress(figure, height=style.grid_height(len(features), each=24, most=1400))


def overlap(similarities: NDArray[np.float64], phenotypes: Sequence[str]) -> go.Figure:
    """How similar any two phenotypes are."""
    details = [
        [
            f"{style.safe(one)} and {style.safe(other)}: {value:.2f}"
            for other, value in zip(phenotypes, row, strict=True)
        ]
        for one, row in zip(phenotypes, similarities, strict=True)
    ]
    figure = _heat(
        similarities, phenotypes, phenotypes, details, "Similarity", highest=1.0, tickformat=".1f"
    )
    return style.dress(figure, height=style.grid_height(len(phenotypes), each=30))


def _heat(
    values: NDArray[np.float64],
    across: Sequence[str],
    down: Sequence[str],
    details: list[list[str]],
    title: str,
    highest: float | None = None,
    tickformat: str = ".0%",
) -> go.Figure:
    figure = go.Figure(
        go.Heatmap(
            z=values,
            colorscale=style.HEAT,
            zmin=0,
            zmax=highest,
            hovertext=details,
            hoverinfo="text",
            xgap=1,
            ygap=1,
            colorbar={
                **BELOW,
                "title": {"text": title, "side": "top"},
                "tickformat": tickformat,
            },
        )
    )
    figure.update_xaxes(**_named(across, 12), side="top", showgrid=False)
    figure.update_yaxes(**_named(down, 26), autorange="reversed", showgrid=False)
    return figure


def _named(names: Sequence[str], longest: int) -> dict[str, Any]:
    """One tick per name, at 0, 1, 2 ..."""
    ticks = [style.safe(name, longest) for name in names]
    return {"tickvals": list(range(len(names))), "ticktext": ticks}


def back_to_back(table: pd.DataFrame, left: str, right: str, weight_title: str) -> go.Figure:
    """Two phenotypes over the same features, one to each side.

    Parameters
    ----------
    table : DataFrame
        feature, left, right (weights).
    left, right : str
        What the two are called.
    """
    places = list(range(len(table)))
    figure = go.Figure()
    for column, name, sign, colour in (
        ("left", left, -1, style.PURPLE),
        ("right", right, 1, style.GREEN),
    ):
        figure.add_bar(
            x=sign * table[column],
            y=places,
            orientation="h",
            name=style.safe(name, 40),
            marker={"color": colour},
            hoverinfo="text",
            hovertext=_side_hints(table["feature"], table[column], name),
        )
    style.dress(figure, height=style.bars_height(len(table)) + 30, x=weight_title, legend=True)
    top = float(max(table["left"].max(), table["right"].max())) if len(table) else 1.0
    ticks = [round(top * step, 2) for step in (-1, -0.5, 0, 0.5, 1)]
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(tickvals=ticks, ticktext=[f"{abs(tick):.0%}" for tick in ticks])
    return style.name_bars(figure, table["feature"].tolist())


def _side_hints(features: Sequence[str], weights: Sequence[float], name: str) -> list[str]:
    return [
        f"{style.hover(feature)}<br>{style.safe(name, 40)}: {weight:.1%}"
        for feature, weight in zip(features, weights, strict=True)
    ]


def matched(table: pd.DataFrame) -> go.Figure:
    """How well the phenotypes of two runs pair up.

    Parameters
    ----------
    table : DataFrame
        here, there, similarity, only the pairs.
    """
    names = [f"{here} - {there}" for here, there in zip(table["here"], table["there"], strict=True)]
    figure = go.Figure(
        go.Bar(
            x=table["similarity"],
            y=list(range(len(table))),
            orientation="h",
            marker={"color": style.BLUE},
            text=[f"{value:.2f}" for value in table["similarity"]],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    style.dress(figure, height=style.bars_height(len(table), each=28), x="Similarity")
    figure.update_xaxes(range=[0, 1.1])
    return style.name_bars(figure, names)
