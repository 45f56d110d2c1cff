"""An experiment as one HTML page that opens without a network."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboard.charts import prediction, robustness, tuning
from dashboard.text.tuning_words import chosen_words, setting_words, tried_table
from dashboard.text.wording import label
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.spec import ModelSpec

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)

TITLES = {"tune": "Choice of settings"}


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
        title=TITLES.get(experiment.kind, experiment.kind.capitalize()),
        data=f"{data['name']}, {size}, {data['entries']:,} entries",
        notes=[*_answer(experiment), *experiment.about["notes"]],
        figures=drawn,
        table=_table(experiment),
    )
    write_atomic(path, page.encode())


def _answer(experiment: Experiment) -> list[str]:
    """What was chosen, and why."""
    about = experiment.about
    if "spec" not in about:
        return []
    return [f"Chosen: {chosen_words(ModelSpec.from_json(about['spec']))}.", str(about["reason"])]


def _table(experiment: Experiment) -> list[list[str]]:
    """Headings, then one line for each candidate of a search."""
    if experiment.kind != "tune":
        return []
    table = tried_table(experiment.tables["candidates"], label("loss", "scientist"))
    lines = [["" if cell != cell else str(cell) for cell in line] for line in table.values.tolist()]
    return [list(table), *lines]


def experiment_figures(experiment: Experiment) -> dict[str, go.Figure]:
    """Captions and charts, most telling first."""
    tables, metric = experiment.tables, str(experiment.about.get("metric_title", "score"))
    found: dict[str, go.Figure] = {}
    if experiment.kind == "evaluation":
        return _evaluation(experiment, metric)
    if experiment.kind == "tune":
        shown = tuning.comparable(tables["candidates"])
        words = [setting_words(one) for one in shown["setting"]]
        loss, rank = label("loss", "scientist"), label("rank", "scientist")
        return {"What was tried": tuning.loss_dots(shown, words, loss, rank)}
    if experiment.kind == "noise" and "scores" in tables:
        scores = tables["scores"]
        for rank in sorted(set(scores["rank"]) - {0}) or [0]:  # classifiers stand beside every rank
            caption = f"Score against noise, {rank} components" if rank else "Score against noise"
            beside = scores[scores["rank"].isin([0, rank])]
            found[caption] = robustness.noise_lines(beside, metric, "noise", experiment.ours)
    if experiment.kind == "noise":
        for rank, table in tables["survival"].groupby("rank"):
            found[f"Found again, {rank} components"] = robustness.survival_heatmap(
                table, {}, "noise"
            )
    if experiment.kind == "ablation":
        for method, table in tables["scores"].groupby("method"):
            caption = f"Cost matrices, {title_of(str(method))}"
            found[caption] = robustness.recipe_dots(table, metric)
    if experiment.kind == "stability":
        for (method, rank), table in tables["summary"].groupby(["method", "rank"], sort=False):
            caption = f"Found again, {title_of(str(method))}, {rank} components"
            found[caption] = robustness.stability_dots(table, {})
    if experiment.kind == "ranks":
        found["Stability and error by number of components"] = robustness.rank_choice(
            tables["ranks"], int(experiment.about["recommended"]), "number of components"
        )
    return found


def _evaluation(experiment: Experiment, metric: str) -> dict[str, go.Figure]:
    tables, found, ours = experiment.tables, {}, title_of(experiment.ours)
    summary, comparison = tables["summary"], tables["comparison"]
    if summary.loc[summary["rank"] > 0, "rank"].nunique() > 1:
        found["Score by number of components"] = robustness.rank_lines(
            summary, metric, "number of components"
        )
    for rank in sorted(comparison["rank"].unique()):
        caption = f"{ours} minus other methods, {rank} components"
        one = comparison[comparison["rank"] == rank]
        found[caption] = prediction.difference_dots(one, metric, ours)
    for (method, rank), _ in summary.groupby(["method", "rank"], sort=False):
        caption = f"{title_of(str(method))}, {rank} components" if rank else (title_of(str(method)))
        if method != experiment.ours:
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
