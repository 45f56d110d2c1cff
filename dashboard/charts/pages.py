"""An experiment as one HTML page that opens without a network."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboard.charts import prediction, robustness
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.runtime.atomic_file import write_atomic

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)


def write_page(experiment: Experiment, path: Path) -> None:
    """Write the charts of an experiment into one file; the first carries plotly itself."""
    figures = experiment_figures(experiment)
    drawn = {
        caption: figure.to_html(full_html=False, include_plotlyjs=number == 0)
        for number, (caption, figure) in enumerate(figures.items())
    }
    data = experiment.about["data"]
    size = " x ".join(str(length) for length in data["shape"])
    page = _ENVIRONMENT.get_template("experiment.html.j2").render(
        title=experiment.kind.capitalize(),
        data=f"{data['name']}, {size}, {data['entries']:,} entries",
        notes=experiment.about["notes"],
        figures=drawn,
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
