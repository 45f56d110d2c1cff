"""Help: the first steps, the glossary, and the page for clinicians."""

from __future__ import annotations

import streamlit as st

from dashboard.session import state
from dashboard.session.state import Key
from dashboard.text.first_steps import STEPS
from dashboard.text.for_clinicians import for_clinicians
from dashboard.text.glossary import EVERYBODY, SCIENTIST, TERMS
from dashboard.text.wording import PHENOTYPES
from dashboard.widgets.empty import LINKS


def show() -> None:
    """One tab for each; data of documents have no use for the page for clinicians."""
    st.title("Help")
    views = {"Glossary": _glossary, "First steps": _first_steps}
    if state.vocabulary() == PHENOTYPES:
        views["For clinicians"] = _for_clinicians
    tabs = st.tabs(list(views), on_change="rerun", key="help.tab")
    for tab, draw in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _glossary() -> None:
    """Every technical word of the screens, in plain words."""
    wanted = st.text_input("Find a word", max_chars=60, key="help.word").strip().casefold()
    groups = {
        "Words on all screens": EVERYBODY,
        "Words of data scientists": SCIENTIST,
    }
    found = 0
    for title, readers in groups.items():
        terms = sorted(
            (term for term in TERMS if term.readers == readers and _fits(term.name, wanted)),
            key=lambda term: term.name.casefold(),
        )
        if terms:
            st.header(title, anchor=False)
            st.markdown(
                "\n".join(
                    f"- **{state.phrase(term.name)}**: {state.phrase(term.means)}" for term in terms
                )
            )
        found += len(terms)
    if not found:
        st.info("The glossary does not have this word.")


def _fits(name: str, wanted: str) -> bool:
    return wanted in state.phrase(name).casefold()


def _first_steps() -> None:
    """All steps at once, with the way to each page."""
    for number, step in enumerate(STEPS, start=1):
        st.header(f"{number}. {state.phrase(step.title)}", anchor=False)
        st.markdown(state.phrase(step.text))
        page = state.page(step.page)
        if page is not None:
            st.page_link(page, label=state.phrase(LINKS[step.page]))
    st.button("Show them beside the pages", key="help.tour", on_click=_open_tour)


def _open_tour() -> None:
    state.set(Key.TOUR, 1)


def _for_clinicians() -> None:
    st.markdown(for_clinicians())
