"""Change and refit: a person says what is wrong with a result; it is fitted again from there."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.cards import RunState
from dashboard.store.refit_request import refit_request
from dashboard.text.display import clipped
from dashboard.widgets.experiments import show_progress, start_button
from dashboard.widgets.lineage import step_words
from dashboard.widgets.problems import show_problems
from dashboard.widgets.refresh import follow
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError
from swiftcore.phenotypes.guidance import Drop, Merge, Pin, Seed, Split, Step, feature_modes

OFFERED = 200  # features to choose from, per mode
Feature = tuple[str, str]  # mode and label


def open_refit() -> None:
    """Follow the refit that was started here; open it when it is done."""
    run = state.get(Key.REFIT, "")
    card = next((one for one in cache.runs(kind="fit") if one.id == run), None)
    if card is None:
        return
    if card.state is RunState.DONE:
        state.forget(Key.REFIT)
        state.choose_for_next(dataset=card.dataset, run=run)
        st.rerun()
    if card.state.active:
        st.info("The refit is being computed; it opens here when it is done.")
        follow(lambda runs: show_progress(runs[0]), [run])
    else:
        st.warning(f"The refit: {plain(card.message, 300)}")


def show_refit(summary: FitSummary, chosen: str) -> None:
    """Collect changes of the chosen phenotype and start the refit."""
    if summary.fit.settings["method"] != "swift":
        return
    steps = _steps(summary)
    label = "Change and refit" + (f" ({len(steps)})" if steps else "")
    with st.expander(label, expanded=bool(steps)):
        st.caption(
            f"Say what you see in {chosen}, then go on to the next one. Nothing is computed until "
            "you press Refit, and this result stays as it is."
        )
        _ask_merge(summary, chosen)
        _ask_drop(summary, chosen)
        with st.container(horizontal=True):
            _button("It is two: split it", summary, Split(chosen), "split")
            _button("It is right: keep it as it is", summary, Pin(chosen), "pin")
        _ask_seed(summary)
        if steps:
            _show_steps(summary, steps)


def _ask_merge(summary: FitSummary, chosen: str) -> None:
    others = [name for name in summary.phenotypes if name != chosen]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = st.selectbox(
            f"{chosen} is the same as",
            others,
            index=None,
            placeholder=state.phrase("another phenotype"),
            format_func=lambda name: clipped(summary.title(name), 80),
            width=420,
            key=f"refit.merge.{summary.run}.{chosen}",
        )
        step = Merge(chosen, other) if other else None
        _button("These two are one", summary, step, "merge")


def _ask_drop(summary: FitSummary, chosen: str) -> None:
    component = summary.phenotypes[chosen].component
    with st.container(horizontal=True, vertical_alignment="bottom"):
        feature = st.selectbox(
            f"Does not belong to {chosen}",
            features_of(summary, component),
            index=None,
            placeholder="a feature",
            format_func=_feature_name,
            width=420,
            key=f"refit.drop.{summary.run}.{chosen}",
        )
        step = Drop(chosen, feature[1], feature[0]) if feature else None
        _button("Leave it out", summary, step, "drop")


def _ask_seed(summary: FitSummary) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        features = st.multiselect(
            state.phrase("There is another phenotype, with"),
            features_of(summary),
            placeholder="features of your own choice",
            format_func=_feature_name,
            width=420,
            key=f"refit.seed.{summary.run}.{len(_steps(summary))}",
        )
        step = Seed(tuple(features)) if features else None
        _button("Add it", summary, step, "seed")


def features_of(summary: FitSummary, component: int | None = None) -> list[Feature]:
    """Features that enough rows have, the strongest in a phenotype (or in the data) first."""
    found: list[Feature] = []
    for mode, axis in feature_modes(summary.fit.modes).items():
        factor = summary.fit.factors[axis]
        weights = factor @ summary.fit.factors[0].sum(axis=0)
        if component is not None:
            weights = factor[:, component]
        usable = np.flatnonzero(summary.common(axis) & (weights > 0))
        order = usable[np.argsort(-weights[usable], kind="stable")][:OFFERED]
        found += [(mode, summary.fit.modes[axis].labels[index]) for index in order]
    return found


def _feature_name(feature: Feature) -> str:
    return clipped(f"{feature[1]} ({feature[0]})", 80)


def _button(label: str, summary: FitSummary, step: Step | None, key: str) -> None:
    """Adds a step; nothing is there to be added until one is chosen."""
    steps = _steps(summary)
    st.button(
        label,
        key=f"refit.add.{key}",
        disabled=step is None or step in steps,
        on_click=_set_steps,
        args=(summary.run, (*steps, step)),
    )


def _show_steps(summary: FitSummary, steps: tuple[Step, ...]) -> None:
    """What was said so far, each with its undo; then the start."""
    for place, step in enumerate(steps):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Undo",
                key=f"refit.undo.{place}",
                help=f"Take back change {place + 1}",
                on_click=_set_steps,
                args=(summary.run, steps[:place] + steps[place + 1 :]),
            )
            st.markdown(step_words(step, summary))
    card = cache.store().run(summary.run)
    try:
        request = refit_request(card, summary.fit.modes, summary.fit.factors, steps)
    except SwiftError as error:
        show_problems(error)
        return
    start_button(request, "Refit", "refit.start", lambda run: _started(summary.run, run))


def _started(parent: str, run: str) -> None:
    _set_steps(parent, ())
    state.set(Key.REFIT, run)


def _steps(summary: FitSummary) -> tuple[Step, ...]:
    found: tuple[Step, ...] = state.get(Key.STEPS, {}).get(summary.run, ())
    return found


def _set_steps(run: str, steps: tuple[Step, ...]) -> None:
    state.set(Key.STEPS, {**state.get(Key.STEPS, {}), run: steps})
