"""Does it make clinical sense? One phenotype at a time, judged blind; then what all said."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.fit_summary import fit_summary, resolve_phenotype
from dashboard.session.state import Key
from dashboard.widgets.after_round import show_agreement, show_disagreements, show_said
from dashboard.widgets.chooser import choose_phenotype
from dashboard.widgets.downloads import show_report, show_workbook
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.judgement import mine, next_open, show_form, unsaved
from dashboard.widgets.phenotype_card import show_card
from dashboard.widgets.reviews_fault import show_reviews_fault
from swiftcore.errors import SwiftError

BLIND = (
    "You judge blind: links to the outcome, and what other reviewers said, stay hidden on every "
    "page and in every file until you close your round."
)


def show() -> None:
    """Draw the page: ask for a name, judge, or see what all said."""
    head = st.container(horizontal=True, vertical_alignment="center")
    head.title("Review", anchor=False, width="content")
    summary = fit_summary()
    if summary is None or not summary.phenotypes:
        nothing_yet(
            "There are no phenotypes to judge yet: no run of this data set has finished.",
            "runs",
        )
        return
    unread = show_reviews_fault(summary.run)
    if sentence := state.get(Key.WORKBOOK_SAVED, ""):
        st.success(sentence)
        state.forget(Key.WORKBOOK_SAVED)
    if summary.blind_for:
        _show_round(summary, head, unread=unread)
    elif state.reviewer() or state.get(Key.ONLY_LOOKING):
        _show_results(summary)
    else:
        _ask_for_name(summary)


def _ask_for_name(summary: FitSummary) -> None:
    """A judgement needs a name; the sidebar may be closed on a small screen."""
    many = f"{len(summary.phenotypes)} phenotypes"
    st.markdown(state.phrase(f"Give your name to judge the {many} of this result. {BLIND}"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Your name (saved with each judgement)",
            max_chars=60,
            width=420,
            **state.bind_widget(Key.REVIEWER, "", place="page"),
        )
        st.button("I do not review: show what was said", key="look", on_click=_only_look)
    show_workbook(summary)


def _only_look() -> None:
    state.set(Key.ONLY_LOOKING, True)


# ---- the round


def _show_round(summary: FitSummary, head: DeltaGenerator, *, unread: bool) -> None:
    """The phenotype beside its form, on one screen; a round goes on where it stood."""
    if not state.current_phenotype():
        state.choose(phenotype=next_open(summary))
    if not resolve_phenotype(summary):
        said = "The phenotype of this link is not in this result. Here is the first one."
        st.warning(state.phrase(said))
    judged, every = len(mine(summary)), len(summary.phenotypes)
    with head:
        _show_progress(summary, judged, every, unread=unread)
    with st.container(key="side-by-side"):
        card, form = st.columns([0.63, 0.37], gap="medium")
    with form:
        chosen = choose_phenotype(summary, list(summary.phenotypes), "review", "stretch")
        show_form(summary, chosen)
        if judged == every:
            st.success(
                f"All {every} are judged. Close your round to see how far you agree with others, "
                "settle disagreements and print the report. Until then you may change your mind."
            )
            st.button("Close round", key="close", type="primary", on_click=_close, args=(summary,))
    with card:
        show_card(summary, chosen, blind=True)
    st.caption(BLIND)
    show_workbook(summary)


def _show_progress(summary: FitSummary, judged: int, every: int, *, unread: bool) -> None:
    """How far the round is, and the way to end it before all are judged."""
    if unread:
        return
    st.progress(judged / every, text=f"{judged} of {every} judged by you. {_state(summary)}")
    if judged < every:
        with st.popover("Close round"):
            st.markdown(
                f"You judged {judged} of {every}. Once the round is closed, your judgements "
                "stay as they are, and you see the links and what others said."
            )
            st.button("Close it now", key="close", on_click=_close, args=(summary,))


def _state(summary: FitSummary) -> str:
    """What is not saved, or when all was."""
    if open_ := unsaved(summary):
        return f"Not saved yet: {', '.join(open_)}."
    saved = max((one.saved_at for one in mine(summary).values()), default=0.0)
    return f"All saved {time.strftime('%d %b %H:%M', time.localtime(saved))}." if saved else ""


def _close(summary: FitSummary) -> None:
    try:
        cache.rounds().close(summary.run, state.reviewer())
    except (SwiftError, OSError) as error:
        state.set(Key.TROUBLE, f"The round could not be closed: {str(error).rstrip('.')}.")
        return
    state.set(Key.TROUBLE, "")


# ---- after it


def _show_results(summary: FitSummary) -> None:
    """What all said, what is to be settled, and the report; for whoever is not in a round."""
    if state.reviewer():
        at = cache.rounds().closed(summary.run).get(state.reviewer(), 0.0)
        when = time.strftime("%d %b %Y %H:%M", time.localtime(at))
        st.caption(f"You closed your round on {when}. Your judgements stay as they are.")
    show_agreement(summary)
    show_disagreements(summary)
    show_said(summary)
    show_report(summary)
