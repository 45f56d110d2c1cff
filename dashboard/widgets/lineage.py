"""A refit on a page: what it came from, what was asked for, and what became of which phenotype."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.fit_summary import summary_of
from dashboard.store.cards import RunCard
from dashboard.store.lineage import Descendant, descendants, parent_of
from dashboard.store.reviews import Review
from dashboard.widgets.sidebar import run_name
from dashboard.widgets.tables import show_table
from dashboard.widgets.text import plain
from swiftcore.phenotypes.guidance import Drop, Seed, Step, feature_modes
from swiftcore.phenotypes.matching import FOUND_FROM

RARE = "a rare feature"

CARRIED_OVER = (
    "Similarity: 1 = same features, 0 = none in common. Judgements of phenotypes that stayed the "
    "same were carried over; for the others the page Review offers what was said."
)


@dataclass(frozen=True)
class Earlier:
    """A judgement of what a phenotype was before the refit."""

    review: Review
    title: str
    similarity: float


def show_parentage(summary: FitSummary) -> None:
    """Of a refit: the changes, the way back, each phenotype beside what it was."""
    if not summary.fit.guidance:
        return
    parent = _parent(summary)
    with st.container(border=True):
        came = "a result that is not here any more" if parent is None else plain(run_name(parent))
        st.markdown(f"**Changed and refitted**, from {came}:")
        st.markdown("\n".join(f"- {step_words(step, summary)}" for step in summary.fit.guidance))
        if parent is not None:
            st.button("Back to it", key="parent", on_click=_open, args=(parent.id,))
            with st.expander("Before and after"):
                alt = state.phrase("Each phenotype and what it was")
                show_table(before_and_after(summary, parent), alt)
                st.caption(state.phrase(CARRIED_OVER))


def before_and_after(summary: FitSummary, parent: RunCard) -> pd.DataFrame:
    """One row per phenotype of the refit."""
    before = summary_of(parent.id, parent.dataset)
    ids, old = summary.fit.identifiers, before.fit.identifiers
    rows = []
    for one in descendants(before.fit, summary.fit):
        if ids[one.component] in summary.phenotypes:
            was = " and ".join(before.title(old[part]) for part in one.origins)
            rows.append(
                {
                    "Now": summary.title(ids[one.component]),
                    "Was": was or "nothing: a new one",
                    "Similarity": f"{one.similarity:.3f}" if one.origins else "",
                    "Is it the same?": _verdict(one),
                }
            )
    return pd.DataFrame(rows)


def earlier_judgement(summary: FitSummary, chosen: str, reviewer: str) -> Earlier | None:
    """What a reviewer said of the phenotype that the chosen one was, the most similar first."""
    parent = _parent(summary) if summary.fit.guidance and reviewer else None
    if parent is None:
        return None
    before = summary_of(parent.id, parent.dataset)
    component = summary.phenotypes[chosen].component
    one = descendants(before.fit, summary.fit)[component]
    for part in one.origins:
        name = before.fit.identifiers[part]
        for review in before.reviews:
            if (review.phenotype, review.reviewer) == (name, reviewer):
                return Earlier(review, before.title(name), one.similarity)
    return None


def step_words(step: Step, summary: FitSummary) -> str:
    """A step as a sentence for Markdown; features that too few rows have are not named."""
    modes, shown = feature_modes(summary.fit.modes), step

    def named(mode: str, feature: str) -> str:
        labels = summary.fit.modes[modes[mode]].labels
        common = summary.common(modes[mode])[labels.index(feature)]
        return feature if common else RARE

    if isinstance(step, Drop):
        shown = replace(step, feature=named(step.mode, step.feature))
    elif isinstance(step, Seed):
        shown = Seed(tuple((mode, named(mode, feature)) for mode, feature in step.features))
    return plain(str(shown), 400)


def _verdict(one: Descendant) -> str:
    if not one.origins:
        return ""
    if one.unchanged:
        return "yes"
    return "nearly" if one.similarity >= FOUND_FROM else "no"


def _parent(summary: FitSummary) -> RunCard | None:
    cards = {card.id: card for card in cache.runs(summary.card.id, "fit")}
    own = cards.get(summary.run)
    return None if own is None else parent_of(own, cards.values())


def _open(run: str) -> None:
    state.choose(run=run)
