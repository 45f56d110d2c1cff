"""The mark of what was not computed here, above everything drawn from it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.session import cache, selection, state
from dashboard.session.shown_from import WITH_A_RESULT, drawn_from, found_by
from dashboard.store.cards import RunCard
from dashboard.store.imported import Origin
from dashboard.store.lineage import made_for
from dashboard.widgets.blind import show_hidden
from dashboard.widgets.guard import guarded
from dashboard.widgets.text import plain
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.spec import DEFAULTS

OF_THE_FIT = ("phenotypes", "patients", "review", "prediction")  # pages drawn from the chosen fit


def draw_page(name: str, draw: Callable[[], object]) -> None:
    """Draw a page below the mark of what it is drawn from."""
    guarded(_show_origin)
    mine = name in OF_THE_FIT
    if mine and name != "review" and cache.is_blind(state.current_run()):
        show_hidden("links to the outcome, and what other reviewers said")
    guided = (guarded(_made_for) or "") if mine or name == "robustness" else ""
    if guided:
        st.warning(plain(guided))
    with (
        drawn_from(selection.origin() if mine else None),
        found_by(_method() if mine else "", guided if mine else ""),
    ):
        draw()


def _method() -> str:
    """The method of the chosen result, if it is another one than SWIFT; a title."""
    fit = next((one for one in selection.finished_fits() if one.id == state.current_run()), None)
    key = DEFAULTS["method"] if fit is None else fit.request.settings["method"]
    return "" if key == DEFAULTS["method"] else title_of(key)


def _made_for() -> str:
    """The mark of the chosen result, if the outcome took part in finding it."""
    fits = selection.finished_fits()
    fit = next((one for one in fits if one.id == state.current_run()), None)
    return "" if fit is None else mark_of(fit)


def mark_of(fit: RunCard) -> str:
    """What must be said of a fit that was guided by the outcome; with user text."""
    return made_for(fit, cache.runs(fit.dataset, "fit"), cache.card(fit.dataset).outcome_name)


def _show_origin() -> None:
    """Where the chosen result and its data came from, if not from here."""
    say_origin(selection.origin(), "The chosen result")
    if state.current_dataset() and cache.card(state.current_dataset()).imported:
        st.warning(f"The data of this page {WITH_A_RESULT}.")


def say_origin(origin: Origin | None, what: str = "This result") -> None:
    """Say where a result was imported from; nothing if it was computed here."""
    if origin is not None:
        st.warning(plain(origin.sentence(what)))
