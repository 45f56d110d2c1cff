"""Charts of rows: the phenotypes of one row, and how strongly rows have a phenotype."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts import style


def row_bars(names: Sequence[str], shares: Sequence[float], title: str) -> go.Figure:
    """The phenotypes of one row, the strongest on top; those it has less of to the left."""
    details = [
        f"{style.hover(name)}<br>{share:.0%} of this row"
        for name, share in zip(names, shares, strict=True)
    ]
    figure = go.Figure(
        go.Bar(
            x=list(shares),
            y=list(range(len(names))),
            orientation="h",
            marker={"color": [style.GREEN if share > 0 else style.GREY for share in shares]},
            text=[f"{share:.0%}" for share in shares],
            textposition="outside",
            cliponaxis=False,
            hovertext=details,
            hoverinfo="text",
        )
    )
    style.dress(figure, height=style.bars_height(len(names)), x=title)
    style.share_axis(figure, shares)
    return style.name_bars(figure, names, width=34)


def strengths(table: pd.DataFrame, x: str, y: str) -> go.Figure:
    """How many rows of each class have a phenotype how strongly.

    Parameters
    ----------
    table : DataFrame
        class, low, high, share (of the rows of the class; NaN where hidden).
    """
    figure = go.Figure()
    several = table["class"].nunique() > 1
    for place, (name, rows) in enumerate(table.groupby("class", sort=False)):
        figure.add_bar(
            x=[
                f"{low:.0%} to {high:.0%}"
                for low, high in zip(rows["low"], rows["high"], strict=True)
            ],
            y=rows["share"],
            name=style.safe(name, 30),
            marker={
                "color": style.SERIES[place % len(style.SERIES)],
                "pattern": {"shape": ("", "/", "x", ".", "-", "|")[place % 6]},
            },
            hoverinfo="text",
            hovertext=[f"{style.safe(name, 40)}: {share:.1%}" for share in rows["share"]],
        )
    style.dress(figure, height=320, x=x, y=y, legend=several)
    figure.update_yaxes(tickformat=".0%")
    return figure
