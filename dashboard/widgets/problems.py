"""What went wrong, in words a person can act on; never a traceback."""

from __future__ import annotations

import streamlit as st

from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError

MAX_SHOWN = 20


def show_problems(error: SwiftError) -> None:
    """Every problem of a refusal: what, where, what was found, what to do."""
    for problem in error.problems[:MAX_SHOWN]:
        text = problem.found.rstrip(".")
        found = f" Found: {plain(text, 300)}." if text else ""
        where = f" ({plain(problem.where, 200)})" if problem.where else ""
        st.error(f"**{plain(problem.what, 300)}**{where}.{found} {plain(problem.cure, 300)}")
    more = len(error.problems) - MAX_SHOWN
    if more > 0:
        st.error(f"And {more} more problems.")
