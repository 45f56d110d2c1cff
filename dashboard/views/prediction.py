"""Prediction: which phenotypes go with the outcome, and how well they tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts import prediction as charts
from dashboard.privacy.small_counts import hide_table
from dashboard.session import cache, state
from dashboard.session.shown_from import made_for
from dashboard.store.cards import DatasetCard
from dashboard.text import result_sentences
from dashboard.text.display import clipped
from dashboard.text.wording import NOT_A_CAUSE, capital, plural
from dashboard.widgets import experiments
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.figure import show_figure
from dashboard.widgets.guard import guarded
from dashboard.widgets.settings_chosen import show_settings
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import ModelSpec

CIRCULAR = (
    "These links are of the rows of the fit, and their outcome took part in it: to read them as a "
    "score would be circular. Only scores of rows whose outcome no fit saw count, as those below."
)
SECOND = {"pr_auc": "ROC AUC", "accuracy": "Macro F1"}
HELP = {
    "clinician": (
        "Each bar is one phenotype. To the right: {rows} that have it tend to have the outcome. "
        "To the left: they tend not to."
    ),
    "scientist": "Lasso coefficients on standardised memberships, fitted on all rows.",
}
# what the thin lines are: of results with intervals, and of those from before
LINES = {
    "clinician": (
        "The thin line holds the link that very many such {rows} would give, in 95 of 100 cases.",
        "The thin line shows how much that changes when a part of the data is left out.",
    ),
    "scientist": (
        "Whiskers: 95 % intervals by a jackknife over five groups of rows, at this strength of "
        "the penalty.",
        "Whiskers span the coefficients of the folds.",
    ),
}


def show() -> None:
    """Links of the phenotypes first, then how well they predict, beside other methods."""
    st.title("Prediction")
    if not state.current_dataset():
        nothing_yet("There are no data yet.", "data")
        return
    card = cache.card(state.current_dataset())
    if not card.classes:
        nothing_yet(
            "These data have no outcome, so there is nothing to predict. "
            "Load them again and say which column is the outcome.",
            "data",
        )
        return
    st.markdown(f"Outcome: **{plain(card.outcome_name or 'outcome', 60)}**. {NOT_A_CAUSE}")
    if not cache.is_blind(state.current_run()):  # as is said above the page
        guarded(lambda: _show_links(card))
    guarded(lambda: _show_comparison(card))


def _show_links(card: DatasetCard) -> None:
    st.header("Which phenotypes go with the outcome")
    run = state.current_run()
    if not run:
        nothing_yet("There are no phenotypes of these data yet.", "runs")
        return
    links = cache.fit(run).links
    if links is None or links.tables["links"].empty:
        notes = links.about.get("notes", ()) if links is not None else ()
        st.info(plain(" ".join(notes)) or "This result holds no links to the outcome.")
        return
    table = links.tables["links"]
    if len(card.classes) > 2:
        known = [str(name) for name in table["class"].unique()]
        chosen = st.selectbox("Links towards", known, format_func=clipped, key="links.class")
        table = table[table["class"] == chosen]
    if made_for():
        st.warning(CIRCULAR)
    st.markdown(plain(result_sentences.links(table)))
    lines = LINES[state.wording()][0 if links.about.get("interval") else 1]
    about = f"{HELP[state.wording()]} {lines}"
    st.caption(about.format(rows=plain(plural(card.mode_names[0]), 40)))
    names = experiments.phenotype_names()
    shown = _link_table(table, names, result_sentences.link_ends(links))
    show_figure(
        charts.link_bars(table, names, state.label("link")),
        f"Diverging bars: the link of {len(table)} phenotypes to the outcome. "
        f"{result_sentences.links(table)}",
        shown,
        "links_to_outcome",
    )


def _link_table(table: pd.DataFrame, names: dict[str, str], ends: tuple[str, str]) -> pd.DataFrame:
    order = table.sort_values("weight", ascending=False)
    words = [
        state.label("towards" if weight > 0 else "away" if weight < 0 else "no_link")
        for weight in order["weight"]
    ]
    return pd.DataFrame(
        {
            "Phenotype": order["phenotype"],
            "Name": [names.get(one, "") for one in order["phenotype"]],
            "Direction": words,
            state.label("link"): order["weight"].round(4),
            ends[0]: order["low"].round(4),
            ends[1]: order["high"].round(4),
            "Folds with this direction": order["same_sign"].map("{:.0%}".format),
            "Folds that use it": order["chosen"].map("{:.0%}".format),
        }
    )


def _show_comparison(card: DatasetCard) -> None:
    st.header("How well, beside other methods")
    experiments.show_newest("evaluation", lambda found: _draw_comparison(card, found))


def _shown_spec() -> ModelSpec | None:
    """Of the result chosen at the left."""
    run = state.current_run()
    return cache.store().run(run).request.spec if run else None


def _show_own_score(found: Experiment, spec: ModelSpec | None) -> None:
    """The one number of the result that is shown; without it, what the table is of instead."""
    differs = result_sentences.whose_score(found, spec)
    if differs:
        st.info(plain(differs, 400))
        if spec is not None:
            experiments.start_button(
                experiments.request_for("evaluation"), "Score this result", "score.this"
            )
        return
    score = result_sentences.own_score(found, found.spec.rank if found.spec else 0)
    st.markdown(f"**This result: {plain(score)}**" if score else "This result has no score.")


def _draw_comparison(card: DatasetCard, found: experiments.Found) -> None:
    about, tables = found.experiment.about, found.experiment.tables
    metric, spec = str(about.get("metric_title", "Score")), _shown_spec()
    ours, own = result_sentences.title(found.experiment.ours), found.experiment.spec == spec
    _show_own_score(found.experiment, spec)
    rank = _choose_rank(tables["summary"], found.experiment)
    here = {
        name: table[table["rank"].isin([0, rank])]
        for name, table in tables.items()
        if "rank" in table
    }
    st.markdown(plain(result_sentences.comparison(here["comparison"], metric, ours)))
    second = SECOND.get(str(about.get("metric")), "Second score")
    scores = _score_table(here["summary"], metric, second)
    if own:
        scores["Method"] = scores["Method"].replace(ours, f"{ours} (this result)")
    show_table(scores, f"Scores of {len(scores)} methods, best first")
    chance = _chance(about)
    guess = f"; guessing reaches {chance:.3f}" if chance else ""
    st.caption(f"Mean over rows that took no part in the fit{guess}.")
    download_csv(scores, "scores")
    if len(here["comparison"]):
        st.subheader("Differences, fold by fold")
        _show_differences(here["comparison"], metric, ours)
    _show_curve(card, here, found.experiment)
    with st.expander("Settings that were chosen"):
        show_settings(here["scores"], metric)


def _choose_rank(summary: pd.DataFrame, found: Experiment) -> int:
    ranks = sorted(int(rank) for rank in summary["rank"].unique() if rank)
    if len(ranks) < 2:
        return ranks[0] if ranks else 0
    best = summary[summary["method"] == found.ours].sort_values("mean")["rank"]
    first = found.spec.rank if found.spec else int(best.iloc[-1]) if len(best) else ranks[0]
    start = ranks.index(first) if first in ranks else 0
    return int(st.selectbox(state.label("rank"), ranks, index=start, key="evaluation.rank"))


def _score_table(summary: pd.DataFrame, metric: str, second: str) -> pd.DataFrame:
    order = summary.sort_values("mean", ascending=False)
    return pd.DataFrame(
        {
            "Method": order["method"].map(result_sentences.title),
            capital(metric): order["mean"].round(3),
            "± SD": order["sd"].round(3),
            second: order["second_mean"].round(3),
            "Kind": order["kind"],
            "R": [str(rank) if rank else "" for rank in order["rank"]],
            "Folds": order["n"],
        }
    )


def _show_differences(table: pd.DataFrame, metric: str, ours: str) -> None:
    st.caption(
        f"{ours} minus the other on the same folds, with a 95 % interval. Filled: clear. "
        "Open: the folds cannot tell."
    )
    shown = table.assign(method=table["method"].map(result_sentences.title))
    show_figure(
        charts.difference_dots(table, metric, ours),
        f"Dots with intervals: difference in {metric} between {ours} and {len(table)} others. "
        f"{result_sentences.comparison(table, metric, ours)}",
        shown.round(4).rename(columns=capital),
        "differences",
    )


def _chance(about: Mapping[str, Any]) -> float:
    chance = about.get("chance")
    return float(chance) if isinstance(chance, int | float) else 0.0


def _show_curve(card: DatasetCard, tables: dict[str, pd.DataFrame], found: Experiment) -> None:
    about = found.about
    curves, confusion = tables.get("curves"), tables.get("confusion")
    table = curves if curves is not None else confusion
    if table is None or table.empty:
        return
    binary = curves is not None
    st.subheader("Precision and recall" if binary else "Which class is taken for which")
    methods = sorted(table["method"].unique(), key=lambda name: (name != found.ours, name))
    method = st.selectbox("Method", methods, format_func=result_sentences.title, key="curve.method")
    one = table[table["method"] == method]
    if binary:
        chance = _chance(about)
        show_figure(
            charts.precision_recall(one, chance),
            f"Precision against recall of {result_sentences.title(method)}; "
            f"guessing is at {chance:.2f}.",
            one.drop(columns="method").rename(columns=capital),
            "precision_recall",
        )
        return
    classes = [str(name) for name in about.get("classes") or card.classes]
    counts = hide_table(charts.confusion_counts(one, classes), state.small_cells())
    show_figure(
        charts.confusion(one, classes, state.small_cells()),
        f"Confusion matrix of {result_sentences.title(method)} over {len(classes)} classes.",
        counts.rename_axis("Truth").reset_index(),
        "confusion",
    )
