"""Charts of the Robustness page: noise, survival, stability, ranks and costs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts import style
from dashboard.charts.prediction import phenotype_labels
from dashboard.text.method_words import method_words, recipe_words
from swiftcore.evaluation.methods.catalogue import short_title_of


def noise_lines(
    scores: pd.DataFrame,
    metric: str,
    axis: str,
    ours: str = "swift",
    wording: str = "scientist",
) -> go.Figure:
    """Score against noise level; the line of our method is the thick one."""
    means = noise_means(scores)
    figure = _method_lines(means, "level", ".0%", metric, axis, ours, wording)
    figure.update_xaxes(tickformat=".0%", tickvals=sorted(scores["level"].unique()))
    if wording != "scientist":  # shares, to a clinician
        figure.update_yaxes(tickformat=".0%")
    return figure


def rank_lines(summary: pd.DataFrame, metric: str, axis: str) -> go.Figure:
    """Score against the number of phenotypes, one line per factorization."""
    ranked = summary[summary["rank"] > 0].fillna({"sd": 0.0})
    figure = _method_lines(ranked, "rank", "d", metric, axis)
    figure.update_xaxes(tickvals=sorted(ranked["rank"].unique()))
    return figure


def _method_lines(
    means: pd.DataFrame,
    across: str,
    form: str,
    metric: str,
    axis: str,
    ours: str = "swift",
    wording: str = "scientist",
) -> go.Figure:
    """Mean score of each method; every one has its own dash and marker, named at its end."""
    order = sorted(means["method"].unique(), key=lambda name: (name != ours, name))
    figure = go.Figure()
    for method in order:
        one = means[means["method"] == method]
        colour, dash, marker = style.method_look(method)
        name = style.safe(method_words(method, wording))
        figure.add_scatter(
            x=one[across],
            y=one["mean"],
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 4 if method == ours else 2, "dash": dash},
            marker={"symbol": marker, "size": 9},
            error_y={"type": "data", "array": one["sd"], "thickness": 1, "width": 3},
            hovertemplate=f"{name}<br>%{{x:{form}}}: %{{y:.3f}}<extra></extra>",
        )
    style.dress(figure, height=480, x=axis, y=style.safe(metric))
    _name_ends(figure, means, across, wording)
    return figure


def noise_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of the score for each method and level."""
    means = scores.groupby(["method", "level"])["score"].agg(mean="mean", sd="std", n="count")
    return means.fillna({"sd": 0.0}).reset_index()


def _name_ends(figure: go.Figure, means: pd.DataFrame, across: str, wording: str) -> None:
    """Write each method beside the end of its line, tied to it, so that no name covers another."""
    ends = means.sort_values(across).groupby("method").tail(1).sort_values("mean")
    spread = float((means["mean"] + means["sd"]).max() - (means["mean"] - means["sd"]).min())
    line, edge = max(spread, 1e-6) * 0.042, float(means[across].max())
    short = short_title_of if wording == "scientist" else lambda one: method_words(one, wording)
    texts = [style.wrapped(short(method), 15, 3) for method in ends["method"]]
    places = _apart(ends["mean"].tolist(), [line * (1 + text.count("<br>")) for text in texts])
    for method, value, text, place in zip(ends["method"], ends["mean"], texts, places, strict=True):
        figure.add_annotation(
            x=edge,
            y=value,
            ax=edge * 1.06,
            ay=place,
            axref="x",
            ayref="y",
            text=text,
            showarrow=True,
            arrowhead=0,
            arrowwidth=1,
            xanchor="left",
            align="left",
            arrowcolor=style.method_look(method)[0],
            font={"color": style.INK, "size": 11},
        )
    figure.update_xaxes(range=[-0.03 * edge, edge * 1.4], zeroline=False)


def _apart(values: list[float], heights: list[float]) -> list[float]:
    """Places of rising values that keep their heights apart, on average where they were."""
    places, top = [], -np.inf
    for value, height in zip(values, heights, strict=True):
        places.append(max(value, top + height / 2))
        top = places[-1] + height / 2
    shift = float(np.mean(np.subtract(places, values)))
    return [place - shift for place in places]


def survival_heatmap(survival: pd.DataFrame, names: Mapping[str, str], axis: str) -> go.Figure:
    """How much of each clean phenotype is found again at each noise level."""
    means = survival_means(survival)
    rows, levels = np.arange(len(means)), [f"{level:.0%}" for level in means.columns]
    figure = go.Figure(
        go.Heatmap(
            z=means.to_numpy(),
            x=levels,
            y=rows,
            zmin=0,
            zmax=1,
            colorscale=style.HEAT,
            texttemplate="%{z:.2f}",
            colorbar={"title": "similarity"},
            xgap=1,
            ygap=1,
            hovertemplate="%{x}: similarity %{z:.2f}<extra></extra>",
        )
    )
    style.dress(figure, height=style.bars_height(len(means)), x=axis)
    figure.update_xaxes(type="category", showgrid=False)
    return style.name_bars(figure, phenotype_labels(means.index, names))


def survival_means(survival: pd.DataFrame) -> pd.DataFrame:
    """Mean similarity, phenotypes in rows and levels in columns."""
    return survival.groupby(["phenotype", "level"])["cosine"].mean().unstack("level")


def stability_dots(
    summary: pd.DataFrame,
    names: Mapping[str, str],
    words: tuple[str, str] = ("other seeds", "other folds"),
) -> go.Figure:
    """Share of other fits in which each phenotype comes back: other seeds, other folds."""
    order = summary.assign(least=summary[["seeds", "folds"]].min(axis=1))
    order = order.sort_values(["least", "cosine"], ascending=False, ignore_index=True)
    figure = go.Figure()
    for column, word, size, symbol, colour in (
        ("seeds", words[0], 14, "circle-open", style.BLUE),
        ("folds", words[1], 8, "diamond", style.VERMILLION),
    ):
        figure.add_scatter(
            x=order[column],
            y=np.arange(len(order)),
            mode="markers",
            name=word,
            marker={
                "size": size,
                "symbol": symbol,
                "color": colour,
                "line": {"width": 2, "color": colour},
            },
            hovertemplate=f"{word}: found again in %{{x:.0%}}<extra></extra>",
        )
    style.dress(figure, height=style.bars_height(len(order)), legend=True, x="Found again in")
    figure.update_xaxes(range=[-0.03, 1.05], tickformat=".0%")
    return style.name_bars(figure, phenotype_labels(order["phenotype"], names))


def rank_line(table: pd.DataFrame, metric: str, axis: str) -> go.Figure:
    """Score against the number of phenotypes, with one standard deviation."""
    figure = go.Figure(
        go.Scatter(
            x=table["rank"],
            y=table["mean"],
            mode="lines+markers",
            line={"color": style.BLUE, "width": 3},
            marker={"size": 9},
            error_y={"type": "data", "array": table["sd"].fillna(0.0), "thickness": 1},
            hovertemplate=f"{style.safe(axis)} %{{x}}: %{{y:.3f}}<extra></extra>",
        )
    )
    style.dress(figure, height=380, x=axis, y=style.safe(metric))
    figure.update_xaxes(tickvals=table["rank"].tolist())
    return figure


def rank_choice(table: pd.DataFrame, recommended: int, axis: str) -> go.Figure:
    """Stability and error against the number of phenotypes; the recommended one is marked.

    Parameters
    ----------
    table : DataFrame
        rank, stability, least, objective.
    """
    figure = go.Figure()
    for column, name, colour, dash in (
        ("stability", "found again, on average", style.BLUE, "solid"),
        ("least", "found again, the least stable", style.BLUE, "dot"),
        ("objective", "error (right)", style.VERMILLION, "solid"),
    ):
        figure.add_scatter(
            x=table["rank"],
            y=table[column],
            name=name,
            yaxis="y2" if column == "objective" else "y",
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": dash},
            hovertemplate=f"%{{x}}, {name}: %{{y:.4g}}<extra></extra>",
        )
    style.dress(figure, height=400, x=axis, y="Found again", legend=True)
    figure.update_layout(
        yaxis={"range": [0, 1.05], "tickformat": ".0%"},
        yaxis2={"overlaying": "y", "side": "right", "showgrid": False, "title": "Error"},
        margin={"r": 80},
    )
    figure.add_vline(recommended, line={"color": style.GREEN, "dash": "dash"})
    figure.update_xaxes(tickvals=table["rank"].tolist())
    return figure


def recipe_dots(scores: pd.DataFrame, metric: str, wording: str = "scientist") -> go.Figure:
    """Score of each way of measuring similarity: every fold a small dot, the mean a large one."""
    one_test = "single folds" if wording == "scientist" else "single tests"
    recipes = sorted(scores["recipe"].unique(), key=lambda name: (name != "cosine", name))
    figure = go.Figure()
    for place, recipe in enumerate(recipes):
        one = scores.loc[scores["recipe"] == recipe, "score"]
        figure.add_scatter(
            x=one,
            y=[place] * len(one),
            mode="markers",
            name=one_test,
            legendgroup="folds",
            showlegend=place == 0,
            marker={"size": 7, "color": style.GREY, "symbol": "circle-open"},
            hovertemplate="%{x:.3f}<extra></extra>",
        )
        spread = one.std(ddof=1) if len(one) > 1 else 0.0
        figure.add_scatter(
            x=[one.mean()],
            y=[place],
            mode="markers",
            name="mean and its spread",
            legendgroup="mean",
            showlegend=place == 0,
            marker={"size": 15, "color": style.BLUE, "symbol": "diamond"},
            error_x={"type": "data", "array": [spread], "thickness": 2},
            hovertemplate="%{x:.3f}<extra>mean</extra>",
        )
    height = style.bars_height(len(recipes), 60)
    style.dress(figure, height=height, legend=True, x=style.safe(metric))
    if wording != "scientist":
        figure.update_xaxes(tickformat=".0%")
    return style.name_bars(figure, [recipe_words(name, wording) for name in recipes])
