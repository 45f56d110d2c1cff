"""What is being computed, how the last one ended, and the way to its result."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.charts import runs as charts
from dashboard.jobs import jobs
from dashboard.session import cache, selection, state
from dashboard.session.state import Key
from dashboard.store.cards import RunCard, RunState
from dashboard.text.link import PAGE_OF
from dashboard.widgets.experiments import show_progress
from dashboard.widgets.guard import guarded
from dashboard.widgets.refresh import follow
from dashboard.widgets.sidebar import run_title
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError
from swiftcore.progress import duration

KINDS = {
    "fit": "Phenotypes",
    "evaluation": "Comparison",
    "noise": "False entries",
    "ablation": "Similarity",
    "stability": "Fitted again",
    "tune": "Choice of settings",
    "ranks": "How many",
    "projection": "New rows",
}
CHART = 10.0  # seconds between two drawings of the live chart: it costs more than a line of words
MAX_INTERRUPTED = 3  # shown at the top of the page; the history has them all
TUNE_TAB = "Choose for me"  # of the page Runs


def say_started() -> None:
    """What became of the run that was started last in this session."""
    run_id = state.get(Key.STARTED)
    if not run_id:
        return
    ids = {card.id: card for card in cache.runs()}
    run = ids.get(run_id)
    if run is None:
        state.forget(Key.STARTED)
    elif run.state is RunState.DONE:
        how = f"is done ({duration(run.seconds)})" if run.imported is None else "was imported"
        st.success(f"{plain(_what(run), 120)} {how}.")
        look_button(run, "started")
    elif not run.state.active and run.state is not RunState.INTERRUPTED:  # those stand below
        st.warning(f"{plain(_what(run), 120)}: {plain(run.message, 400)}")


def show_active() -> None:
    """The running computation with its chart; those that wait in one line each."""
    follow(_show_all)
    running = [run for run in jobs.active(cache.runs()) if run.state is RunState.RUNNING]
    for run in running:
        if run.kind == "fit":
            st.fragment(lambda run=run: guarded(lambda: _objective(run.id)), run_every=CHART)()


def _show_all(runs: list[RunCard]) -> None:
    for run in runs:
        with st.container(border=True):
            left, right = st.columns([6, 1])
            with left:
                st.markdown(f"**{plain(_what(run), 120)}** · {_dataset_name(run)}")
                show_progress(run)
            with right:
                st.button("Stop", key=f"runs.stop.{run.id}", on_click=_stop, args=(run.id,))


def show_interrupted() -> None:
    """The newest runs whose process ended without a result, each with the way on."""
    left_over = [run for run in cache.runs() if run.state is RunState.INTERRUPTED]
    for run in left_over[:MAX_INTERRUPTED]:
        with st.container(border=True):
            left, right = st.columns([6, 1])
            with left:
                st.markdown(f"**{plain(_what(run), 120)}** · {_dataset_name(run)}")
                st.caption(plain(run.message, 400))
            with right:
                go_on_button(run, "runs")


def go_on_button(run: RunCard, key: str) -> None:
    """One press, and an interrupted run is computed on."""
    st.button("Go on", key=f"{key}.go_on.{run.id}", on_click=_go_on, args=(run,))


def _go_on(run: RunCard) -> None:
    guarded(lambda: jobs.start(cache.store(), run.request))
    state.set(Key.STARTED, run.id)


def go_further_button(run: RunCard, limit: int) -> None:
    """One press, and a fit that ended at its limit is computed on."""
    st.caption(f"It ended at its limit of {limit:,} iterations; it can go on from there.")
    st.button("Go on", key=f"further.{run.id}", on_click=_go_further, args=(run,))


def _go_further(run: RunCard) -> None:
    guarded(lambda: state.set(Key.STARTED, jobs.go_on(cache.store(), run.id)))


def _stop(run: str) -> None:
    guarded(lambda: jobs.cancel(cache.store(), run))
    state.set(Key.STARTED, run)  # so that the page says how it ended


def _what(run: RunCard) -> str:
    """What is computed, with its settings."""
    title = run_title(run)
    return f"{state.phrase(KINDS['fit'])}, {title}" if run.kind == "fit" else title


def _dataset_name(run: RunCard) -> str:
    try:
        return plain(cache.card(run.dataset).name, 40)
    except SwiftError:
        return "deleted data"


def _objective(run_id: str) -> None:
    """The objective so far; a small live chart, its numbers come with the result."""
    run = cache.store().run(run_id)
    history = list((run.progress or {}).get("history") or ())
    if len(history) < 2:
        return
    table = pd.DataFrame({"iteration": range(len(history)), "objective": history})
    axis = state.label("objective")
    st.plotly_chart(
        charts.objective_lines({"": table}, axis),
        theme=None,
        config={"displayModeBar": False},
        key=f"live.{run.id}",
        alt=f"Line: {axis} falls from {history[0]:.4g} to {history[-1]:.4g} in "
        f"{len(history) - 1} iterations.",
    )


def look_button(run: RunCard, key: str) -> None:
    """The way from a finished run to the page that shows it."""
    page = state.page(PAGE_OF[run.kind])
    if st.button("Look at the result", type="primary", key=f"look.{key}"):
        state.forget(Key.STARTED)
        if run.kind == "tune":
            state.set(Key.RUNS_TAB, TUNE_TAB)
        if run.kind == "projection":
            state.set(Key.PROJECTION, run.id)
        fit = selection.fit_of(run)
        if fit is None:
            state.choose_for_next(dataset=run.dataset)
        else:
            state.choose_for_next(dataset=fit.dataset, run=fit.id)
        if page is not None:
            st.switch_page(page)
        st.rerun()
