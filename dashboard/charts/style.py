"""Colours, texts and sizes that all charts share."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dashboard.text.display import clipped, visible
from swiftcore.evaluation.methods.catalogue import CATALOGUE

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Okabe-Ito, told apart by all common kinds of colour vision. Roles are fixed: the first
# feature mode (diagnoses) is vermillion, the second (medications) blue.
VERMILLION, BLUE, GREEN, PURPLE = "#D55E00", "#0072B2", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#6B7280"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY, "#8C510A", "#5E3C99")
METHOD_COLOURS = (*(colour for colour in SERIES if colour != GREY), "#7F0000")  # grey: classifiers
MODE_COLOURS = (VERMILLION, BLUE, GREEN, PURPLE)
TOWARDS, AWAY = VERMILLION, BLUE  # links with the outcome; the side and a word say it too
HEAT = "Cividis"
LIGHT_HEAT = [[0.0, "#FFFFFF"], [1.0, BLUE]]  # where most values are near 0
SIGNED_HEAT = [[0.0, BLUE], [0.5, "#F7F7F7"], [1.0, VERMILLION]]  # below 0, 0, above
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "pentagon")
INK, FAINT = "#1F2933", "#E5E7EB"
PALE_INK, DARK, DARK_FAINT = "#F2F5F8", "#12171D", "#2C3640"  # of the dark theme
# What would hardly be seen on a dark page, and what stands there for it
ON_DARK = {
    INK: PALE_INK,
    BLACK: PALE_INK,
    "#8C510A": "#C98B3F",
    "#5E3C99": "#A98FD8",
    "#7F0000": "#E57373",
}
PAINTED = ("line", "marker", "error_x", "error_y", "textfont")  # parts of a trace with colours
FONT = "Source Sans, Source Sans Pro, Helvetica, Arial, sans-serif"
AXIS = {
    "automargin": True,
    "gridcolor": FAINT,
    "zerolinecolor": GREY,
    "tickcolor": FAINT,
    "ticks": "",
    "linecolor": "white",
}
TEMPLATE = {  # instead of plotly's own, which is 7 kB in every chart
    "data": {
        "bar": [{"marker": {"line": {"color": "#E5ECF6", "width": 0.5}}}],
        "heatmap": [{"colorbar": {"outlinewidth": 0, "ticks": ""}}],
    }
}


def mode_colour(axis: int) -> str:
    """The colour of a feature mode; axis 1 is the first mode after the rows."""
    return MODE_COLOURS[(axis - 1) % len(MODE_COLOURS)]


def method_look(method: str) -> tuple[str, str, str]:
    """Colour, dash and marker of a method, the same in every figure; classifiers are grey."""
    known = list(CATALOGUE)
    number = known.index(method) if method in known else len(known)
    classifier = method in CATALOGUE and not CATALOGUE[method].is_factorization
    colour = GREY if classifier else METHOD_COLOURS[number % len(METHOD_COLOURS)]
    return colour, DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)]


def safe(text: object, longest: int = 60) -> str:
    """User text for a plot: visible, clipped, and nothing in it is markup."""
    return html.escape(clipped(text, longest), quote=False)


def wrapped(text: object, width: int = 26, lines: int = 2) -> str:
    """User text broken over a few lines, for the label of a bar."""
    pieces = textwrap.wrap(clipped(text, width * lines + 20), width, break_long_words=True)
    if len(pieces) > lines:
        pieces = [*pieces[: lines - 1], f"{pieces[lines - 1][: width - 1]}\u2026"]
    return "<br>".join(html.escape(piece, quote=False) for piece in pieces)


def hover(text: object, width: int = 60, lines: int = 12) -> str:
    """User text in full (up to a dozen lines) for the box beside the pointer."""
    pieces = textwrap.wrap(visible(str(text)[: width * lines + 1]), width, break_long_words=True)
    shown = [*pieces[:lines], "\u2026"] if len(pieces) > lines else pieces
    return "<br>".join(html.escape(piece, quote=False) for piece in shown)


def bars_height(bars: int, each: int = 34) -> int:
    """Pixels for a chart of horizontal bars: as high as it has bars."""
    return 96 + each * max(1, bars)


def grid_height(rows: int, each: int = 26, least: int = 260, most: int = 900) -> int:
    """Pixels for a heatmap of this many rows."""
    return max(least, min(most, 140 + each * rows))


def clustered(distances: NDArray[np.float64]) -> list[int]:
    """An order for a heatmap that puts what is at a small distance side by side."""
    if len(distances) < 3:
        return list(range(len(distances)))
    from scipy.cluster.hierarchy import leaves_list, linkage  # only two tabs need it
    from scipy.spatial.distance import squareform

    even = np.clip((distances + distances.T) / 2, 0.0, None)
    np.fill_diagonal(even, 0.0)
    tree = linkage(squareform(even, checks=False), "average", optimal_ordering=True)
    return [int(leaf) for leaf in leaves_list(tree)]


def dress(figure: Figure, *, height: int, x: str = "", y: str = "", legend: bool = False) -> Figure:
    """Give a figure the common look: one font, quiet grid, titles of the axes.

    The layout is put in place as a whole, which takes a sixth of the time of updates part by part;
    shapes that were drawn before stay.
    """
    title = {"font": {"size": 13}}
    figure.layout = {
        "template": TEMPLATE,
        "shapes": figure.layout.shapes,
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 40 if legend else 28, "b": 8},
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hoverlabel": {"bgcolor": "white", "font": {"color": INK}, "align": "left"},
        "hovermode": "closest",
        "autotypenumbers": "strict",
        "bargap": 0.25,
        "xaxis": {"title": {"text": x, **title}, **AXIS},
        "yaxis": {"title": {"text": y, **title}, **AXIS},
    }
    return figure


def darken(figure: Figure) -> None:
    """Give a dressed figure the colours of the dark theme."""
    axis = {"gridcolor": DARK_FAINT, "tickcolor": DARK_FAINT, "linecolor": DARK}
    figure.update_layout(
        font={"color": PALE_INK},
        paper_bgcolor=DARK,
        plot_bgcolor=DARK,
        hoverlabel={"bgcolor": DARK, "font": {"color": PALE_INK}},
    )
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    for heat in figure.select_traces({"type": "heatmap"}):
        if heat.colorscale[0][1] == LIGHT_HEAT[0][1]:
            heat.colorscale = [[0.0, DARK], [1.0, SKY]]
        elif heat.colorscale[0][1] == SIGNED_HEAT[0][1]:
            heat.colorscale = [[0.0, SKY], [0.5, DARK], [1.0, ORANGE]]
    for trace in figure.select_traces({"type": "bar"}):
        trace.marker.line.color = DARK
    for trace in figure.data:
        plain = trace.to_plotly_json()
        trace.update({part: _for_dark(plain[part]) for part in PAINTED if part in plain})
    for one in (*figure.layout.annotations, *figure.layout.shapes):
        one.update(_for_dark(one.to_plotly_json()))
    if figure.layout.title.font.color == INK:
        figure.layout.title.font.color = PALE_INK


def _for_dark(part: Any) -> Any:
    """The same part of a figure with its colours made pale where they must be."""
    if isinstance(part, dict):
        return {key: _for_dark(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_for_dark(one) for one in part]
    return ON_DARK.get(part, part) if isinstance(part, str) else part


def say_source(figure: Figure, said: str) -> None:
    """Write above a figure where its numbers came from, so that a saved picture tells it too."""
    line = 26  # pixels
    layout = figure.layout
    figure.update_layout(
        height=layout.height and layout.height + line,
        margin={"t": int(layout.margin.t or 0) + line},
        title={
            "text": safe(said, 140),
            "font": {"size": 12, "color": INK},
            "x": 0,
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 6},
        },
    )


def has_signs(values: ArrayLike) -> bool:
    """Whether some are below 0, so that 0 belongs into the middle."""
    return bool((np.asarray(values, dtype=np.float64) < 0).any())


def share_axis(figure: Figure, values: ArrayLike) -> None:
    """Percentages on the x axis, with room for the numbers beside the bars."""
    largest = float(np.abs(np.asarray(values, dtype=np.float64)).max(initial=0.01)) * 1.2
    low = -largest if has_signs(values) else 0.0
    figure.update_xaxes(
        tickformat=".0%", nticks=3, range=[low, largest]
    )  # a phone has room for few


def name_bars(figure: Figure, names: Sequence[object], width: int = 26) -> Figure:
    """Label horizontal bars drawn at y = 0, 1, 2 ... from the top.

    Positions are numbers because two clipped names may look the same.
    """
    figure.layout.yaxis.update(
        tickvals=list(range(len(names))),
        ticktext=[wrapped(name, width) for name in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    figure.layout.xaxis.update(tickangle=0)
    return figure
