"""Charts of the Robustness page: noise, survival, stability, ranks and costs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts import style
from dashboard.charts.prediction import phenotype_labels
from dashboard.verdicts import RECIPE_TITLES, short_title, title


def noise_lines(scores: pd.DataFrame, metric: str, axis: str) -> go.Figure:
    """Score against noise level; every method has its own dash and marker, named at its end."""
    means = noise_means(scores)
    order = sorted(means["method"].unique(), key=lambda name: (name != "swift", name))
    figure = go.Figure()
    for number, method in enumerate(order):
        one = means[means["method"] == method]
        figure.add_scatter(
            x=one["level"], y=one["mean"], mode="lines+markers", name=style.safe(title(method)),
            line={"color": style.SERIES[number % len(style.SERIES)],
                  "width": 4 if method == "swift" else 2,
                  "dash": style.DASHES[number % len(style.DASHES)]},
            marker={"symbol": style.MARKERS[number % len(style.MARKERS)], "size": 9},
            error_y={"type": "data", "array": one["sd"], "thickness": 1, "width": 3},
            hovertemplate=f"{style.safe(title(method))}<br>%{{x:.0%}}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    style.dress(figure, height=480, x=axis, y=style.safe(metric))
    _name_ends(figure, means)
    figure.update_xaxes(tickformat=".0%", tickvals=sorted(means["level"].unique()))
    return figure


def noise_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of the score for each method and level."""
    means = scores.groupby(["method", "level"])["score"].agg(mean="mean", sd="std", n="count")
    return means.fillna({"sd": 0.0}).reset_index()


def _name_ends(figure: go.Figure, means: pd.DataFrame) -> None:
    """Write each method at the end of its line, moved apart so that no name covers another."""
    ends = means.sort_values("level").groupby("method").tail(1).sort_values("mean")
    spread = float((means["mean"] + means["sd"]).max() - (means["mean"] - means["sd"]).min())
    line, top, edge = max(spread, 1e-6) * 0.042, -np.inf, float(means["level"].max())
    for method, value in zip(ends["method"], ends["mean"], strict=True):
        text = style.wrapped(short_title(method), 14)
        half = line * (1 + text.count("<br>")) / 2
        middle = max(float(value), top + half)
        top = middle + half
        look = {"color": style.INK, "size": 11}
        figure.add_annotation(x=edge, y=middle, text=text, showarrow=False, xanchor="left",
                              xshift=8, align="left", font=look)  # fmt: skip
    figure.update_xaxes(range=[-0.03 * edge, edge * 1.45])


def survival_heatmap(survival: pd.DataFrame, names: Mapping[str, str], axis: str) -> go.Figure:
    """How much of each clean phenotype is found again at each noise level."""
    means = survival_means(survival)
    rows, levels = np.arange(len(means)), [f"{level:.0%}" for level in means.columns]
    figure = go.Figure(
        go.Heatmap(
            z=means.to_numpy(), x=levels, y=rows, zmin=0, zmax=1, colorscale=style.HEAT,
            texttemplate="%{z:.2f}", colorbar={"title": "cosine"}, xgap=1, ygap=1,
            hovertemplate="%{x}: cosine %{z:.2f}<extra></extra>",
        )
    )  # fmt: skip
    style.dress(figure, height=style.bars_height(len(means)), x=axis)
    figure.update_xaxes(type="category", showgrid=False)
    return style.name_bars(figure, phenotype_labels(means.index, names))


def survival_means(survival: pd.DataFrame) -> pd.DataFrame:
    """Mean cosine, phenotypes in rows and levels in columns."""
    return survival.groupby(["phenotype", "level"])["cosine"].mean().unstack("level")


def stability_dots(summary: pd.DataFrame, names: Mapping[str, str]) -> go.Figure:
    """Share of other fits in which each phenotype comes back: other seeds, other folds."""
    order = summary.assign(least=summary[["seeds", "folds"]].min(axis=1))
    order = order.sort_values(["least", "cosine"], ascending=False, ignore_index=True)
    figure = go.Figure()
    for column, word, size, symbol, colour in (
        ("seeds", "other seeds", 14, "circle-open", style.BLUE),
        ("folds", "other folds", 8, "diamond", style.VERMILLION),
    ):
        figure.add_scatter(
            x=order[column], y=np.arange(len(order)), mode="markers", name=word,
            marker={"size": size, "symbol": symbol, "color": colour,
                    "line": {"width": 2, "color": colour}},
            hovertemplate=f"found again in %{{x:.0%}} of the {word}<extra></extra>",
        )  # fmt: skip
    style.dress(figure, height=style.bars_height(len(order)), legend=True, x="Found again in")
    figure.update_xaxes(range=[-0.03, 1.05], tickformat=".0%")
    return style.name_bars(figure, phenotype_labels(order["phenotype"], names))


def rank_line(table: pd.DataFrame, metric: str, axis: str) -> go.Figure:
    """Score against the number of phenotypes, with one standard deviation."""
    figure = go.Figure(
        go.Scatter(
            x=table["rank"], y=table["mean"], mode="lines+markers",
            line={"color": style.BLUE, "width": 3}, marker={"size": 9},
            error_y={"type": "data", "array": table["sd"].fillna(0.0), "thickness": 1},
            hovertemplate="%{x} phenotypes: %{y:.3f}<extra></extra>",
        )
    )  # fmt: skip
    style.dress(figure, height=380, x=axis, y=style.safe(metric))
    figure.update_xaxes(tickvals=table["rank"].tolist())
    return figure


def recipe_dots(scores: pd.DataFrame, metric: str) -> go.Figure:
    """Score of each way of measuring similarity: every fold a small dot, the mean a large one."""
    recipes = sorted(scores["recipe"].unique(), key=lambda name: (name != "cosine", name))
    figure = go.Figure()
    for place, recipe in enumerate(recipes):
        one = scores.loc[scores["recipe"] == recipe, "score"]
        figure.add_scatter(
            x=one, y=[place] * len(one), mode="markers", name="single folds",
            legendgroup="folds", showlegend=place == 0,
            marker={"size": 7, "color": style.GREY, "symbol": "circle-open"},
            hovertemplate="%{x:.3f}<extra>one fold</extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[one.mean()], y=[place], mode="markers", name="mean and standard deviation",
            legendgroup="mean", showlegend=place == 0,
            marker={"size": 15, "color": style.BLUE, "symbol": "diamond"},
            error_x={"type": "data", "array": [one.std(ddof=1) if len(one) > 1 else 0.0],
                     "thickness": 2},
            hovertemplate="%{x:.3f}<extra>mean</extra>",
        )  # fmt: skip
    style.dress(
        figure, height=style.bars_height(len(recipes), 60), legend=True, x=style.safe(metric)
    )
    return style.name_bars(figure, [RECIPE_TITLES.get(name, name) for name in recipes])
