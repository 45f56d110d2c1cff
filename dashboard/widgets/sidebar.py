"""What stands beside every page: what is looked at, by whom, in which words, what is running."""

from __future__ import annotations

import time

import streamlit as st

from dashboard.jobs import jobs
from dashboard.session import cache, selection, state
from dashboard.session.state import Key
from dashboard.store.cards import DatasetCard, RunCard, RunState
from dashboard.text.display import clipped
from dashboard.text.run_titles import title_in
from dashboard.text.wording import NOT_A_CAUSE, WORDINGS
from dashboard.widgets.guard import guarded
from dashboard.widgets.refresh import follow
from dashboard.widgets.text import plain
from dashboard.widgets.tour import show_tour
from swiftcore.progress import duration


def show_sidebar(*, with_jobs: bool = True) -> None:
    """First steps, choices, jobs (unless the page shows them), and what must be said."""
    guarded(show_tour)
    cards = cache.datasets()
    if cards:
        _choose_dataset(cards)
        _choose_run()
    st.segmented_control(
        "Wording",
        list(WORDINGS),
        format_func=WORDINGS.__getitem__,
        required=True,
        **state.bind_widget(Key.WORDING, state.wording()),
    )
    _choose_small_cells()
    st.text_input(
        "Your name",
        max_chars=60,
        placeholder="for judgements you save",
        autocomplete="name",
        **state.bind_widget(Key.REVIEWER, state.reviewer()),
    )
    if with_jobs:
        show_jobs()
    st.caption(f"{NOT_A_CAUSE}  \n{state.vocabulary().caution}")


def _choose_dataset(cards: dict[str, DatasetCard]) -> None:
    st.selectbox(
        "Data set",
        list(cards),
        format_func=lambda each: dataset_name(cards[each]),
        **state.bind_widget(
            Key.DATASET, state.current_dataset(), lambda new: state.choose(dataset=new)
        ),
    )


def _choose_run() -> None:
    fits = {fit.id: fit for fit in selection.finished_fits()}
    if not fits:
        st.caption("No finished result for this data set yet.")
        return
    names = {each: run_name(fit) for each, fit in fits.items()}
    st.selectbox(
        state.label("run"),
        list(fits),
        format_func=names.__getitem__,
        **state.bind_widget(Key.RUN, state.current_run(), lambda new: state.choose(run=new)),
    )


def _choose_small_cells() -> None:
    allowed = [limit for limit in state.SMALL_CELLS if limit or state.synthetic()]
    st.selectbox(
        "Hide small counts",
        allowed,
        format_func=state.SMALL_CELLS.__getitem__,
        help="Small groups could give away who is meant. Real data always hide some.",
        **state.bind_widget(Key.SMALL_CELLS, state.small_cells()),
    )


def dataset_name(card: DatasetCard) -> str:
    """A data set in a list to choose from."""
    if card.damaged:
        return f"{card.id[:8]} (damaged)"
    kinds = {"synthetic": card.synthetic, "imported": card.imported}
    said = ", ".join(kind for kind, so in kinds.items() if so)
    return f"{clipped(card.name, 40)}{f' ({said})' if said else ''}"


def run_name(run: RunCard) -> str:
    """A run in a list to choose from."""
    made = time.strftime("%d %b %H:%M", time.localtime(run.created))
    kinds = {"damaged": run.damaged, "imported": run.imported is not None}
    said = ", ".join(kind for kind, so in kinds.items() if so)
    return f"{clipped(run_title(run), 48)}, {made}{f' ({said})' if said else ''}"


def run_title(run: RunCard) -> str:
    """What tells a run from others, in the wording that is on."""
    return state.phrase(title_in(run.title, state.wording()))


def show_jobs() -> None:
    """Running and waiting jobs, with what it takes to stop them."""
    follow(_job_strip)


def _job_strip(active: list[RunCard]) -> None:
    for run in active:
        with st.container(border=True):
            _show_job(run)


def _show_job(run: RunCard) -> None:
    st.markdown(f"**{plain(run_title(run), 60)}**")
    if run.state is RunState.QUEUED:
        st.caption("Waiting until the one before it has ended.")
    else:
        progress = run.progress or {}
        done, total = float(progress.get("done", 0)), float(progress.get("total", 0))
        share = min(1.0, done / total) if total else 0.0
        st.progress(share, text=f"{share:.0%}, {time_left(progress.get('seconds_left'))}")
        st.caption(plain(progress.get("what", "Starting."), 80))
    st.button("Stop", key=f"stop.{run.id}", on_click=_stop, args=(run.id,))


def _stop(run: str) -> None:
    guarded(lambda: jobs.cancel(cache.store(), run))


def time_left(seconds: object) -> str:
    """'about 40 s left', in words a person waits by."""
    if not isinstance(seconds, int | float) or not 0 <= seconds < 1e7:
        return "time left not known yet"
    return f"about {duration(max(1, round(seconds)))} left"
