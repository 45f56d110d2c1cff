"""What did we find? A list beside the card of one phenotype, then all of them together."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.session.fit_summary import fit_summary, resolve_phenotype
from dashboard.session.state import Key
from dashboard.text.wording import count_of
from dashboard.widgets.comparisons import show_comparisons
from dashboard.widgets.definition import show_definition
from dashboard.widgets.downloads import show_report
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.lineage import show_parentage
from dashboard.widgets.phenotype_card import show_card
from dashboard.widgets.phenotype_list import show_list
from dashboard.widgets.ranking import ranking
from dashboard.widgets.refit import open_refit, show_refit
from dashboard.widgets.reviews_fault import show_reviews_fault
from dashboard.widgets.text import plain
from swiftcore.evaluation.methods.catalogue import title_of

CARD_ALONE = 0.5  # seconds that list and card have the browser to themselves when it is opened
SORTS = {
    "share": "share of the data",
    "id": "number",
    "rows": "how many carry it",
    "link": "link to the outcome",
    "fits": "fits that found it",
    "stability": "found again",
}


def show() -> None:
    """Draw the page."""
    head = st.container(horizontal=True, key="page-head")
    head.title(state.phrase("Phenotypes"), anchor=False, width="content")
    open_refit()
    summary = fit_summary()
    if summary is None:
        nothing_yet(
            "There is no finished result for this data set yet. Start a run and its "
            "phenotypes appear here.",
            "runs",
        )
        return
    if not summary.phenotypes:
        nothing_yet("This run found no phenotypes: all of them died out. Ask for fewer.", "runs")
        return
    _show_facts(head, summary)
    show_reviews_fault(summary.run)
    if not resolve_phenotype(summary):
        said = "The phenotype of this link is not in this result. Here is the first one."
        st.warning(state.phrase(said))
    show_parentage(summary)
    with st.container(key="side-by-side"):
        chosen = _show_list_and_card(summary)
    if not state.get(Key.TABLE_SEEN):
        st.fragment(_card_first, run_every=CARD_ALONE)()
        return
    show_comparisons(summary)
    show_refit(summary, chosen)
    show_definition(summary, chosen)
    show_report(summary)


def _show_list_and_card(summary: FitSummary) -> str:
    """Side by side where there is room; the chosen phenotype."""
    left, right = st.columns([0.37, 0.63], gap="medium")
    with left:
        by = _chosen_order(summary)
        show_list(summary, ranking(summary, by)["id"].tolist())
    chosen = state.current_phenotype()
    with right:
        weight = _chosen_relevance()
        show_card(summary, chosen, frequency_weight=weight)
        if summary.phenotypes[chosen].found_rarely:
            st.warning(state.label("found_rarely"))
    return chosen


def _chosen_relevance() -> float:
    """From special to frequent, both ends in words."""
    label = state.label("relevance")
    with st.container(horizontal=True, vertical_alignment="center", key="relevance"):
        st.caption(f"{label}:", help=state.label("relevance_help"), width="content")
        st.caption(state.label("special"), width="content")
        weight = st.slider(
            label,
            0.0,
            1.0,
            step=0.05,
            label_visibility="collapsed",
            **state.bind_widget(Key.RELEVANCE, float(state.get(Key.RELEVANCE, 1.0))),
        )
        st.caption(state.label("frequent"), width="content")
    return float(weight)


def _card_first() -> None:
    """Let a new browser show list and card before it loads the code for charts: that takes seconds.

    The first call draws a line of words; the next one, which the browser asks for, all the rest.
    """
    if state.get(Key.TABLE_SEEN):
        st.rerun()
    state.set(Key.TABLE_SEEN, True)
    st.caption("The charts follow.")


def _show_facts(head: DeltaGenerator, summary: FitSummary) -> None:
    """Beside the title, so that list and card keep their place whatever there is to say."""
    card, fit = summary.card, summary.fit
    finding = state.vocabulary().finding
    sizes = ", ".join(count_of(*pair) for pair in zip(card.shape, card.mode_names, strict=True))
    said = [
        f"{count_of(len(summary.phenotypes), finding)} in {plain(card.name, 60)}: "
        f"{plain(sizes, 200)}. Found by {title_of(fit.method)}."
    ]
    if fit.dead:
        said.append(f"Died out and not shown: {count_of(len(fit.dead), finding)}.")
    if fit.signed:
        said.append(state.label("signs"))
    head.caption(" ".join(said), width="content")
    if not fit.converged:
        head.badge("Not converged", color="orange", help=state.label("not_converged"))


def _chosen_order(summary: FitSummary) -> str:
    missing = {
        "link": not summary.links,
        "stability": not summary.stability,
        "fits": summary.fit.agreement is None,
    }
    sorts = [sort for sort in SORTS if not missing.get(sort)]
    kept = state.get(Key.SORT, "share")
    return st.selectbox(
        "Sort by",
        sorts,
        format_func=lambda each: f"Sort by {SORTS[each]}",
        label_visibility="collapsed",
        **state.bind_widget(Key.SORT, kept if kept in sorts else "share"),
    )
