"""Choose a phenotype by name, or walk from one to the next."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.session.state import Key
from dashboard.text.display import clipped


def choose_phenotype(summary: FitSummary, order: Sequence[str], place: str) -> str:
    """A list with Previous and Next beside it; the chosen identifier.

    Parameters
    ----------
    order : sequence of str
        Identifiers in the order in which Previous and Next walk.
    place : str
        The page, for the keys of the widgets.
    """
    now = state.current_phenotype()
    position = order.index(now)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            state.phrase("Phenotype"),
            order,
            width=560,
            format_func=lambda each: clipped(summary.title(each), 80),
            **state.bind_widget(Key.PHENOTYPE, now, _pick, place=place),
        )
        st.button(
            "Previous",
            key=f"previous.{place}",
            disabled=position == 0,
            shortcut="Alt+Left",
            on_click=_pick,
            args=(order[max(position - 1, 0)],),
        )
        st.button(
            "Next",
            key=f"next.{place}",
            disabled=position == len(order) - 1,
            shortcut="Alt+Right",
            on_click=_pick,
            args=(order[min(position + 1, len(order) - 1)],),
        )
    return now


def _pick(identifier: str) -> None:
    """Tables that show the choice are drawn anew, so that they mark the new row."""
    state.set(Key.PICKED, state.get(Key.PICKED, 0) + 1)
    state.choose(phenotype=identifier)
