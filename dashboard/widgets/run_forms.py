"""Forms that ask for a fit or an experiment."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.cards import DatasetCard, RunState
from dashboard.store.request import OF_A_FIT, Request
from dashboard.widgets.experiments import start_button
from dashboard.widgets.problems import show_problems
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.spec import DEFAULTS, SETTINGS, Setting

# What each effort changes in the usual settings.
EFFORTS: dict[str, dict[str, Any]] = {
    "Quick": {"max_iterations": 25, "n_restarts": 1, "tolerance": 1e-4},
    "Standard": {},
    "Thorough": {"max_iterations": 200, "n_restarts": 8, "tolerance": 1e-6, "dtype": "float64"},
}
CHANGED_BY_EFFORT = {name for changes in EFFORTS.values() for name in changes}
EFFORT_HELP = (
    "Quick: a first look. Standard: for work. Thorough: more rounds, more starts, more digits."
)
KINDS = {
    "evaluation": "Compare with other methods",
    "noise": "Add false entries",
    "stability": "Fit again and again",
    "ablation": "Change the similarity of features",
}
QUESTIONS = {
    "evaluation": "How well do the phenotypes predict the outcome, beside other methods?",
    "noise": "How much do false entries change the prediction and the phenotypes?",
    "stability": "Do the same phenotypes come back with other starts and other rows?",
    "ablation": "What does it add that SWIFT knows which features are similar?",
}
NEED_OUTCOME = ("evaluation", "ablation")


def fit_form(card: DatasetCard) -> None:
    """Number of phenotypes, effort, everything else behind Advanced; then start."""
    left, right = st.columns(2)
    with left:
        rank = _ask(SETTINGS["rank"], DEFAULTS["rank"], "fit.rank", persist_state="session")
    with right:
        effort = st.segmented_control(
            "Effort",
            list(EFFORTS),
            default="Standard",
            required=True,
            help=EFFORT_HELP,
            key="fit.effort",
            persist_state="session",
        )
    usual = {**DEFAULTS, **EFFORTS[effort or "Standard"]}
    with st.expander("Advanced"):
        chosen = _advanced(usual, str(effort), bool(card.classes))
    _start(
        lambda: Request("fit", card.id, {**usual, **chosen, "rank": rank or 1}),
        "Find phenotypes",
        "start.fit",
        open_it=True,
    )


def _advanced(usual: dict[str, Any], effort: str, outcome: bool) -> dict[str, Any]:
    """All other settings of the form; they begin where the effort puts them."""
    asked = [one for name, one in SETTINGS.items() if one.in_form and name != "rank"]
    if not outcome:
        asked = [one for one in asked if one.name != "label_weighting"]
    numbers = [one for one in asked if one.offered]
    others = [one for one in asked if not one.offered]
    chosen: dict[str, Any] = {}
    for column, settings in zip(st.columns(2), (numbers, others), strict=True):
        with column:
            for one in settings:
                moved = one.name in CHANGED_BY_EFFORT  # then it begins anew with the effort
                key = f"fit.{one.name}.{effort}" if moved else f"fit.{one.name}"
                chosen[one.name] = _ask(one, usual[one.name], key)
    return chosen


def _ask(setting: Setting, value: Any, key: str, **more: Any) -> Any:
    """The widget for one setting, whatever its kind."""
    words, about = state.label(setting.name), {"help": setting.help, "key": key, **more}
    if setting.choices:
        return st.selectbox(words, setting.choices, setting.choices.index(value), **about)
    if isinstance(setting.default, bool):
        return st.checkbox(words, value, **about)
    kind = type(setting.default)
    low, high = (kind(end) for end in setting.offered or (0, 1))
    if kind is float:
        about |= {"format": "%g", "step": value / 10 or 0.5}
    return kind(st.number_input(words, low, high, value, **about) or low)


def experiment_form(card: DatasetCard) -> None:
    """Which question, how much effort, which methods and ranks; then start."""
    known = [kind for kind in KINDS if card.classes or kind not in NEED_OUTCOME]
    kind = str(
        st.selectbox("Experiment", known, format_func=KINDS.__getitem__, key="experiment.kind")
    )
    st.markdown(QUESTIONS[kind])
    if not card.classes:
        st.caption("These data have no outcome; experiments that predict one are not offered.")
    run = state.current_run()
    bound = bool(run) and kind in OF_A_FIT
    settings: dict[str, Any] = {}
    if kind != "stability":  # it tries one setting
        settings["quick"] = (
            st.segmented_control(
                "Effort",
                ["Quick", "Thorough"],
                default="Quick",
                required=True,
                key="experiment.effort",
                help="Quick tries few settings of each method, Thorough those of the paper.",
            )
            != "Thorough"
        )
    if bound:
        rank = cache.store().run(run).request.settings["rank"]
        st.caption(f"It follows the {rank} phenotypes of the result chosen at the left.")
        settings["ranks"] = [rank]
    elif kind in OF_A_FIT:
        settings["ranks"] = [
            int(st.number_input(state.label("rank"), 1, 999, 10, key="experiment.rank"))
        ]
    else:
        settings["ranks"] = _ranks()
    with st.expander("Advanced"):
        settings |= _more(kind, bool(card.classes), bound)
    if not settings["ranks"]:
        st.info("Give at least one number of phenotypes, for example 5, 10, 20.")
        return
    _start(
        lambda: Request(kind, card.id, settings, run if bound else ""),
        "Start the experiment",
        "start.experiment",
    )


def _ranks() -> list[int]:
    typed = st.text_input(
        f"{state.label('rank')}, one or several",
        "10",
        max_chars=100,
        key="experiment.ranks",
        help="For example 5, 10, 20",
    )
    parts = [one for one in re.split(r"[,; ]+", typed or "") if one]
    wrong = [one for one in parts if not (one.isdecimal() and 0 < int(one) < 1000)]
    if wrong:
        st.warning(f"Not a whole number from 1 to 999: {plain(', '.join(wrong), 100)}.")
        return []
    return sorted({int(one) for one in parts})


def _more(kind: str, outcome: bool, bound: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if kind in ("evaluation", "noise") and outcome:
        chosen["methods"] = st.multiselect(
            "Methods (none chosen: all that fit these data)",
            list(CATALOGUE),
            format_func=lambda key: f"{CATALOGUE[key].title} ({CATALOGUE[key].kind})",
            key="experiment.methods",
        )
        if chosen["methods"] and "swift" not in chosen["methods"]:
            chosen["methods"] = ["swift", *chosen["methods"]]
    left, right = st.columns(2)
    with left:
        chosen["folds"] = int(st.number_input("Folds", 3, 20, 5, key="experiment.folds"))
        if kind != "stability":
            chosen["repeats"] = int(st.number_input("Repeats", 1, 20, 1, key="experiment.repeats"))
    with right:
        if not bound:  # the seed is that of the fit then
            chosen["seed"] = int(
                st.number_input(state.label("seed"), 0, 2**31 - 1, 0, key="experiment.seed")
            )
        if kind == "noise":
            chosen["draws"] = int(
                st.number_input("Draws of the noise", 1, 20, 2, key="experiment.draws")
            )
    if kind == "noise":
        steps = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5]
        chosen["levels"] = (
            sorted(
                st.multiselect(
                    state.label("noise"),
                    steps,
                    steps[:6],
                    format_func="{:.0%}".format,
                    key="experiment.levels",
                )
            )
            or steps[:6]
        )
    return chosen


def _start(request: Any, label: str, key: str, *, open_it: bool = False) -> None:
    """Start a request; a stored answer is opened at once."""
    try:
        asked = request() if callable(request) else request
    except SwiftError as error:
        show_problems(error)
        return

    def started(run: str) -> None:
        card = cache.store().run(run)
        state.set(Key.STARTED, run)
        if open_it and card.state is RunState.DONE:
            state.choose(run=run)

    start_button(asked, label, key, started)
