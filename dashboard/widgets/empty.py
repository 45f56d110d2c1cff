"""A screen with nothing to show says so, and says where to go."""

from __future__ import annotations

import streamlit as st

from dashboard.session import state

LINKS = {
    "phenotypes": "Look at the phenotypes",
    "review": "Judge the phenotypes",
    "patients": "Look at the rows",
    "prediction": "See what predicts the outcome",
    "robustness": "See whether it holds",
    "data": "Choose or upload data",
    "runs": "Start a computation",
}


def nothing_yet(sentence: str, page_link: str = "") -> None:
    """One sentence (our own words, not user text) and a link to the page that helps."""
    st.info(state.phrase(sentence))
    page = state.page(page_link)
    if page is not None:
        st.page_link(page, label=state.phrase(LINKS[page_link]))
