"""The chart of a definition: what every rule finds, and how much of that is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from dashboard.charts import style

if TYPE_CHECKING:
    import pandas as pd


def rule_curve(rules: pd.DataFrame, chosen: tuple[float, float]) -> go.Figure:
    """Sensitivity against positive predictive value, the chosen rule as a star.

    Parameters
    ----------
    rules : DataFrame
        rule (words, user text), sensitivity, predictive value; the most sensitive first.
    chosen : tuple of two floats
        The same two numbers of the rule that was chosen.
    """
    figure = go.Figure()
    figure.add_scatter(
        x=rules["sensitivity"],
        y=rules["predictive value"],
        mode="lines+markers",
        name="best rules",
        line={"color": style.BLUE, "shape": "hv"},
        marker={"color": style.BLUE, "size": 9},
        customdata=[[style.hover(words)] for words in rules["rule"]],
        hovertemplate="%{customdata[0]}<br>finds %{x:.0%}, %{y:.0%} right<extra></extra>",
    )
    figure.add_scatter(
        x=[chosen[0]],
        y=[chosen[1]],
        mode="markers",
        name="chosen",
        marker={"color": style.VERMILLION, "symbol": "star", "size": 18},
        hovertemplate="chosen: finds %{x:.0%}, %{y:.0%} right<extra></extra>",
    )
    style.dress(
        figure,
        height=340,
        legend=True,
        x="Carriers that the rule finds (sensitivity)",
        y="Of those found, carriers",
    )
    figure.update_xaxes(range=[-0.03, 1.03], tickformat=".0%")
    figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%")
    return figure
