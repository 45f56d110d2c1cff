"""Charts of rows: one row's phenotypes, risk and days; how strongly rows have one; all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts import style
from dashboard.fit_view.row_map import Colouring, RowMap

MANY = 3000  # points that are drawn small


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


def risk_parts(names: Sequence[str], parts: Sequence[float], title: str) -> go.Figure:
    """What each phenotype adds to a score, to the right, or takes from it, to the left."""
    figure = go.Figure(
        go.Bar(
            x=list(parts),
            y=list(range(len(names))),
            orientation="h",
            marker={"color": [style.TOWARDS if part > 0 else style.AWAY for part in parts]},
            text=[f"{part:+.2f}" for part in parts],
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"{style.hover(name)}<br>{part:+.3f}"
                for name, part in zip(names, parts, strict=True)
            ],
            hoverinfo="text",
        )
    )
    style.dress(figure, height=style.bars_height(len(names), 30), x=title)
    largest = 1.6 * max((abs(part) for part in parts), default=0.1)
    figure.update_xaxes(range=[-max(largest, 0.1), max(largest, 0.1)], nticks=5)
    return style.name_bars(figure, names, width=30)


def timeline(table: pd.DataFrame, names: Mapping[str, str]) -> go.Figure:
    """What was recorded when, in one lane per phenotype that explains it.

    Parameters
    ----------
    table : DataFrame
        date, kind, feature, phenotype.
    names : mapping of str to str
        How each phenotype is called; the lanes, from the top.
    """
    figure = go.Figure()
    lanes = {phenotype: place for place, phenotype in enumerate(names)}
    for number, (kind, lines) in enumerate(table.groupby("kind", sort=False)):
        days = lines.groupby(["phenotype", "date"], sort=False)["feature"]
        told = days.agg(lambda found: "<br>".join(style.safe(each) for each in found)).reset_index()
        shift = 0.16 * (2 * number - table["kind"].nunique() + 1)
        figure.add_scatter(
            x=[day.isoformat() for day in told["date"]],
            y=[lanes[phenotype] + shift for phenotype in told["phenotype"]],
            mode="markers",
            name=style.safe(kind, 30),
            marker={
                "color": style.mode_colour(number + 1),
                "symbol": style.MARKERS[number % len(style.MARKERS)],
                "size": 9,
                "opacity": 0.75,
            },
            hovertext=[
                f"{day.isoformat()}<br>{texts}"
                for day, texts in zip(told["date"], told["feature"], strict=True)
            ],
            hoverinfo="text",
        )
    style.dress(figure, height=style.bars_height(len(names), 44), legend=True)
    figure.update_xaxes(type="date")
    return style.name_bars(figure, list(names.values()), width=30)


def plane(chart: RowMap, colouring: Colouring, texts: Sequence[str]) -> go.Figure:
    """Rows as points to be selected; ``customdata`` is the number of the row.

    Parameters
    ----------
    texts : sequence of str
        What is said beside the pointer, one per point; user text.
    """
    figure = go.Figure()
    many = len(chart.rows) > MANY
    look = {"size": 4 if many else 7, "opacity": 0.5 if many else 0.7}
    said = np.array([style.safe(text, 90) for text in texts], dtype=object)
    for place, name in enumerate(colouring.classes or ("",)):
        mine = colouring.values == name if colouring.classes else np.ones(len(texts), dtype=bool)
        colour = {"color": style.SERIES[place % len(style.SERIES)]}
        colour["symbol"] = style.MARKERS[place % len(style.MARKERS)]
        figure.add_trace(
            go.Scatter(  # not Scattergl: many a remote desktop has no WebGL
                x=chart.places[mine, 0],
                y=chart.places[mine, 1],
                mode="markers",
                name=style.safe(name, 40),
                customdata=chart.rows[mine],
                hovertext=said[mine],
                hoverinfo="text",
                marker={**look, **(colour if colouring.classes else _scale(colouring))},
            )
        )
    style.dress(figure, height=520, legend=bool(colouring.classes))
    figure.update_layout(dragmode="lasso")
    figure.update_xaxes(showticklabels=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, zeroline=False)
    return figure


def _scale(colouring: Colouring) -> dict[str, Any]:
    """A scale of colours for numbers, with dates at its marks where they are days."""
    values = colouring.values.astype(np.float64)
    bar: dict[str, Any] = {"title": {"text": style.wrapped(colouring.title, 16)}, "thickness": 14}
    if colouring.dates and np.isfinite(values).any():
        marks = np.linspace(np.nanmin(values), np.nanmax(values), 4).round()
        words = [str(np.datetime64(int(mark), "D")) for mark in marks]
        bar |= {"tickvals": marks, "ticktext": words}
    return {"color": values, "colorscale": style.HEAT, "colorbar": bar}
