"""All phenotypes as a list to walk through, with the arrow keys or by clicking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard.fit_view import phenotype_tables
from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.session.state import Key
from dashboard.widgets.html import show_template
from dashboard.widgets.text import plain

MAX_WHOLE = 13  # phenotypes that stand on one screen; more of them scroll
HEIGHT = 620  # of a list that scrolls, pixels


@dataclass(frozen=True)
class Line:
    """One phenotype in the list; texts fit to be shown, the name as somebody typed it."""

    identifier: str
    name: str
    share: float
    link: str
    found: str
    judged: str


def list_lines(summary: FitSummary, order: Sequence[str], wording: str) -> list[Line]:
    """What the list says of each phenotype."""
    judged = phenotype_tables.review_states(summary.reviews, summary.settled)
    return [
        Line(
            name,
            summary.names[name],
            summary.phenotypes[name].share,
            _link(summary, name, wording),
            _found(summary, name),
            judged.get(name, "not yet"),
        )
        for name in order
    ]


def _link(summary: FitSummary, name: str, wording: str) -> str:
    link = summary.links.get(name)
    if link is None:
        return ""
    said = f"{link.weight:+.3f}" if wording == "scientist" else link.strength
    return f"{link.arrow} {said}".strip()


def _found(summary: FitSummary, name: str) -> str:
    found = summary.phenotypes[name].found_in
    if found:
        return "{} of {}".format(*found)
    return f"{summary.stability[name]:.0%}" if name in summary.stability else ""


def show_list(summary: FitSummary, order: Sequence[str]) -> None:
    """Draw the list; up and down move the choice.

    Radio buttons do the choosing, because browsers give them the arrow keys and screen readers a
    name; what they look like comes from the template that lies below them.
    """
    now = state.current_phenotype()
    lines = list_lines(summary, order, state.wording())
    whole = len(lines) <= MAX_WHOLE
    with (
        st.container(height="content" if whole else HEIGHT, border=False),
        st.container(key="phenotype-list", gap=None),
    ):
        show_template(
            "phenotype_list.html.j2",
            lines=lines,
            chosen=now,
            largest=max(line.share for line in lines),
            linked=bool(summary.links),
            found=any(line.found for line in lines),
        )
        st.radio(
            state.phrase("Phenotype"),
            order,
            label_visibility="collapsed",
            format_func=lambda each: plain(summary.title(each), 80),  # a label is Markdown
            **state.bind_widget(Key.PHENOTYPE, now, _pick, place="list"),
        )


def _pick(identifier: str) -> None:
    state.choose(phenotype=identifier)
