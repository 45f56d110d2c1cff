"""The only entry: page settings, the chain of choices, navigation, sidebar."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Thread

import streamlit as st

from dashboard.server.doors import ClosedDoors
from dashboard.session import cache, reviewer, selection, state
from dashboard.text.link import FIRST_PAGE
from dashboard.text.wording import NOT_A_CAUSE, PAGES, capital, plural
from dashboard.widgets.explained import show_words
from dashboard.widgets.guard import guarded
from dashboard.widgets.html import show_look
from dashboard.widgets.origin import draw_page
from dashboard.widgets.problems import show_problems
from dashboard.widgets.sidebar import show_sidebar
from dashboard.widgets.tour import show_hint
from swiftcore.errors import SwiftError, refuse

LATER = ("pandas.io.formats.style", "scipy.special")  # what pages load when they first need it
ICON = Path(__file__).with_name("icon.png")


def main() -> None:
    """Draw one screen."""
    st.set_page_config(page_title="SWIFT Phenotyping", page_icon=str(ICON), layout="wide")
    if st.context.headers and not ClosedDoors.stand:  # somebody's browser, and nobody at the door
        show_problems(_without_doors())
        return
    state.read_url()
    reviewer.keep_name()
    with cache.one_listing():
        _draw()


def _without_doors() -> SwiftError:
    return refuse(
        "server-without-doors",
        "The dashboard shows nothing on a server that lets everybody in",
        "streamlit run",
        "no token and no check of who asks",
        "Start it with: swift dashboard.",
    )


def _draw() -> None:
    st.sidebar.caption("SWIFT Phenotyping")  # first: a sidebar that comes later pushes the page
    show_look()
    notices = guarded(selection.resolve) or []
    pages = _pages()
    state.set_pages(pages)
    page = st.navigation(list(pages.values()), position="top")
    state.write_url()
    with st.sidebar:
        guarded(lambda: show_sidebar(with_jobs=page.url_path != "runs"))
    for notice in notices:
        st.warning(notice)
    if page.url_path in ("", FIRST_PAGE):
        guarded(show_hint)
    page.run()
    show_words(page.url_path or FIRST_PAGE)
    st.caption(f"{NOT_A_CAUSE} {state.vocabulary().caution}")
    if state.get(state.Key.TABLE_SEEN):
        _load_the_other_pages()


def _pages() -> dict[str, st.Page]:
    return {
        name: st.Page(
            _view(name), title=_title(name, title), url_path=name, default=name == FIRST_PAGE
        )
        for name, title in PAGES.items()
    }


def _title(name: str, title: str) -> str:
    """The page of the rows is called what the data set calls its rows, if that can be read."""
    if name != "patients" or not state.current_dataset():
        return state.phrase(title)
    names = cache.card(state.current_dataset()).mode_names
    return capital(plural(names[0])) if names else title


@st.cache_resource(show_spinner=False)
def _load_the_other_pages() -> None:
    """Once a person has the first page to read: the first switch need not wait for imports."""
    names = (*LATER, *(f"dashboard.views.{name}" for name in PAGES))
    Thread(target=lambda: [import_module(name) for name in names], daemon=True).start()


def _view(name: str) -> Callable[[], None]:
    """A view is loaded when its page is opened: the first page must not wait for the others."""

    def run() -> None:
        draw_page(name, lambda: guarded(import_module(f"dashboard.views.{name}").show))

    return run


main()
