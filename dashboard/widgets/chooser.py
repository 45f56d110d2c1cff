"""Choose a phenotype by name, or walk from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.session.state import Key
from dashboard.text.display import clipped


def choose_phenotype(
    summary: FitSummary, order: Sequence[str], place: str, width: int | Literal["stretch"] = 560
) -> str:
    """A list with Previous and Next beside it; the chosen identifier.

    Parameters
    ----------
    order : sequence of str
        Identifiers in the order in which Previous and Next walk.
    place : str
        The page, for the keys of the widgets.
    width : int or "stretch"
        Of the list.
    """
    now = state.current_phenotype()
    position = order.index(now)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            state.phrase("Phenotype"),
            order,
            width=width,
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
    state.choose(phenotype=identifier)
