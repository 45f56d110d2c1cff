"""Forms that ask for a fit or an experiment."""

from __future__ import annotations

import math
import re
from typing import Any

import streamlit as st

from dashboard.jobs.effort import EFFORTS
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.cards import DatasetCard, RunState
from dashboard.store.request import OF_A_FIT, Request
from dashboard.text.display import clipped
from dashboard.text.method_words import method_words, recipe_words
from dashboard.widgets.experiments import start_button
from dashboard.widgets.feature_costs import COSINE, offered_costs
from dashboard.widgets.problems import show_problems
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError
from swiftcore.evaluation.methods.catalogue import CATALOGUE, MAX_CELLS, title_of
from swiftcore.evaluation.methods.method import Method
from swiftcore.spec import DEFAULTS, SETTINGS, Setting
from swiftcore.spec.cost_text import CostTerm, cost_text

CHANGED_BY_EFFORT = {name for changes in EFFORTS.values() for name in changes}
EFFORT_HELP = (
    "Quick: one computation, a first look. Standard: what 8 computations agree on. "
    "Thorough: what 20 agree on."
)
KINDS = {
    "evaluation": "Compare with other methods",
    "noise": "Add false entries",
    "stability": "Repeat the computation",
    "ranks": "Try several numbers of phenotypes",
    "ablation": "Change the similarity of features",
}
QUESTIONS = {
    "evaluation": "How well do the phenotypes predict the outcome, beside other methods?",
    "noise": "How much do false entries change the prediction and the phenotypes?",
    "stability": "Do the same phenotypes come back with other starts and other rows?",
    "ranks": "How many phenotypes come back, and how much is left over?",
    "ablation": "Does it help that SWIFT is told which features are similar?",
}
AS_USUAL = ""  # the cost of a mode that is chosen for all
NEED_OUTCOME = ("evaluation", "ablation")


def fit_form(card: DatasetCard) -> None:
    """Method, number of phenotypes, effort, everything else behind Advanced; then start."""
    method = _choose_method(card)
    left, right = st.columns(2)
    with left:
        rank = _ask(SETTINGS["rank"], DEFAULTS["rank"], "fit.rank", persist_state="session")
    with right:
        effort = _choose_effort(method)
    changes = EFFORTS[effort or "Standard"].items()
    usual = {**method.spec().plain(), **{k: v for k, v in changes if method.uses(k)}}
    with st.expander("Advanced"):
        chosen = _advanced(method, usual, str(effort), bool(card.classes))
        if method.costs != "none":
            chosen["mode_costs"] = _mode_costs(card)
    cells = math.prod(card.shape)
    if method.every_cell and cells > MAX_CELLS:
        st.warning(
            f"{method.title} looks at every cell of the data, and there are "
            f"{cells / 1e6:,.0f} million: this takes long."
        )
    _start(
        lambda: Request("fit", card.id, {**usual, **chosen, "rank": rank or 1}),
        state.phrase("Find phenotypes"),
        "start.fit",
        open_it=True,
    )


def _choose_effort(method: Method) -> str | None:
    """How many fits are made; of methods that can make only one, the reason."""
    several = method.uses("consensus")
    chosen = st.segmented_control(
        "Effort",
        list(EFFORTS),
        default="Standard",
        required=True,
        disabled=not several,
        help=EFFORT_HELP,
        key="fit.effort",
        persist_state="session",
    )
    if not several:
        st.caption(
            f"{method.title} makes one fit: weights with signs cannot be averaged over fits."
        )
    return chosen


def _choose_method(card: DatasetCard) -> Method:
    """Any factorization; those that learn from an outcome only where there is one."""
    known = [
        key
        for key, method in CATALOGUE.items()
        if method.is_factorization and (card.classes or not method.needs_labels)
    ]
    key = st.selectbox(
        state.label("method"),
        known,
        format_func=title_of,
        help="SWIFT, or one of the methods it is compared with.",
        width=420,
        key="fit.method",
        persist_state="session",
    )
    return CATALOGUE[key or known[0]]


def _advanced(method: Method, usual: dict[str, Any], effort: str, outcome: bool) -> dict[str, Any]:
    """All other settings that the method uses; they begin where the effort puts them."""
    asked = [one for name, one in SETTINGS.items() if one.in_form and name != "rank"]
    asked = [one for one in asked if method.uses(one.name)]
    if not outcome:
        asked = [one for one in asked if "outcome" not in one.name]
    numbers = [one for one in asked if one.offered]
    others = [one for one in asked if not one.offered]
    chosen: dict[str, Any] = {}
    for column, settings in zip(st.columns(2), (numbers, others), strict=True):
        with column:
            for one in settings:
                moved = one.name in CHANGED_BY_EFFORT  # then it begins anew with the effort
                key = f"fit.{one.name}.{effort}" if moved else f"fit.{one.name}"
                if method.spec().plain()[one.name] != one.default:  # so it does with the method
                    key = f"{key}.{method.key}"
                chosen[one.name] = _ask(one, usual[one.name], key)
    return chosen


def _mode_costs(card: DatasetCard) -> dict[str, str]:
    """For each kind of features, what they are compared by; the usual way is left out."""
    costs = {}
    for axis, mode in enumerate(card.mode_names[1:], 1):
        offers = {AS_USUAL: "the same as for all"}
        offers |= offered_costs(card.id, axis)
        if len(offers) == 2:  # nothing but the rows
            continue
        text = st.selectbox(
            f"{state.label('costs')}: {clipped(mode)}",
            list(offers),
            format_func=lambda each, offers=offers: clipped(offers[each], 80),
            key=f"fit.cost.{card.id}.{axis}",
            help="Bring a similarity of your own on the page Data.",
        )
        if text not in (None, AS_USUAL, COSINE):
            share = st.slider(
                f"Its share for {clipped(mode)}, in percent; the rest by the rows that have them",
                5,
                100,
                100,
                5,
                key=f"fit.cost_share.{card.id}.{axis}",
            )
            text = blended(str(text), share)
        if text not in (None, AS_USUAL):
            costs[mode] = str(text)
    return costs


def blended(text: str, percent: int) -> str:
    """A cost with a share in percent, the rest cosine."""
    if percent >= 100:
        return text
    return cost_text([CostTerm(percent / 100, text), CostTerm((100 - percent) / 100, COSINE)])


def _ask(setting: Setting, value: Any, key: str, **more: Any) -> Any:
    """The widget for one setting, whatever its kind."""
    words, about = state.label(setting.name), {"help": setting.help, "key": key, **more}
    if setting.choices:
        if setting.name == "costs":
            said = {one: recipe_words(one, state.wording()) for one in setting.choices}
            about["format_func"] = said.__getitem__
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
        st.selectbox(
            "Experiment",
            known,
            format_func={one: state.phrase(KINDS[one]) for one in known}.__getitem__,
            key="experiment.kind",
        )
    )
    st.markdown(state.phrase(QUESTIONS[kind]))
    if not card.classes:
        st.caption("These data have no outcome; experiments that predict one are not offered.")
    run = state.current_run()
    bound = bool(run) and (kind in OF_A_FIT or _asks_for_this_result())
    settings: dict[str, Any] = {}
    if kind not in ("stability", "ranks"):  # they try one setting
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
        verb = "follows" if kind in OF_A_FIT else "judges"
        said = f"It {verb} the {rank} phenotypes of the result chosen at the left."
        st.caption(state.phrase(said))
        settings["ranks"] = [rank]
    elif kind in OF_A_FIT:
        settings["ranks"] = [
            int(st.number_input(state.label("rank"), 1, 999, 10, key="experiment.rank"))
        ]
    else:
        several = kind == "ranks"  # the question itself
        key = "experiment.several" if several else "experiment.ranks"
        settings["ranks"] = _ranks("5, 10, 20" if several else "10", key)
    with st.expander("Advanced"):
        settings |= _more(kind, card, bound)
    if not settings["ranks"]:
        st.info(state.phrase("Give at least one number of phenotypes, for example 5, 10, 20."))
        return
    _start(
        lambda: Request(kind, card.id, settings, run if bound else ""),
        "Start the experiment",
        "start.experiment",
    )


def _asks_for_this_result() -> bool:
    """Whether the result at the left is judged as it is, or settings are chosen anew."""
    judged = {"this": "the result chosen at the left", "chosen": "settings chosen along the way"}
    asked = st.radio(
        "What is judged",
        list(judged),
        format_func=judged.__getitem__,
        index=1,
        horizontal=True,
        key="experiment.judged",
        help="As it is, or SWIFT with the settings that suit rows held back for the choice.",
    )
    return asked == "this"


def _ranks(usual: str, key: str) -> list[int]:
    typed = st.text_input(
        f"{state.label('rank')}, one or several",
        usual,
        max_chars=100,
        key=key,
        help="For example 5, 10, 20",
    )
    parts = [one for one in re.split(r"[,; ]+", typed or "") if one]
    wrong = [one for one in parts if not (one.isdecimal() and 0 < int(one) < 1000)]
    if wrong:
        st.warning(f"Not a whole number from 1 to 999: {plain(', '.join(wrong), 100)}.")
        return []
    return sorted({int(one) for one in parts})


def _more(kind: str, card: DatasetCard, bound: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if kind in ("evaluation", "noise") and card.classes:
        chosen["methods"] = st.multiselect(
            "Methods (none chosen: all that fit these data)",
            list(CATALOGUE),
            format_func={key: method_words(key, state.wording()) for key in CATALOGUE}.__getitem__,
            key="experiment.methods",
        )
        if chosen["methods"] and "swift" not in chosen["methods"]:
            chosen["methods"] = ["swift", *chosen["methods"]]
    left, right = st.columns(2)
    with left:
        chosen["folds"] = int(
            st.number_input(state.label("folds"), 3, 20, 5, key="experiment.folds")
        )
        if kind not in ("stability", "ranks"):
            chosen |= _splits(card)
    with right:
        if not bound:  # the seed is that of the fit then
            chosen["seed"] = int(
                st.number_input(state.label("seed"), 0, 2**31 - 1, 0, key="experiment.seed")
            )
        if kind == "noise":
            chosen["draws"] = int(
                st.number_input(
                    "How often entries are falsified anew", 1, 20, 2, key="experiment.draws"
                )
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


def _splits(card: DatasetCard) -> dict[str, int]:
    """Which rows take part, and how often they are split."""
    rows = card.shape[0]
    chosen = {
        "repeats": st.number_input("Repeats", 1, 20, 1, key="experiment.repeats"),
        "least_class_size": ask_least_class("experiment.least"),
        "subsets": st.number_input(
            "Random subsets (0: all rows)",
            0,
            20,
            0,
            key="experiment.subsets",
            help="Each subset is split and tested by itself; results are over all of them.",
        ),
    }
    if chosen["subsets"]:
        chosen["subset_size"] = st.number_input(
            "Rows of each subset", 1, rows, max(1, rows // 2), key="experiment.subset_size"
        )
    return {name: int(value) for name, value in chosen.items()}


def ask_least_class(key: str) -> int:
    """Which classes are too small to take part."""
    words = "Leave out classes with fewer rows than (0: none)"
    return int(st.number_input(words, 0, 10_000, 0, key=key))


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
