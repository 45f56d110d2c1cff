"""Runs: compute, watch, stop, compare, delete, share."""

from __future__ import annotations

import time

import pandas as pd
import streamlit as st

from dashboard.charts import runs as charts
from dashboard.fit_view import phenotype_tables
from dashboard.session import cache, state
from dashboard.session.fit_summary import summary_of
from dashboard.session.shown_from import drawn_from, file_name
from dashboard.session.state import Key
from dashboard.store.cards import RunCard, RunState
from dashboard.store.results import FittedRun
from dashboard.text.display import clipped
from dashboard.widgets.active_runs import (
    KINDS,
    TUNE_TAB,
    go_further_button,
    go_on_button,
    look_button,
    say_started,
    show_active,
    show_interrupted,
)
from dashboard.widgets.blind import show_hidden
from dashboard.widgets.choose_for_me import choose_for_me
from dashboard.widgets.comparisons import show_partners
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.experiments import start_button
from dashboard.widgets.figure import show_figure
from dashboard.widgets.guard import guarded
from dashboard.widgets.handed_over import ask_for_file
from dashboard.widgets.origin import mark_of, say_origin
from dashboard.widgets.problems import show_problems
from dashboard.widgets.run_forms import experiment_form, fit_form
from dashboard.widgets.sidebar import run_name, run_title
from dashboard.widgets.storage import keep_toggle
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.progress import duration

MAX_BUNDLE = 200  # MB


def show() -> None:
    """What is computed now, then the ways to start, look back, compare and share."""
    st.title("Runs")
    guarded(say_started)
    guarded(show_active)
    guarded(show_interrupted)
    views = {
        state.phrase("Find phenotypes"): _new_fit,
        TUNE_TAB: _new_choice,
        "Experiments": _new_experiment,
        "History": _history,
        "Compare two": _compare,
        "Import": _import,
    }
    if wanted := state.get(Key.RUNS_TAB):
        state.set_widget("runs.tab", wanted)
        state.forget(Key.RUNS_TAB)
    tabs = st.tabs(list(views), on_change="rerun", key="runs.tab")
    for tab, draw in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab:
                guarded(draw)


def _new_fit() -> None:
    if not state.current_dataset():
        nothing_yet("There are no data to compute with yet.", "data")
        return
    fit_form(cache.card(state.current_dataset()))


def _new_choice() -> None:
    if not state.current_dataset():
        nothing_yet("There are no data to compute with yet.", "data")
        return
    choose_for_me(cache.card(state.current_dataset()))


def _new_experiment() -> None:
    if not state.current_dataset():
        nothing_yet("There are no data to compute with yet.", "data")
        return
    experiment_form(cache.card(state.current_dataset()))


def _history() -> None:
    everything = st.toggle("Show the runs of all data sets", key="history.all")
    cards = cache.runs(None if everything else state.current_dataset() or None)
    if not cards:
        st.info(state.phrase("Nothing has been computed yet. Start with the tab Find phenotypes."))
        return
    names = {card.id: card.name for card in cache.store().datasets()}
    table = pd.DataFrame([_line(run, names) for run in cards])
    show_table(table, f"{len(cards)} runs, newest first")
    download_csv(table, "runs")
    by_id = {run.id: run for run in cards}
    titles = {run.id: _name(run) for run in cards}
    chosen = st.selectbox("Run", list(by_id), format_func=titles.__getitem__, key="history.run")
    if chosen:
        guarded(lambda: _one_run(by_id[chosen]))


def _line(run: RunCard, names: dict[str, str]) -> dict[str, object]:
    words = "Damaged; compute it again." if run.damaged else run.message or run.state.value
    return {
        "What": state.phrase(KINDS[run.kind]),
        "Settings": run_title(run),
        "State": words,
        "Took": duration(run.seconds) if run.seconds else "",
        "Started": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created)),
        "Data set": names.get(run.dataset, "deleted"),
        "Origin": "" if run.imported is None else run.imported.words,
        "Id": run.id[:8],
    }


def _name(run: RunCard) -> str:
    kind = state.phrase(KINDS["fit"])
    return f"{kind}, {run_name(run)}" if run.kind == "fit" else run_name(run)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.5g}"


def _one_run(run: RunCard) -> None:
    """Open, share, or delete one run; its settings and its objective."""
    if run.state is RunState.DONE and not run.damaged:
        say_origin(run.imported)
        look_button(run, "history")
        keep_toggle(run)
        with drawn_from(run.imported):
            _export(run)
            if run.kind == "fit":
                if words := mark_of(run):
                    st.warning(plain(words))
                _show_objective(run)
    elif not run.state.active:
        st.warning(plain(run.message or run.state.value, 400))
        if run.state is RunState.INTERRUPTED:
            go_on_button(run, "history")
    if run.state is RunState.REMOVED:
        start_button(run.request, "Compute it again", "again", _say_started)
    with st.expander("All settings"):
        settings = _used(run).items()
        rows = [(name.replace("_", " "), _shown(value)) for name, value in settings]
        table = pd.DataFrame(rows, columns=["Setting", "Value"])
        show_table(table, "Every setting of this run")
    if not run.state.active:
        _delete(run)


def _used(run: RunCard) -> dict[str, object]:
    """The settings that change anything; of a fit, for its method, which is named."""
    method = CATALOGUE.get(str(run.request.settings.get("method", "")))
    return {
        name: method.title if method is not None and name == "method" else value
        for name, value in run.request.settings.items()
        if method is None or method.uses(name)
    }


def _say_started(run_id: str) -> None:
    state.set(Key.STARTED, run_id)


def _export(run: RunCard) -> None:
    if cache.is_blind(run.id if run.kind == "fit" else ""):
        show_hidden("the bundle, which holds links to the outcome")
        return
    with_data = st.checkbox(
        "Put the data set, with its single rows, into the bundle too", key=f"with_data.{run.id}"
    )
    st.download_button(
        "Export as a bundle",
        lambda: cache.store().export_run(run.id, with_data=with_data),
        f"{file_name(f'swift_run_{run.id[:8]}')}.zip",
        "application/zip",
        key="export",
        on_click="ignore",
    )


def _show_objective(run: RunCard) -> None:
    fit = cache.fit(run.id)
    objective = f"{state.label('objective')}: {_number(fit.objective)}."
    st.caption(f"{fit.outcome} {objective} {fit.row_relation}")
    if fit.can_go_on and run.imported is None:
        go_further_button(run, fit.settings["max_iterations"])
    show_figure(
        charts.objective_lines({"": fit.history}, state.label("objective")),
        f"Line: the objective falls to {fit.objective:.4g}.",
        fit.history,
        "objective",
    )


def _delete(run: RunCard) -> None:
    sure = st.checkbox("I want to delete this run; judgements stay", key=f"sure.{run.id}")
    if st.button("Delete the run", key="delete_run", disabled=not sure):
        cache.store().delete_run(run.id)
        if run.id == state.current_run():
            state.choose_for_next(run="")
        st.rerun()


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "all that fit"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown(one)}" for name, one in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _compare() -> None:
    runs = cache.runs(state.current_dataset() or None, "fit")
    fits = {run.id: run for run in runs if run.state is RunState.DONE and not run.damaged}
    if len(fits) < 2:
        nothing_yet("Two finished results of this data set are needed to compare them.")
        st.caption(state.phrase("The tab Find phenotypes makes another one."))
        return
    left, right = st.columns(2)
    ids = list(fits)
    titles = {each: run_name(fit) for each, fit in fits.items()}
    with left:
        first = st.selectbox("One", ids, format_func=titles.__getitem__, key="compare.first")
    with right:
        second = st.selectbox(
            "Other", ids, index=1, key="compare.second", format_func=titles.__getitem__
        )
    if first is None or second is None or first == second:
        st.info("Choose two different runs.")
        return
    origins = (fits[first].imported, fits[second].imported)
    for origin in origins:
        say_origin(origin)
    for name, run in (("One", fits[first]), ("Other", fits[second])):
        if words := mark_of(run):
            st.warning(f"{name}: {plain(words)}")
    with drawn_from(*origins):
        _side_by_side(fits[first], fits[second])


def _side_by_side(one: RunCard, other: RunCard) -> None:
    here, there = cache.fit(one.id), cache.fit(other.id)
    _compare_settings(one, other, here, there)
    if one.request.spec.method == other.request.spec.method:
        _compare_objectives(one, other, here, there)
    if phenotype_tables.same_features(here.modes, there.modes):
        st.markdown(state.phrase("**Phenotypes, matched one to one**"))
        show_partners(summary_of(one.id, one.dataset), summary_of(other.id, other.dataset))


def _compare_objectives(one: RunCard, other: RunCard, here: FittedRun, there: FittedRun) -> None:
    histories = {
        f"One: {clipped(one.title, 40)}": here.history,
        f"Other: {clipped(other.title, 40)}": there.history,
    }
    both = pd.concat([history.assign(run=name) for name, history in histories.items()])
    show_figure(
        charts.objective_lines(histories, state.label("objective")),
        "Two lines: the objective of both runs against iterations.",
        both,
        "compared_objectives",
    )


def _compare_settings(one: RunCard, other: RunCard, here: FittedRun, there: FittedRun) -> None:
    mine, theirs = _used(one), _used(other)
    rows = [
        (name.replace("_", " "), _shown(mine.get(name, "")), _shown(theirs.get(name, "")))
        for name in {**mine, **theirs}
    ]
    rows += [
        ("how it ended", here.outcome, there.outcome),
        ("objective", _number(here.objective), _number(there.objective)),
        ("took", duration(one.seconds), duration(other.seconds)),
    ]
    table = pd.DataFrame(rows, columns=["Setting", "One", "Other"])
    table.insert(1, "Differs", ["yes" if a != b else "" for _, a, b in rows])
    st.markdown("**Settings**")
    show_table(table, "Settings of both runs side by side")
    download_csv(table, "compared_settings")
    goal = ("method", "sharpness", "marginal_weight", "costs", "row_relation")
    if any(one.request.settings[name] != other.request.settings[name] for name in goal):
        said = "They have different aims; only their phenotypes can be compared."
        st.caption(state.phrase(said))


def _import() -> None:
    st.markdown(
        "Bring in a run that was exported elsewhere. Its data set must be here already, or in "
        "the bundle. Wherever it is shown it is marked as imported, so nobody takes it for a "
        "result that was computed here."
    )
    file = ask_for_file(
        "Run bundle",
        type=["zip"],
        max_upload_size=MAX_BUNDLE,
        key=f"import.{state.get(Key.IMPORTS, 0)}",
    )
    synthetic = st.checkbox(
        "Data in the bundle are synthetic: they describe no real persons",
        help="Only then may small counts be shown.",
        key=f"import.synthetic.{state.get(Key.IMPORTS, 0)}",
    )
    if file is None or not st.button("Import", type="primary", key="import"):
        return
    try:
        run = cache.store().import_run(file.read(), file.name, synthetic=synthetic)
    except SwiftError as error:
        show_problems(error)
        return
    state.set(Key.IMPORTS, state.get(Key.IMPORTS, 0) + 1)
    state.set(Key.STARTED, run)
    st.rerun()
