"""*Choose for me*: ask for settings within a time, see what was tried, start the fit."""

from __future__ import annotations

import streamlit as st

from dashboard.charts import tuning as charts
from dashboard.session import cache, state
from dashboard.session.shown_from import drawn_from
from dashboard.session.state import Key
from dashboard.store.cards import DatasetCard, RunState
from dashboard.store.request import Request
from dashboard.text.tuning_words import chosen_words, setting_words, tried_table
from dashboard.text.wording import capital
from dashboard.widgets.experiments import Found, show_about, start_button
from dashboard.widgets.figure import show_figure
from dashboard.widgets.origin import say_origin
from dashboard.widgets.run_forms import ask_least_class
from dashboard.widgets.tables import show_table
from dashboard.widgets.text import plain
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.evaluation.methods.guided import made_to_predict
from swiftcore.spec import ModelSpec

MINUTES = {2.0: "2 minutes", 10.0: "10 minutes", 60.0: "1 hour"}
RANKS = (5, 10, 20, 30, 40)
WHAT = (
    "Several settings are tried on a part of the rows and judged by the rest. Of those that do "
    "as well as the best, the one whose phenotypes come back most surely is taken, or the simplest."
)
GUIDED = "Let the outcome decide which features weigh more, too"
GUIDED_HELP = (
    "Such phenotypes are made to predict the outcome; how often they go with it says little then."
)


def choose_for_me(card: DatasetCard) -> None:
    """The form, and below it the newest choice for this data set."""
    st.markdown(state.phrase(WHAT))
    if not card.classes:
        st.caption(
            "These data have no outcome, so settings are judged by how well they foresee entries "
            "of rows that were held back."
        )
    minutes = st.segmented_control(
        "Time",
        list(MINUTES),
        default=TuneSettings().minutes,
        format_func=MINUTES.__getitem__,
        required=True,
        key="tune.minutes",
        help="What cannot be tried in this time is left out, the less promising first.",
    )
    settings: dict[str, object] = {"minutes": minutes or TuneSettings().minutes}
    with st.expander("Advanced"):
        settings["ranks"] = st.multiselect(
            state.label("rank"), RANKS, list(TuneSettings().ranks), key="tune.ranks"
        ) or list(TuneSettings().ranks)
        if card.classes:
            settings["guided"] = st.checkbox(
                GUIDED, key="tune.guided", help=state.phrase(GUIDED_HELP)
            )
            settings["least_class_size"] = ask_least_class("tune.least")
    request = Request("tune", card.id, settings)
    start_button(request, "Choose for me", "start.tune", _started)
    run = cache.latest(card.id, "tune")
    if run is None:
        return
    st.divider()
    found = Found(run, cache.experiment(run.id))
    with drawn_from(run.imported):
        say_origin(run.imported)
        _show(found, card)
        show_about(found)


def _show(found: Found, card: DatasetCard) -> None:
    """What was taken and why, the way to its phenotypes, and everything that was tried."""
    about, wording = found.experiment.about, state.wording()
    spec = ModelSpec.from_json(about["spec"])
    st.markdown(f"**Chosen: {plain(state.phrase(chosen_words(spec, wording)), 400)}.**")
    st.markdown(plain(state.phrase(about["reason"]), 600))
    if guided := made_to_predict(spec, card.outcome_name):
        st.warning(plain(guided))
    start_button(
        Request("fit", card.id, spec.plain()),
        state.phrase("Find phenotypes with this"),
        "fit.tuned",
        _opened,
    )
    candidates = found.experiment.tables["candidates"]
    shown = charts.comparable(candidates)
    words = [capital(setting_words(one, wording)) for one in shown["setting"]]
    loss = state.label("loss")
    show_figure(
        charts.loss_dots(shown, words, loss, state.label("rank")),
        state.phrase(
            f"Dots: {loss.lower()} of everything that was tried, by number of phenotypes, with one "
            f"standard error. Chosen: {chosen_words(spec, wording)}."
        ),
        shown.drop(columns="shown").round(4).rename(columns=capital),
        "tune",
    )
    with st.expander("Everything that was tried, and what was not"):
        show_table(tried_table(candidates, loss, wording), "Settings that were tried or left out")


def _started(run: str) -> None:
    state.set(Key.STARTED, run)


def _opened(run: str) -> None:
    state.set(Key.STARTED, run)
    if cache.store().run(run).state is RunState.DONE:
        state.choose(run=run)
