"""The reviewer's name, known again after a reload.

A reload begins a new session. The server keeps the name in memory under the cookie of the browser:
not in the address, which people hand on, and not in the browser, where clinical text has no place.
It is gone when the server ends.
"""

from __future__ import annotations

import streamlit as st

from dashboard.session import state
from dashboard.session.state import Key
from dashboard.text.link import browser_cookie


def keep_name() -> None:
    """At the start of every drawing: take the name up again, or keep the one of this session."""
    browser = st.context.cookies.get(browser_cookie(st.get_option("server.port")), "")
    if not browser:
        return
    if state.get(Key.REVIEWER) is None:
        state.set(Key.REVIEWER, _names().get(browser, ""))
    elif name := state.reviewer():
        _names()[browser] = name
    else:
        _names().pop(browser, None)


@st.cache_resource(show_spinner=False)
def _names() -> dict[str, str]:
    """Names by the cookie of the browser."""
    return {}
