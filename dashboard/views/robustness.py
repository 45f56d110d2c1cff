"""Robustness: do the phenotypes and their use hold under noise, other fits and settings?"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from dashboard.charts import robustness as charts
from dashboard.session import cache, state
from dashboard.session.shown_from import drawn_from
from dashboard.store.cards import DatasetCard
from dashboard.store.imported import Origin
from dashboard.text import result_sentences
from dashboard.text.glossary import explain
from dashboard.text.method_words import method_words, metric_words, recipe_words
from dashboard.text.wording import capital
from dashboard.widgets import experiments
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.experiments import Found
from dashboard.widgets.figure import show_figure
from dashboard.widgets.guard import guarded
from dashboard.widgets.origin import say_origin
from dashboard.widgets.settings_chosen import show_settings
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError

NO_OUTCOME = (
    "These data have no outcome, so there is no score to follow. The other tabs show whether "
    "the phenotypes themselves hold."
)
NO_SCORES = "This experiment holds no scores."
NOT_TRIED = "not tried yet: its tab can start it."
REPEATED = {  # other starts, other parts of the data
    "clinician": ("another start", "a part of the data"),
    "scientist": ("other seeds", "other folds"),
}


def show() -> None:
    """The answer to every question in one sentence; then one tab per question with its chart."""
    st.title("Robustness")
    if not state.current_dataset():
        nothing_yet("There are no data yet.", "data")
        return
    card = cache.card(state.current_dataset())
    views = {
        "False entries": _noise,
        state.phrase("Phenotypes that survive"): _survival,
        "Found again": _stability,
        state.phrase("Number of phenotypes"): _ranks,
        "Similarity of features": _ablation,
    }
    st.header(
        "In short",
        help=state.phrase(explain("False entries", "Found again", "Similarity")),
        anchor=False,
    )
    _in_short(card, list(views))
    tabs = st.tabs(list(views), on_change="rerun", key="robustness.tab")
    for tab, draw in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab:
                guarded(lambda draw=draw: draw(card))


def _in_short(card: DatasetCard, titles: list[str]) -> None:
    """One line per question; what was not tried is said to be so."""
    answers: list[Callable[[], str]] = [
        lambda: _said("noise", _noise_answer) if card.classes else NO_OUTCOME.partition(".")[0],
        lambda: _said("noise", _survival_answer),
        lambda: _said("stability", _stability_answer),
        lambda: _said("ranks", _rank_answer),
        lambda: _said("ablation", _ablation_answer) if card.classes else "",
    ]
    lines = []
    for title, answer in zip(titles, answers, strict=True):
        try:
            said = answer()
        except SwiftError:
            said = "its stored result cannot be shown; its tab says why."
        if said:
            lines.append(f"- **{title}:** {plain(state.phrase(said.rstrip('.')), 600)}.")
    st.markdown("\n".join(lines))


def _said(kind: str, answer: Callable[[Found], str]) -> str:
    found = experiments.find(kind)
    return NOT_TRIED if found is None else answer(found)


def _scores(found: Found) -> pd.DataFrame:
    """The scores there are."""
    scores = found.experiment.tables.get("scores", pd.DataFrame(columns=["score"]))
    return scores.dropna(subset="score")


def _metric(found: Found) -> str:
    return metric_words(found.experiment.about, state.wording())


def _noise_answer(found: Found) -> str:
    scores, experiment = _scores(found), found.experiment
    if scores.empty:
        return NO_SCORES
    metric, ours = _metric(found), experiment.ours
    return result_sentences.noise(scores, metric, ours, experiment.about, state.wording())


def _survival_answer(found: Found) -> str:
    return result_sentences.survival(found.experiment.tables["survival"], _limit(found))


def _stability_answer(found: Found) -> str:
    return result_sentences.stability(found.experiment.tables["summary"], state.wording())


def _rank_answer(found: Found) -> str:
    return result_sentences.rank_choice(found.experiment.about, state.wording())


def _ablation_answer(found: Found, rank: int = 0) -> str:
    scores = _scores(found)
    if scores.empty:
        return NO_SCORES
    chosen = scores[scores["rank"] == (rank or _full_ranks(scores)[0])]
    about = found.experiment.about
    return result_sentences.ablation(chosen, _metric(found), about, state.wording())


def _limit(found: Found) -> float:
    return float(found.experiment.about.get("found_from") or result_sentences.FOUND_FROM)


def _noise(card: DatasetCard) -> None:
    st.markdown("What happens to the prediction when false entries are added to the data.")
    if not card.classes:
        st.info(state.phrase(NO_OUTCOME))
        return
    experiments.show_newest("noise", _draw_noise)


def _draw_noise(found: Found) -> None:
    scores, metric = _scores(found), _metric(found)
    if scores.empty:
        st.info(NO_SCORES)
        return
    wording, axis = state.wording(), state.label("noise")
    means = charts.noise_means(scores)
    table = means.assign(method=[method_words(one, wording) for one in means["method"]])
    show_figure(
        charts.noise_lines(scores, capital(metric), axis, found.experiment.ours, wording),
        f"Lines: {metric} against the share of false entries. {_noise_answer(found)}",
        _shown(table.drop(columns=[] if wording == "scientist" else ["sd", "n"]).round(3)),
        "noise",
    )
    if "setting" in scores and wording == "scientist":
        with st.expander("Settings that were chosen"):
            show_settings(scores, metric)


def _survival(_: DatasetCard) -> None:
    st.markdown(state.phrase("Which phenotypes are found again when entries are false."))
    experiments.show_newest("noise", _draw_survival)


def _draw_survival(found: Found) -> None:
    survival = found.experiment.tables["survival"]
    if survival.empty:  # the fit to be followed failed; a note says why
        return
    _say_whose(found)
    means = charts.survival_means(survival)
    table = means.rename(columns=lambda level: f"{level:.0%}").round(2).reset_index()
    show_figure(
        charts.survival_heatmap(survival, found.names, state.label("noise")),
        state.phrase(
            "Heatmap: how well each phenotype is found with more and more false entries. "
            f"{_survival_answer(found)}"
        ),
        _shown(table),
        "survival",
    )


def _stability(_: DatasetCard) -> None:
    st.markdown(
        state.phrase(
            "Whether the same phenotypes come back when the computation starts elsewhere or sees "
            "only a part of the data."
        )
    )
    experiments.show_newest("stability", _draw_stability)


def _draw_stability(found: Found) -> None:
    summary = found.experiment.tables["summary"]
    _say_whose(found)
    names, words = found.names, REPEATED[state.wording()]
    named = summary.assign(name=[names.get(one, "") for one in summary["phenotype"]])
    columns = ["phenotype", "name", "seeds", "folds", "cosine"]
    table = named[columns].round(2).rename(columns={"seeds": words[0], "folds": words[1]})
    show_figure(
        charts.stability_dots(summary, names, words),
        state.phrase(
            "Dots: share of repeated computations in which each phenotype is found again. "
            f"{_stability_answer(found)}"
        ),
        _shown(table),
        "stability",
    )
    st.caption(f"Found again: a partner with a similarity of {_limit(found):.2f} or more.")
    with st.expander("Every single match"):
        against = {"seed": words[0], "fold": words[1]}
        matches = found.experiment.tables["matches"]
        shown = matches.drop(columns=[one for one in ("method", "rank") if one in matches])
        shown = _shown(shown.round(2).replace({"against": against}))
        alt = state.phrase("Similarity of each phenotype to its partner in every repetition")
        show_table(shown, alt)
        download_csv(shown, "matches")


def _ranks(card: DatasetCard) -> None:
    st.markdown(state.phrase("How many phenotypes come back, and how much they leave unexplained."))
    experiments.show_newest("ranks", _draw_rank_choice)
    st.divider()
    st.markdown(state.phrase("How the prediction changes with the number of phenotypes."))
    if not card.classes:
        st.info(state.phrase(NO_OUTCOME))
        return
    swept = [one for one in (_rank_table("evaluation"), _rank_table("ablation")) if one is not None]
    if not swept:
        experiments.offer("evaluation")
        return
    table, metric, origin = max(swept, key=lambda one: len(one[0]))
    say_origin(origin)
    answer = state.phrase(result_sentences.ranks(table, metric, state.wording()))
    st.markdown(f"**{plain(answer)}**")
    if len(table) < 2:
        page = state.page("runs")
        if page is not None:
            said = "Try several numbers of phenotypes on the page Runs"
            st.page_link(page, label=state.phrase(said))
    with drawn_from(origin):
        show_figure(
            charts.rank_line(table, capital(metric), state.label("rank")),
            state.phrase(f"Line: {metric} against the number of phenotypes. {answer}"),
            table.round(3).rename(columns=capital),
            "ranks",
        )


def _draw_rank_choice(found: Found) -> None:
    table, about = found.experiment.tables["ranks"], found.experiment.about
    answer = _rank_answer(found)
    show_figure(
        charts.rank_choice(table, int(about["recommended"]), state.label("rank")),
        state.phrase(
            f"Lines: how many come back, and the error, by number of phenotypes. {answer}"
        ),
        table.round(3).rename(columns=capital),
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
    metric = metric_words(found.about, state.wording())
    return (table, metric, run.imported) if len(table) else None


def _ablation(card: DatasetCard) -> None:
    st.markdown(
        "SWIFT is told which features are similar. Does that help? The same computation with the "
        "similarity seen in the data, with none, and with a random one."
    )
    if not card.classes:
        st.info(state.phrase(NO_OUTCOME))
        return
    experiments.show_newest("ablation", _draw_ablation)


def _draw_ablation(found: Found) -> None:
    scores, metric, wording = _scores(found), _metric(found), state.wording()
    if scores.empty:
        st.info(NO_SCORES)
        return
    rank = _chosen_rank(scores)
    scores = scores[scores["rank"] == rank]
    table = scores.assign(recipe=[recipe_words(one, wording) for one in scores["recipe"]])
    columns = table.columns if wording == "scientist" else ["recipe", "score"]
    show_figure(
        charts.recipe_dots(scores, capital(metric), wording),
        f"Dots: {metric} in each test and on average. {_ablation_answer(found, rank)}",
        table[columns].round(3).rename(columns=capital),
        "ablation",
    )


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Under the words of the screen; stored tables call the similarity by its formula."""
    words = {"cosine": "similarity", "phenotype": state.vocabulary().finding}
    return table.rename(columns=words).rename(columns=capital)


def _full_ranks(scores: pd.DataFrame) -> list[int]:
    """The ranks at which several recipes were fitted, as far as there are any; else all."""
    ranks = sorted(int(rank) for rank in scores["rank"].unique())
    full = [rank for rank in ranks if scores[scores["rank"] == rank]["recipe"].nunique() > 1]
    return full or ranks


def _chosen_rank(scores: pd.DataFrame) -> int:
    full = _full_ranks(scores)
    if len(full) > 1:
        return int(st.selectbox(state.label("rank"), full, key="ablation.rank"))
    return full[0]


def _say_whose(found: Found) -> None:
    if not found.names:
        st.caption(
            state.phrase(
                "P01, P02 ... are the phenotypes of this experiment's own computation; they need "
                "not be those of the result chosen at the left."
            )
        )
