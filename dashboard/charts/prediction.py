"""Charts of the Prediction page: links to the outcome, differences, curves, chances, confusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts import style
from dashboard.fit_view.outcome_rates import wilson
from dashboard.privacy.small_counts import HIDDEN, hide_table
from dashboard.text.method_words import method_words


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
        f"({row.low:.3f} to {row.high:.3f}){_unclear(row.low, row.high)}"
        for label, row in zip(labels, links.itertuples(), strict=True)
    ]


def _unclear(low: float, high: float) -> str:
    """Marks a link whose interval reaches to both sides."""
    return ", unclear" if low <= 0 <= high else ""


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


def link_matrix(
    links: pd.DataFrame, names: Mapping[str, str], classes: Sequence[str], axis: str
) -> go.Figure:
    """Which phenotype speaks for which class: one square each, the clear links with their number.

    Parameters
    ----------
    links : DataFrame
        phenotype, class, weight, low, high of all classes.
    classes : sequence of str
        In the order of the columns.
    axis : str
        What the weight is called.
    """
    cells = links.assign(clear=(links["low"] > 0) | (links["high"] < 0))
    cells = cells.pivot(index="phenotype", columns="class", values=["weight", "clear"])
    weights = cells["weight"][list(classes)].to_numpy(float)
    clear = cells["clear"][list(classes)].to_numpy(bool)
    order = np.lexsort((-weights.max(axis=1), weights.argmax(axis=1)))  # by class, then strength
    weights, clear = weights[order], clear[order]
    reach = float(np.abs(weights).max(initial=1e-9))
    labels = phenotype_labels([cells.index[place] for place in order], names)
    figure = go.Figure(
        go.Heatmap(
            z=weights,
            x=np.arange(len(classes)),
            y=np.arange(len(labels)),
            zmin=-reach,
            zmax=reach,
            colorscale=style.SIGNED_HEAT,
            text=np.where(clear, np.char.mod("%+.2f", weights), "").tolist(),
            texttemplate="%{text}",
            showscale=False,  # the clear ones say their number
            hovertext=_matrix_hints(labels, classes, weights, clear),
            hovertemplate="%{hovertext}<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    style.dress(figure, height=style.bars_height(len(labels)) + 40, x=style.safe(axis))
    names_of_classes = [style.wrapped(name, 14) for name in classes]
    ticks = {"tickvals": np.arange(len(classes)), "ticktext": names_of_classes}
    style.name_bars(figure, labels)
    figure.update_xaxes(**ticks, side="top", showgrid=False, zeroline=False, tickangle=None)
    return figure


def _matrix_hints(
    labels: Sequence[str],
    classes: Sequence[str],
    weights: NDArray[np.float64],
    clear: NDArray[np.bool_],
) -> list[list[str]]:
    return [
        [
            f"{style.hover(label)}<br>{style.hover(name)}: {weight:+.3f}"
            f"{'' if sure or not weight else ', unclear'}"
            for name, weight, sure in zip(classes, row, sures, strict=True)
        ]
        for label, row, sures in zip(labels, weights, clear, strict=True)
    ]


def calibration_dots(table: pd.DataFrame, x: str, y: str) -> go.Figure:
    """What came true against the chances given, with Wilson intervals; on the line is right.

    Parameters
    ----------
    table : DataFrame
        expected, cases, count; groups of few rows are left out before.
    x, y : str
        What chances and shares that came true are called.
    """
    shares = [wilson(row.cases, row.count) for row in table.itertuples(index=False, name="Group")]
    value, low, high = (
        np.array([getattr(share, name) for share in shares]) for name in ("value", "low", "high")
    )
    figure = go.Figure()
    guide = {"width": 2, "dash": "dash", "color": style.INK}
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", name="as they say", line=guide, hoverinfo="skip"
    )
    figure.add_scatter(
        x=table["expected"],
        y=value,
        mode="lines+markers",
        name="what came true",
        line={"width": 2, "color": style.BLUE},
        marker={"size": 9},
        error_y={**_interval(value, low, high), "thickness": 1, "width": 3},
        hovertemplate="chance %{x:.0%}<br>came true %{y:.0%}<extra></extra>",
    )
    style.dress(figure, height=440, legend=True, x=style.safe(x), y=style.safe(y))
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(range=[0, 1.02], tickformat=".0%")
    return figure


def difference_dots(
    comparison: pd.DataFrame, metric: str, ours: str = "SWIFT", wording: str = "scientist"
) -> go.Figure:
    """Ours minus each other method, with its interval; right of zero ours is ahead."""
    order = comparison.sort_values("difference", ascending=False, ignore_index=True)
    titles = [method_words(method, wording) for method in order["method"]]
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
            hovertext=[style.safe(title) for title in titles],
            hovertemplate="%{hovertext}<br>%{x:+.3f}<extra></extra>",
        )
    )
    figure.add_vline(x=0, line_width=1, line_dash="dash", line_color=style.INK)
    words = f"Difference in {style.safe(metric)}<br>◀ {style.safe(ours)} behind · ahead ▶"
    style.dress(figure, height=style.bars_height(len(order)), x=words)
    return style.name_bars(figure, titles)


def precision_recall(curves: pd.DataFrame, chance: float, wording: str = "scientist") -> go.Figure:
    """Precision against recall: every fold thin, their mean thick, guessing as a dashed line."""
    technical = wording == "scientist"
    figure = go.Figure()
    for number, (_, one) in enumerate(curves[curves["fold"] >= 0].groupby("fold")):
        figure.add_scatter(
            x=one["recall"],
            y=one["precision"],
            name="single folds" if technical else "single tests",
            legendgroup="folds",
            showlegend=number == 0,
            hoverinfo="skip",
            line={"width": 1, "color": style.GREY},
        )
    mean = curves[curves["fold"] == -1]
    figure.add_scatter(
        x=mean["recall"],
        y=mean["precision"],
        name="mean",
        line={"width": 4, "color": style.BLUE},
        hovertemplate="found %{x:.0%}<br>right alarms %{y:.0%}<extra></extra>",
    )
    guess = {"width": 2, "dash": "dash", "color": style.INK}
    name = f"guessing ({chance:.0%})"
    figure.add_scatter(x=[0, 1], y=[chance, chance], name=name, line=guess, hoverinfo="skip")
    figure.update_traces(mode="lines")
    found, right = "Share of the cases that are found", "Share of alarms that are right"
    axes = {
        "x": f"{found} (recall)" if technical else found,
        "y": f"{right} (precision)" if technical else right,
    }
    style.dress(figure, height=440, legend=True, **axes)
    figure.update_xaxes(range=[0, 1], tickformat=".0%")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
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
            showscale=False,  # every square says its share
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


def shown_groups(table: pd.DataFrame, limit: int, times: int = 1) -> pd.DataFrame:
    """The groups of a calibration from which no count below the limit follows.

    Parameters
    ----------
    table : DataFrame
        expected, cases, count.
    limit : int
        The smallest count of rows that may be shown; 0 shows all.
    times : int
        How often each row was counted, once for every repeat.
    """
    cells = pd.DataFrame({"cases": table["cases"], "others": table["count"] - table["cases"]})
    shown = hide_table(-(-cells // times), limit).map(lambda text: text[0].isdigit())
    return table[shown.to_numpy(bool)[:-1].all(axis=1)]
