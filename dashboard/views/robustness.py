"""Robustness: do the phenotypes and their use hold under noise, other fits and settings?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.charts import robustness as charts
from dashboard.session import cache, state
from dashboard.session.shown_from import drawn_from
from dashboard.store.cards import DatasetCard
from dashboard.store.imported import Origin
from dashboard.text import result_sentences
from dashboard.text.wording import capital
from dashboard.widgets import experiments
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.figure import show_figure
from dashboard.widgets.guard import guarded
from dashboard.widgets.origin import say_origin
from dashboard.widgets.settings_chosen import show_settings
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain

NO_OUTCOME = (
    "These data have no outcome, so there is no score to follow. The other tabs show whether "
    "the phenotypes themselves hold."
)
NO_SCORES = "This experiment holds no scores."


def show() -> None:
    """One tab per question; each begins with its answer."""
    st.title("Robustness")
    if not state.current_dataset():
        nothing_yet("There are no data yet.", "data")
        return
    card = cache.card(state.current_dataset())
    views = {
        "False entries": _noise,
        "Phenotypes that survive": _survival,
        "Other fits": _stability,
        "Number of phenotypes": _ranks,
        "Similarity of features": _ablation,
    }
    tabs = st.tabs(list(views), on_change="rerun", key="robustness.tab")
    for tab, draw in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab:
                guarded(lambda draw=draw: draw(card))


def _noise(card: DatasetCard) -> None:
    st.write("What happens to the prediction when false entries are added to the data.")
    if not card.classes:
        st.info(NO_OUTCOME)
        return
    experiments.show_newest("noise", _draw_noise)


def _draw_noise(found: experiments.Found) -> None:
    scores = found.experiment.tables.get("scores", pd.DataFrame(columns=["score"]))
    scores = scores.dropna(subset="score")
    if scores.empty:
        st.info(NO_SCORES)
        return
    metric = _metric(found)
    ours = found.experiment.ours
    answer = result_sentences.noise(scores, metric, ours)
    st.markdown(f"**{plain(answer)}**")
    means = charts.noise_means(scores)
    table = means.assign(method=means["method"].map(result_sentences.title)).round(4)
    show_figure(
        charts.noise_lines(scores, capital(metric), state.label("noise"), ours),
        f"Lines: {metric} against the share of false entries. {answer}",
        table.rename(columns=capital),
        "noise",
    )
    if "setting" in scores:
        with st.expander("Settings that were chosen"):
            show_settings(scores, metric)


def _survival(_: DatasetCard) -> None:
    st.markdown("Which phenotypes are found again when entries are false.")
    experiments.show_newest("noise", _draw_survival)


def _draw_survival(found: experiments.Found) -> None:
    survival = found.experiment.tables["survival"]
    limit = float(found.experiment.about.get("found_from") or result_sentences.FOUND_FROM)
    answer = result_sentences.survival(survival, limit)
    st.markdown(f"**{plain(answer)}**")
    if survival.empty:  # the fit to be followed failed; a note says why
        return
    _say_whose(found)
    means = charts.survival_means(survival)
    table = means.rename(columns=lambda level: f"{level:.0%}").round(3).reset_index()
    show_figure(
        charts.survival_heatmap(survival, found.names, state.label("noise")),
        f"Heatmap: how well each phenotype is found at each noise level. {answer}",
        table.rename(columns=capital),
        "survival",
    )


def _stability(_: DatasetCard) -> None:
    st.markdown(
        "Whether the same phenotypes come back when the computation starts elsewhere "
        "(other seeds) or sees only a part of the rows (other folds)."
    )
    experiments.show_newest("stability", _draw_stability)


def _draw_stability(found: experiments.Found) -> None:
    summary = found.experiment.tables["summary"]
    answer = result_sentences.stability(summary)
    st.markdown(f"**{plain(answer)}**")
    _say_whose(found)
    names = found.names
    table = summary.assign(name=[names.get(one, "") for one in summary["phenotype"]]).round(3)
    show_figure(
        charts.stability_dots(summary, names),
        f"Dots: share of other fits in which each phenotype is found again. {answer}",
        _shown(table),
        "stability",
    )
    limit = float(found.experiment.about.get("found_from") or result_sentences.FOUND_FROM)
    st.caption(f"Found again: a partner with a similarity of {limit:g} or more.")
    with st.expander("Every single match"):
        matches = _shown(found.experiment.tables["matches"].round(3))
        show_table(matches, "Similarity of each phenotype to its partner in every other fit")
        download_csv(matches, "matches")


def _ranks(card: DatasetCard) -> None:
    st.markdown("How many phenotypes come back from fit to fit, and how much they leave over.")
    experiments.show_newest("ranks", _draw_rank_choice)
    st.divider()
    st.markdown("How the prediction changes with the number of phenotypes.")
    if not card.classes:
        st.info(NO_OUTCOME)
        return
    swept = [one for one in (_rank_table("evaluation"), _rank_table("ablation")) if one is not None]
    if not swept:
        experiments.offer("evaluation")
        return
    table, metric, origin = max(swept, key=lambda one: len(one[0]))
    say_origin(origin)
    answer = result_sentences.ranks(table, metric)
    st.markdown(f"**{plain(answer)}**")
    if len(table) < 2:
        page = state.page("runs")
        if page is not None:
            st.page_link(page, label="Try several numbers of phenotypes on the page Runs")
    with drawn_from(origin):
        show_figure(
            charts.rank_line(table, capital(metric), state.label("rank")),
            f"Line: {metric} against the number of phenotypes. {answer}",
            table.round(4).rename(columns=capital),
            "ranks",
        )


def _draw_rank_choice(found: experiments.Found) -> None:
    table, about = found.experiment.tables["ranks"], found.experiment.about
    st.markdown(f"**{plain(about['reason'], 300)}**")
    show_figure(
        charts.rank_choice(table, int(about["recommended"]), state.label("rank")),
        f"Lines: stability and error against the number of phenotypes. {about['reason']}",
        table.round(4).rename(columns=capital),
        "rank_choice",
    )


def _rank_table(kind: str) -> tuple[pd.DataFrame, str, Origin | None] | None:
    """rank, mean, sd, n of SWIFT with cosine costs from the newest experiment of a kind."""
    run = cache.latest(state.current_dataset(), kind)
    if run is None:
        return None
    found = cache.experiment(run.id)
    scores = found.tables["scores"]
    key, value = ("method", found.ours) if kind == "evaluation" else ("recipe", "cosine")
    mine = scores[scores[key] == value].groupby("rank")["score"]
    table = mine.agg(mean="mean", sd="std", n="count").dropna(subset="mean").reset_index()
    metric = str(found.about.get("metric_title", "Score"))
    return (table, metric, run.imported) if len(table) else None


def _ablation(card: DatasetCard) -> None:
    st.markdown(
        "What it adds that SWIFT knows which features are similar: the same fit with the "
        "similarity seen in the data, with none, and with a random one."
    )
    if not card.classes:
        st.info(NO_OUTCOME)
        return
    experiments.show_newest("ablation", _draw_ablation)


def _draw_ablation(found: experiments.Found) -> None:
    scores, metric = found.experiment.tables["scores"].dropna(subset="score"), _metric(found)
    if scores.empty:
        st.info(NO_SCORES)
        return
    scores = scores[scores["rank"] == _chosen_rank(scores)]
    answer = result_sentences.ablation(scores, metric)
    st.markdown(f"**{plain(answer)}**")
    table = scores.assign(
        recipe=[result_sentences.RECIPE_TITLES.get(one, one) for one in scores["recipe"]]
    )
    show_figure(
        charts.recipe_dots(scores, capital(metric)),
        f"Dots: {metric} of each fold and their mean for each similarity. {answer}",
        table.round(4).rename(columns=capital),
        "ablation",
    )


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Under the words of the screen; stored tables call the similarity by its formula."""
    return table.rename(columns={"cosine": "similarity"}).rename(columns=capital)


def _chosen_rank(scores: pd.DataFrame) -> int:
    """One of the ranks at which several recipes were fitted, as far as there are any."""
    ranks = sorted(int(rank) for rank in scores["rank"].unique())
    full = [rank for rank in ranks if scores[scores["rank"] == rank]["recipe"].nunique() > 1]
    if len(full) > 1:
        return int(st.selectbox(state.label("rank"), full, key="ablation.rank"))
    return (full or ranks)[0]


def _metric(found: experiments.Found) -> str:
    return str(found.experiment.about.get("metric_title", "Score"))


def _say_whose(found: experiments.Found) -> None:
    if not found.names:
        st.caption(
            "P01, P02 ... are the phenotypes of this experiment's own fit; they need not "
            "be those of the result chosen at the left."
        )
