"""Charts of phenotypes: their features, all at a glance, overlap, two side by side, two runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts import style
from swiftcore.phenotypes.names import LESS

NAMES_ABOVE = 90  # pixels for names at an angle
MAP_CIRCLE = 70  # pixels across the largest
MAP_HEIGHT = 480  # pixels for the places of all
NOWHERE = (-10_000, -10_000)  # a box that covers nothing
MAP_NARROW = 330  # pixels across on a phone
MAP_NAME = 18  # letters of a name on the map
BELOW = {"thickness": 10, "orientation": "h", "y": 0, "yanchor": "top", "len": 0.6}


def feature_bars(table: pd.DataFrame, colour: str, weight_title: str) -> go.Figure:
    """The features of one mode as horizontal bars, the most relevant on top.

    Bars of features that the phenotype has less of go to the left, in grey.

    Parameters
    ----------
    table : DataFrame
        feature, weight, lift, rows (rows as text: small counts may be hidden); of a consensus
        also spread, drawn as a line to both sides of the bar's end.
    """
    signed = style.has_signs(table["weight"])
    spread = table.get("spread")
    details = [
        f"{style.hover(row.feature)}<br>{row.weight:.1%} of this phenotype"
        f"{': less of it' if row.weight < 0 else ''}"
        f"<br>{row.lift:.1f} times its usual share<br>{style.safe(row.rows)} rows behind it"
        for row in table.itertuples()
    ]
    figure = go.Figure(
        go.Bar(
            x=table["weight"],
            y=list(range(len(table))),
            orientation="h",
            marker={"color": [colour if weight > 0 else style.GREY for weight in table["weight"]]},
            hovertext=details,
            hoverinfo="text",
            text=[f"{weight:+.0%}" if signed else f"{weight:.0%}" for weight in table["weight"]],
            textposition="outside",
            cliponaxis=False,
            error_x=None if spread is None else {"array": spread, "thickness": 1, "width": 3},
        )
    )
    style.dress(figure, height=style.bars_height(len(table)), x=weight_title)
    style.share_axis(figure, table["weight"] if spread is None else table["weight"] + spread)
    return style.name_bars(figure, with_signs(table["feature"], table["weight"]))


def phenotype_map(table: pd.DataFrame, chosen: str) -> go.Figure:
    """Phenotypes as circles: the area by share, near where features are in common.

    Parameters
    ----------
    table : DataFrame
        id, name, share, x, y.
    chosen : str
        The id of the one that is marked.
    """
    largest = float(table["share"].max())
    figure = go.Figure(
        go.Scatter(
            x=table["x"],
            y=table["y"],
            mode="markers+text",
            text=_map_texts(table),
            textposition="middle center",
            marker={
                "size": table["share"],
                "sizemode": "area",
                "sizeref": 2 * largest / MAP_CIRCLE**2,
                "sizemin": 9,
                "color": [style.BLUE if one == chosen else style.SKY for one in table["id"]],
                "opacity": 0.45,
                "line": {"color": style.BLUE, "width": 1},
            },
            hovertext=[
                f"{style.hover(f'{row.id}: {row.name_}')}<br>{row.share:.1%} of the data"
                for row in table.rename(columns={"name": "name_"}).itertuples()
            ],
            hoverinfo="text",
        )
    )
    style.dress(figure, height=MAP_HEIGHT + 60)
    blank = {"showticklabels": False, "showgrid": False, "zeroline": False}
    figure.update_xaxes(**blank)
    return figure.update_yaxes(**blank, scaleanchor="x")


def map_scale(table: pd.DataFrame) -> float:
    """Pixels from one place on the map to another at a distance of 1."""
    extent = float(table["y"].max() - table["y"].min())
    return (MAP_HEIGHT - MAP_CIRCLE) / extent if extent > 0 else float(MAP_HEIGHT)


def _on_a_phone(table: pd.DataFrame) -> float:
    """The same scale on the narrowest screen."""
    extent = float(table["x"].max() - table["x"].min())
    return min(map_scale(table), (MAP_NARROW - MAP_CIRCLE) / extent if extent > 0 else np.inf)


def text_box(named: bool) -> tuple[int, int]:
    """Width and height, in pixels, of a text on the map: an id, perhaps with a name below."""
    return (MAP_NAME * 7, 34) if named else (30, 17)


def _map_texts(table: pd.DataFrame) -> list[str]:
    """Each id, with its name below where that covers no other text; the largest come first.

    Ids that would cover that of a larger one, even on a phone, are left out.
    """
    order = np.argsort(-table["share"].to_numpy(), kind="stable")
    places = table[["x", "y"]].to_numpy()
    boxes = np.array([text_box(False)] * len(table))
    texts = [str(one) for one in table["id"]]
    kept: list[int] = []
    for at in order:
        near = np.abs(places[kept] - places[at]) * _on_a_phone(table) < text_box(False)
        if near.all(axis=1).any():
            texts[at], boxes[at] = "", NOWHERE
        else:
            kept.append(int(at))
    places = places * map_scale(table)
    for at in kept:
        room = (boxes + text_box(True)) / 2
        covers = (np.abs(places - places[at]) < room).all(axis=1)
        if covers.sum() == 1:  # itself
            boxes[at] = text_box(True)
            texts[at] += f"<br>{style.safe(table['name'].iloc[at], MAP_NAME)}"
    return texts


def with_signs(features: Sequence[str], weights: Sequence[float]) -> list[str]:
    """The features, with a word before those that a phenotype has less of."""
    pairs = zip(features, weights, strict=True)
    return [f"{LESS}{feature}" if weight < 0 else feature for feature, weight in pairs]


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
    figure = style.dress(
        _heat(weights, details, title),
        height=NAMES_ABOVE + style.grid_height(len(features), each=24, most=1400),
    )
    return _name_cells(figure, phenotypes, features)


def overlap(similarities: NDArray[np.float64], phenotypes: Sequence[str]) -> go.Figure:
    """How similar any two phenotypes are."""
    details = [
        [
            f"{style.safe(one)} and {style.safe(other)}: {value:.2f}"
            for other, value in zip(phenotypes, row, strict=True)
        ]
        for one, row in zip(phenotypes, similarities, strict=True)
    ]
    figure = style.dress(
        _heat(similarities, details, "Similarity", highest=1.0, tickformat=".1f"),
        height=NAMES_ABOVE + style.grid_height(len(phenotypes), each=30),
    )
    return _name_cells(figure, phenotypes, phenotypes)


def _heat(
    values: NDArray[np.float64],
    details: list[list[str]],
    title: str,
    highest: float | None = None,
    tickformat: str = ".0%",
) -> go.Figure:
    signed = style.has_signs(values)
    top = highest or float(np.abs(values).max(initial=0.0))
    return go.Figure(
        go.Heatmap(
            z=values,
            colorscale=style.SIGNED_HEAT if signed else style.LIGHT_HEAT,
            zmin=-top if signed else 0,
            zmax=top if signed else highest,
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


def _name_cells(figure: go.Figure, across: Sequence[str], down: Sequence[str]) -> go.Figure:
    """Names of the columns on top and of the rows at the left; after the figure is dressed."""
    figure.update_xaxes(**_named(across, 24), side="top", tickangle=-45, showgrid=False)
    figure.update_yaxes(**_named(down, 40), autorange="reversed", showgrid=False)
    return figure.update_layout(margin_r=NAMES_ABOVE)  # the last name leans over the edge


def _named(names: Sequence[str], longest: int) -> dict[str, Any]:
    """One tick per name, at 0, 1, 2 ..."""
    ticks = [style.safe(name, longest) for name in names]
    return {"tickvals": list(range(len(names))), "ticktext": ticks}


def back_to_back(table: pd.DataFrame, left: str, right: str, weight_title: str) -> go.Figure:
    """Two phenotypes over the same features, one to each side; with signs, one above the other.

    Parameters
    ----------
    table : DataFrame
        feature, left, right (weights).
    left, right : str
        What the two are called.
    """
    places = list(range(len(table)))
    figure = go.Figure()
    signed = style.has_signs(table[["left", "right"]])
    for column, name, sign, colour in (
        ("left", left, 1 if signed else -1, style.PURPLE),
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
    if signed:
        figure.update_layout(barmode="group")
        style.share_axis(figure, table[["left", "right"]])
        return style.name_bars(figure, table["feature"].tolist())
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
    """How well the phenotypes of two runs pair up; both names beside each bar.

    Parameters
    ----------
    table : DataFrame
        here, there (what the two are called), similarity, turned; only the pairs.
    """
    pairs = list(zip(table["here"], table["there"], strict=True))
    figure = go.Figure(
        go.Bar(
            x=table["similarity"],
            y=list(range(len(table))),
            orientation="h",
            marker={"color": style.BLUE},
            text=[
                f"{value:.2f}{', turned round' if turned else ''}"
                for value, turned in zip(table["similarity"], table["turned"], strict=True)
            ],
            textposition="outside",
            cliponaxis=False,
            hovertext=["<br>and<br>".join(map(style.hover, pair)) for pair in pairs],
            hoverinfo="text",
        )
    )
    style.dress(figure, height=style.bars_height(len(table), each=44), x="Similarity")
    figure.update_xaxes(range=[0, 1.25], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    style.name_bars(figure, ["" for _ in pairs])
    named = [f"{style.safe(one, 70)}<br>{style.safe(other, 70)}" for one, other in pairs]
    return figure.update_yaxes(ticktext=named)
