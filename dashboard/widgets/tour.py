"""The first steps in the sidebar: shown on first open, left with a press, opened again."""

from __future__ import annotations

import streamlit as st

from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.text.first_steps import STEPS
from swiftcore.runtime.atomic_file import write_atomic

SEEN = "first-steps-seen"  # in the store: they were left once, and no longer open by themselves


def current_step() -> int:
    """The step that is shown, from 1; 0 if none is."""
    if state.get(Key.TOUR) is None:
        state.set(Key.TOUR, 0 if (cache.store().root / SEEN).exists() else 1)
    return int(state.get(Key.TOUR))


def show_tour() -> None:
    """The step that is shown, with the way to the next one; or the button that opens them."""
    number = current_step()
    if not number:
        st.button("First steps", key="tour.open", on_click=state.set, args=(Key.TOUR, 1))
        return
    step = STEPS[number - 1]
    with st.container(border=True):
        st.markdown(f"**First steps, {number} of {len(STEPS)}: {state.phrase(step.title)}**")
        st.markdown(state.phrase(step.text))
        if number < len(STEPS) and st.button("Next step", type="primary", key="tour.next"):
            _go_to(number + 1)
        if number > 1 and st.button("Step back", key="tour.back"):
            _go_to(number - 1)
        last = "Done" if number == len(STEPS) else "Leave the first steps"
        st.button(last, key="tour.leave", on_click=_leave)


def show_hint() -> None:
    """Where the first steps are; the style shows it only where the sidebar begins closed."""
    if current_step():
        with st.container(key="tour-hint"):
            st.caption("New here? The first steps are in the sidebar: open it at the top left.")


def _go_to(number: int) -> None:
    state.set(Key.TOUR, number)
    page = state.page(STEPS[number - 1].page)
    if page is not None:
        st.switch_page(page)


def _leave() -> None:
    """Keep in the store that they were seen; a store that cannot be written is asked again."""
    state.set(Key.TOUR, 0)
    try:
        write_atomic(cache.store().root / SEEN, b"", private=True)
    except OSError:
        return  # the session remembers it
