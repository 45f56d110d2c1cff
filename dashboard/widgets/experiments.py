"""Experiments on a page: show the newest one, or say that it is missing and offer to start it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from dashboard.jobs import jobs
from dashboard.session import cache, selection, state
from dashboard.session.fit_summary import fit_summary
from dashboard.session.shown_from import drawn_from
from dashboard.store.cards import RunCard, RunState, belongs
from dashboard.store.request import OF_A_FIT, Request
from dashboard.text.display import clipped
from dashboard.text.glossary import is_technical
from dashboard.text.wording import count_of
from dashboard.widgets.origin import say_origin
from dashboard.widgets.problems import show_problems
from dashboard.widgets.refresh import follow
from dashboard.widgets.sidebar import run_title, time_left
from dashboard.widgets.text import plain
from swiftcore.cluster.address import named_clusters
from swiftcore.errors import NotEnoughMemory, SwiftError
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import DEFAULTS

MISSING = {
    "evaluation": "How well the phenotypes predict the outcome has not been tested yet.",
    "noise": "What false entries would change has not been tested yet.",
    "ablation": "What the similarity of features adds has not been tested yet.",
    "stability": "Whether these phenotypes are found again has not been tested yet.",
    "ranks": "How many phenotypes come back has not been tested yet.",
}
HERE = "this machine"
WAYS_TO_END = (RunState.CANCELLED, RunState.FAILED, RunState.INTERRUPTED)


@dataclass(frozen=True)
class Found:
    """An experiment and the run that holds it."""

    run: RunCard
    experiment: Experiment

    @property
    def names(self) -> dict[str, str]:
        """Names of its phenotypes, if they are those of the fit that is looked at."""
        mine = belongs(self.run, state.current_run(), selection.origin())
        return phenotype_names() if mine else {}


def find(kind: str) -> Found | None:
    """The newest experiment of a kind, of the chosen fit if there is one."""
    dataset, fit = state.current_dataset(), state.current_run()
    run = (cache.latest(dataset, kind, fit) if fit else None) or cache.latest(dataset, kind)
    return None if run is None else Found(run, cache.experiment(run.id))


def show_newest(kind: str, draw: Callable[[Found], None]) -> None:
    """Draw the newest experiment of a kind, marked if it was imported; else offer it."""
    found = find(kind)
    if found is None:
        offer(kind)
        return
    with drawn_from(found.run.imported):
        say_origin(found.run.imported)
        draw(found)
        show_about(found)


def request_for(kind: str) -> Request:
    """The usual experiment for what is looked at: its number of phenotypes, its settings."""
    store, run = cache.store(), state.current_run()
    rank = store.run(run).request.settings["rank"] if run else DEFAULTS["rank"]
    if kind == "ranks":  # fewer and more of them
        settings = {"ranks": sorted({max(1, rank // 2), rank, 2 * rank})}
        return Request(kind, state.current_dataset(), settings)
    if not run:
        return Request(kind, state.current_dataset())
    own = kind in OF_A_FIT or store.run(run).imported is None  # no import can be judged here
    return Request(kind, state.current_dataset(), {"ranks": [rank]}, run if own else "")


def offer(kind: str) -> None:
    """Say that it is missing, how long it would take, and start it on request."""
    cards = cache.runs(state.current_dataset(), kind)
    live = next((card for card in cards if card.state.active), None)
    if live is not None:
        st.info("This is being computed; the page shows it when it is done.")
        follow(lambda runs: show_progress(runs[0]), [live.id])
        return
    st.info(state.phrase(MISSING[kind]))
    if cards and cards[0].state in WAYS_TO_END:
        st.warning(f"The last attempt: {plain(cards[0].message, 300)}")
    elif cards and cards[0].state is RunState.REMOVED:
        st.warning(plain(cards[0].message, 300))
    elif cards and cards[0].damaged:
        st.warning("The stored result is damaged. Compute it again.")
    start_button(request_for(kind), "Compute it now", f"offer.{kind}")
    page = state.page("runs")
    if page is not None:
        st.page_link(page, label="More choices on the page Runs")


def start_button(
    request: Request, label: str, key: str, started: Callable[[str], None] | None = None
) -> None:
    """A button that starts a request, with what it will take; a refusal is shown in words."""
    store = cache.store()
    try:
        jobs.check_fit(store, request)
        known = store.is_finished(request.key())
        sentence = "" if known else jobs.estimate(store, request).sentence
    except SwiftError as error:
        show_problems(error)
        return
    here = known or request.guidance or request.kind == "projection"
    cluster = "" if here else choose_cluster(f"{key}.cluster")
    if known:
        sentence = "This is in the store already; it opens at once."
    elif cluster:
        sentence = "How long it takes depends on the workers of the cluster."
    st.caption(plain(sentence))
    if not known:
        _warn_of_memory(request)
    if st.button(label, type="primary", key=key):
        try:
            run = jobs.start(store, request, cluster)
        except SwiftError as error:
            show_problems(error)
            return
        if started is not None:
            started(run)
        st.rerun()


def choose_cluster(key: str) -> str:
    """The cluster that computes, of those in the settings; empty: this machine."""
    try:
        names = list(named_clusters())
    except SwiftError as error:
        problem = error.problems[0]
        st.caption(
            f"The configured clusters cannot be used: {plain(problem.what)}. {plain(problem.cure)}"
        )
        return ""
    if not names:
        return ""
    chosen = st.selectbox(
        "Computed on",
        ["", *names],
        format_func=lambda name: clipped(name) or HERE,
        key=key,
        width=420,
        help="The result is the same to the last bit, wherever it is computed.",
    )
    return chosen or ""


def _warn_of_memory(request: Request) -> None:
    """Say before the press that there is too little memory; the press looks again."""
    try:
        jobs.check_memory(cache.store(), request, cache.runs())
    except NotEnoughMemory as error:
        problem = error.problems[0]
        st.warning(
            f"**There is not enough memory for this now**: {plain(problem.found)}. "
            f"{plain(problem.cure, 400)}"
        )


def show_progress(run: RunCard) -> None:
    """How far a run is, and how long it will still take."""
    if run.state is RunState.QUEUED:
        ids = [one.id for one in jobs.active(cache.runs())]
        ahead = ids.index(run.id) if run.id in ids else 0
        st.caption(f"Waiting; {count_of(ahead, 'computation')} before it.")
        return
    progress = run.progress or {}
    done, total = float(progress.get("done") or 0), float(progress.get("total") or 0)
    share = min(1.0, done / total) if total else 0.0
    what = plain(progress.get("what") or "Starting", 80).rstrip(".")
    st.progress(share, text=f"{what}: {share:.0%}, {time_left(progress.get('seconds_left'))}")


def show_about(found: Found) -> None:
    """When and how an experiment was computed, and what must be said about it."""
    made = time.strftime("%d %b %Y %H:%M", time.localtime(found.run.ended or found.run.created))
    st.caption(f"{plain(run_title(found.run), 120)}. Computed {made}.")
    notes = [str(note) for note in found.experiment.about.get("notes") or ()]
    technical = [note for note in notes if state.wording() != "scientist" and is_technical(note)]
    for note in notes:
        if note not in technical:
            st.caption(f"Note: {plain(state.phrase(note), 400)}")
    if technical:
        many = count_of(len(technical), "technical note")
        st.caption(f"{many}: shown in the wording for data scientists.")


def phenotype_names() -> dict[str, str]:
    """Phenotype id to name, of the fit that is looked at."""
    summary = fit_summary()
    return summary.names if summary is not None else {}
