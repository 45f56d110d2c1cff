"""Charts of the Prediction page: links to the outcome, differences, curves, confusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts import style
from dashboard.privacy.small_counts import HIDDEN, hide_table
from dashboard.text.result_sentences import title


def link_bars(links: pd.DataFrame, names: Mapping[str, str], axis: str) -> go.Figure:
    """One bar per phenotype, to the right when it points towards the outcome.

    Parameters
    ----------
    links : DataFrame
        phenotype, weight, low, high, same_sign of one class.
    names : mapping
        Phenotype id to the name shown beside it.
    axis : str
        What the weight is called.
    """
    order = links.sort_values("weight", ascending=False, ignore_index=True)
    weight, low, high = (order[name].to_numpy(float) for name in ("weight", "low", "high"))
    labels = phenotype_labels(order["phenotype"], names)
    figure = go.Figure(
        go.Bar(
            x=weight,
            y=np.arange(len(order)),
            orientation="h",
            marker_color=np.where(weight >= 0, style.TOWARDS, style.AWAY),
            error_x={**_interval(weight, low, high), "thickness": 1, "width": 4},
            hovertext=_link_hints(order, labels),
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    figure.add_vline(x=0, line_width=1, line_color=style.INK)
    words = f"{style.safe(axis)}<br>◀ away · towards ▶"
    style.dress(figure, height=style.bars_height(len(order)), x=words)
    reach = float(np.max(np.abs(np.concatenate([weight, low, high, [1e-9]])))) * 1.1
    figure.update_xaxes(range=[-reach, reach])
    return style.name_bars(figure, labels)


def _link_hints(links: pd.DataFrame, labels: Sequence[str]) -> list[str]:
    return [
        f"{style.hover(label)}<br>{_arrow(row.weight)} {row.weight:.3f} "
        f"({row.low:.3f} to {row.high:.3f})<br>"
        f"same direction in {row.same_sign:.0%} of the folds"
        for label, row in zip(labels, links.itertuples(), strict=True)
    ]


def _arrow(weight: float) -> str:
    return "▶" if weight > 0 else "◀" if weight < 0 else "·"


def _interval(
    value: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> dict[str, Any]:
    """Error bars that reach from low to high, around values between them."""
    return {
        "type": "data",
        "symmetric": False,
        "color": style.INK,
        "array": np.maximum(high - value, 0),
        "arrayminus": np.maximum(value - low, 0),
    }


def phenotype_labels(phenotypes: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Id and name, as a person refers to a phenotype."""
    return [f"{phenotype} {names.get(phenotype, '')}".strip() for phenotype in phenotypes]


def difference_dots(comparison: pd.DataFrame, metric: str, ours: str = "SWIFT") -> go.Figure:
    """Ours minus each other method, with its interval; right of zero ours is ahead."""
    order = comparison.sort_values("difference", ascending=False, ignore_index=True)
    difference, low, high = (order[one].to_numpy(float) for one in ("difference", "low", "high"))
    clear = order["clear"].to_numpy(bool)
    figure = go.Figure(
        go.Scatter(
            x=difference,
            y=np.arange(len(order)),
            mode="markers",
            marker={
                "size": 11,
                "color": style.BLUE,
                "line": {"width": 2, "color": style.BLUE},
                "symbol": np.where(clear, "circle", "circle-open").tolist(),
            },
            error_x={**_interval(difference, low, high), "thickness": 1.5},
            hovertext=[style.safe(title(method)) for method in order["method"]],
            hovertemplate="%{hovertext}<br>%{x:+.3f}<extra></extra>",
        )
    )
    figure.add_vline(x=0, line_width=1, line_dash="dash", line_color=style.INK)
    words = f"Difference in {style.safe(metric)}<br>◀ {style.safe(ours)} behind · ahead ▶"
    style.dress(figure, height=style.bars_height(len(order)), x=words)
    return style.name_bars(figure, [title(method) for method in order["method"]])


def precision_recall(curves: pd.DataFrame, chance: float) -> go.Figure:
    """Precision against recall: every fold thin, their mean thick, guessing as a dashed line."""
    figure = go.Figure()
    for number, (_, one) in enumerate(curves[curves["fold"] >= 0].groupby("fold")):
        figure.add_scatter(
            x=one["recall"],
            y=one["precision"],
            name="single folds",
            legendgroup="folds",
            showlegend=number == 0,
            hoverinfo="skip",
            line={"width": 1, "color": style.GREY},
        )
    mean = curves[curves["fold"] == -1]
    figure.add_scatter(
        x=mean["recall"],
        y=mean["precision"],
        name="mean of the folds",
        line={"width": 4, "color": style.BLUE},
        hovertemplate="recall %{x:.2f}<br>precision %{y:.2f}<extra></extra>",
    )
    guess = {"width": 2, "dash": "dash", "color": style.INK}
    name = f"guessing ({chance:.2f})"
    figure.add_scatter(x=[0, 1], y=[chance, chance], name=name, line=guess, hoverinfo="skip")
    figure.update_traces(mode="lines")
    recall, precision = "share of the cases that are found", "share of alarms that are right"
    style.dress(figure, height=440, legend=True, x=f"Recall: {recall}", y=f"Precision: {precision}")
    figure.update_xaxes(range=[0, 1])
    figure.update_yaxes(range=[0, 1.02])
    return figure


def confusion(table: pd.DataFrame, classes: Sequence[str], limit: int = 0) -> go.Figure:
    """Which class was taken for which: rows are the truth, each adds up to 100 %.

    A share from which a count below the limit would follow is left blank.
    """
    shares = _shown_shares(confusion_counts(table, classes), limit)
    texts = [["" if np.isnan(share) else f"{share:.0%}" for share in row] for row in shares]
    places = np.arange(len(classes))
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=places,
            y=places,
            zmin=0,
            zmax=1,
            colorscale=style.HEAT,
            text=texts,
            texttemplate="%{text}",
            colorbar={"title": "share", "tickformat": ".0%"},
            hovertext=_confusion_hints(classes, texts),
            hovertemplate="%{hovertext}<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    style.dress(figure, height=style.grid_height(len(classes), 44), x="Predicted", y="Truth")
    labels = [style.wrapped(name, 16) for name in classes]
    figure.update_xaxes(tickvals=places, ticktext=labels, side="top", showgrid=False)
    figure.update_yaxes(tickvals=places, ticktext=labels, showgrid=False, autorange="reversed")
    return figure


def _shown_shares(counts: pd.DataFrame, limit: int) -> NDArray[np.float64]:
    """Shares of each row; NaN where one would give away a count below the limit."""
    shown = hide_table(counts, limit).map(lambda text: text[0].isdigit()).to_numpy(bool)
    shares = counts.div(counts.sum(axis=1).clip(lower=1), axis=0).to_numpy()
    return np.where(shown[:-1, :-1] & shown[:-1, -1:], shares, np.nan)


def _confusion_hints(classes: Sequence[str], texts: list[list[str]]) -> list[list[str]]:
    return [
        [
            f"truth {style.hover(truth)}<br>predicted {style.hover(guess)}<br>{text or HIDDEN}"
            for guess, text in zip(classes, row, strict=True)
        ]
        for truth, row in zip(classes, texts, strict=True)
    ]


def confusion_counts(table: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    """Counts with the truth in rows and the prediction in columns, in the order of classes."""
    counts = table.pivot_table(index="truth", columns="predicted", values="count", aggfunc="sum")
    counts = counts.reindex(index=list(classes), columns=list(classes))
    return counts.fillna(0).astype(int).rename_axis(None, axis=1)
