"""What is said where a reviewer in the middle of a round would see too much."""

from __future__ import annotations

import streamlit as st

from dashboard.session import state

HIDDEN = "Hidden until you close your review round"


def show_hidden(what: str) -> None:
    """Say what is hidden, and lead to the page on which the round is closed.

    Parameters
    ----------
    what : str
        Begins the sentence: "The links to the outcome".
    """
    st.info(f"{HIDDEN}: {what}.")
    page = state.page("review")
    if page is not None:
        st.page_link(page, label="Go to your review round")
