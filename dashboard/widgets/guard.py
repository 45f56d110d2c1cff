"""The net under every screen: a refusal is shown in words, with a way on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from dashboard.session import state
from dashboard.text.disk import disk_words
from dashboard.widgets.problems import show_problems
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError

Answer = TypeVar("Answer")


def guarded(draw: Callable[[], Answer]) -> Answer | None:
    """Draw something; if the store or the data refuse, say so instead."""
    try:
        return draw()
    except SwiftError as error:
        show_problems(error)
    except OSError as error:
        st.error(plain(disk_words(error), 400))
    except MemoryError:
        st.error("This machine has no memory left for that. Close other programs and try again.")
    page = state.page("runs")
    if page is not None:
        st.page_link(page, label="Go to the runs")
    return None
