"""What is said where the judgements would stand while their file cannot be read."""

from __future__ import annotations

import time

import streamlit as st

from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.review_file import ReviewsDamaged
from dashboard.text.wording import count_of
from dashboard.widgets.problems import show_problems
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError


def show_reviews_fault(run: str) -> bool:
    """Why the judgements cannot be read, and the way to get them back; whether that is so."""
    if said := state.get(Key.REVIEWS_RESTORED, ""):
        st.info(said)
        state.forget(Key.REVIEWS_RESTORED)
    fault = cache.reviews_fault(run)
    if fault is None:
        return False
    show_problems(fault)
    said = "The phenotypes are complete; only judgements, and names given in them, are absent."
    st.caption(state.phrase(said))
    if isinstance(fault, ReviewsDamaged):
        _offer_copy()
    return True


def _offer_copy() -> None:
    copy = cache.reviews().copies.newest()
    if copy:
        when = time.strftime("%d %b %Y %H:%M", time.localtime(copy.made))
        words, label = (
            f"The newest sound copy is of {when} and holds {count_of(copy.judgements, 'judgement')}"
            ". The damaged file is kept beside it.",
            f"Restore the copy of {when}",
        )
    else:
        words, label = (
            "There is no sound copy. What can still be read of the damaged file can be taken "
            "over; check it, for it may have changed. The damaged file is kept beside it.",
            "Take over what can be read",
        )
    st.markdown(words)
    st.button(label, type="primary", key="reviews.restore", on_click=_restore)


def _restore() -> None:
    try:
        done = cache.reviews().copies.restore()
    except (SwiftError, OSError) as error:
        said = f"The judgements could not be restored: {str(error).rstrip('.')}."
    else:
        count = count_of(done.judgements, "judgement") if done else "The judgements"
        said = f"{count} restored."
    state.set(Key.REVIEWS_RESTORED, plain(said, 400))
