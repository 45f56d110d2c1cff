"""HTML in the page itself: only what the escaping templates made, and only from here."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.charts.style import MODE_COLOURS
from dashboard.report.templates import render
from dashboard.session import state
from dashboard.text.wording import WORDS


def show_template(template: str, **content: Any) -> None:
    """Draw a template of the report's folder, in the wording that is on."""
    wording = state.wording()
    st.html(
        render(
            template,
            words=WORDS[wording],
            scientist=wording == "scientist",
            colours=MODE_COLOURS,
            **content,
        )
    )


def show_look() -> None:
    """The style sheet of all pages; it takes no room."""
    show_template("screen.html.j2")
