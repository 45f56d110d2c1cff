"""An experiment as one HTML page that opens without a network."""

from __future__ import annotations

from html import escape
from pathlib import Path

import plotly.graph_objects as go

from dashboard.charts import prediction, robustness
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.runtime.atomic_file import write_atomic

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font-family:sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}}
figure{{margin:0 0 2rem}}</style></head>
<body><h1>{title}</h1><p>{data}</p>{notes}{figures}</body></html>
"""


def write_page(experiment: Experiment, path: Path) -> None:
    """Write the charts of an experiment into one file; the first carries plotly itself."""
    figures = experiment_figures(experiment)
    pieces = []
    for number, (caption, figure) in enumerate(figures.items()):
        drawn = figure.to_html(full_html=False, include_plotlyjs=number == 0)
        pieces.append(f"<figure><figcaption>{escape(caption)}</figcaption>{drawn}</figure>")
    data = experiment.about["data"]
    notes = "".join(f"<p>{escape(note)}</p>" for note in experiment.about["notes"])
    size = " x ".join(str(length) for length in data["shape"])
    page = PAGE.format(
        title=escape(experiment.kind.capitalize()),
        data=escape(f"{data['name']}, {size}, {data['entries']:,} entries"),
        notes=notes,
        figures="".join(pieces),
    )
    write_atomic(path, page.encode())


def experiment_figures(experiment: Experiment) -> dict[str, go.Figure]:
    """Captions and charts, most telling first."""
    tables, metric = experiment.tables, str(experiment.about.get("metric_title", "score"))
    found: dict[str, go.Figure] = {}
    if experiment.kind == "evaluation":
        return _evaluation(experiment, metric)
    if experiment.kind == "noise" and "scores" in tables:
        scores = tables["scores"]
        for rank in sorted(set(scores["rank"]) - {0}) or [0]:  # classifiers stand beside every rank
            caption = f"Score against noise, {rank} components" if rank else "Score against noise"
            beside = scores[scores["rank"].isin([0, rank])]
            found[caption] = robustness.noise_lines(beside, metric, "noise")
    if experiment.kind == "noise":
        for rank, table in tables["survival"].groupby("rank"):
            found[f"Phenotypes found again, {rank} components"] = robustness.survival_heatmap(
                table, {}, "noise"
            )
    if experiment.kind == "ablation":
        for method, table in tables["scores"].groupby("method"):
            caption = f"Cost matrices, {title_of(str(method))}"
            found[caption] = robustness.recipe_dots(table, metric)
    if experiment.kind == "stability":
        for (method, rank), table in tables["summary"].groupby(["method", "rank"], sort=False):
            caption = f"Phenotypes found again, {title_of(str(method))}, {rank} components"
            found[caption] = robustness.stability_dots(table, {})
    return found


def _evaluation(experiment: Experiment, metric: str) -> dict[str, go.Figure]:
    tables, found = experiment.tables, {}
    summary, comparison = tables["summary"], tables["comparison"]
    if summary.loc[summary["rank"] > 0, "rank"].nunique() > 1:
        found["Score by number of components"] = robustness.rank_lines(
            summary, metric, "number of components"
        )
    for rank in sorted(comparison["rank"].unique()):
        caption = f"SWIFT minus other methods, {rank} components"
        one = comparison[comparison["rank"] == rank]
        found[caption] = prediction.difference_dots(one, metric)
    for (method, rank), _ in summary.groupby(["method", "rank"], sort=False):
        caption = f"{title_of(str(method))}, {rank} components" if rank else (title_of(str(method)))
        if method != "swift":
            continue
        if "curves" in tables:
            table = tables["curves"]
            lines = table[(table["method"] == method) & (table["rank"] == rank)]
            found[caption] = prediction.precision_recall(lines, float(experiment.about["chance"]))
        else:
            table = tables["confusion"]
            counts = table[(table["method"] == method) & (table["rank"] == rank)]
            found[caption] = prediction.confusion(counts, experiment.about["classes"])
    return found
