"""The chart of *Choose for me*: the error of everything that was tried, by number of phenotypes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts import style
from dashboard.text.tuning_words import STATES

LOOKS = {  # colour, marker, size; the chosen one is drawn last, above all others
    "given up": (style.GREY, "x", 8),
    "not finished": (style.GREY, "cross", 8),
    "worse": (style.ORANGE, "square", 10),
    "as good": (style.SKY, "circle", 11),
    "chosen": (style.VERMILLION, "star", 18),
}
SPREAD = 0.3  # how far settings of one rank stand apart


def comparable(candidates: pd.DataFrame) -> pd.DataFrame:
    """What was tried, with losses on one scale: that of the best plus how far each is behind.

    Folds differ in how hard they are, so the losses of those that were given up early cannot
    stand beside those of the others; differences on the same rows can.
    """
    tried = candidates.dropna(subset="behind")
    judged = tried[tried["state"].isin(["chosen", "as good", "worse"])]
    best = float(judged["loss"].min())
    return tried.assign(shown=best + tried["behind"])


def loss_dots(candidates: pd.DataFrame, words: list[str], loss: str, rank: str) -> go.Figure:
    """Error against the number of phenotypes, with one standard error against the best.

    Parameters
    ----------
    candidates : DataFrame
        As :func:`comparable` gives it.
    words : list of str
        The settings of each, for people.
    loss, rank : str
        What the axes are called.
    """
    ranks = sorted(candidates["rank"].unique())
    place = candidates["rank"].map({each: number for number, each in enumerate(ranks)})
    turn = candidates.groupby("rank").cumcount()
    most = max(1, int(turn.max()))
    x = place + SPREAD * (2 * turn / most - 1)
    figure = go.Figure()
    for edge in range(1, len(ranks)):
        figure.add_vline(x=edge - 0.5, line={"color": style.GREY, "width": 1, "dash": "dot"})
    for state, (colour, marker, size) in LOOKS.items():
        mine = (candidates["state"] == state).to_numpy()
        if not mine.any():
            continue
        texts = [style.hover(one) for one, here in zip(words, mine, strict=True) if here]
        figure.add_scatter(
            x=x[mine],
            y=candidates["shown"][mine],
            mode="markers",
            name=STATES[state],
            customdata=np.array(texts)[:, None],
            marker={"color": colour, "symbol": marker, "size": size},
            error_y={
                "type": "data",
                "array": candidates["behind_error"][mine].fillna(0.0),
                "thickness": 1,
                "width": 2,
                "color": colour,
            },
            hovertemplate=f"%{{customdata[0]}}<br>%{{y:.4f}}<extra>{STATES[state]}</extra>",
        )
    style.dress(figure, height=420, legend=True, x=rank, y=loss)
    figure.update_xaxes(
        tickvals=list(range(len(ranks))),
        ticktext=[str(each) for each in ranks],
        range=[-0.6, len(ranks) - 0.4],
        zeroline=False,
        showgrid=False,
    )
    return figure
