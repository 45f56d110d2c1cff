"""The only door to the session and the URL.

What is chosen (data set, run, phenotype) is a chain of ids. The session holds it, the URL
repeats it, so that a link opens the same screen. When a person edits the URL, or opens a
link, the URL wins; when a page switch drops it, the session writes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import streamlit as st

from dashboard.privacy.small_counts import DEFAULT_LIMIT
from dashboard.text import link
from dashboard.text.wording import Vocabulary
from dashboard.text.wording import label as label_in
from dashboard.text.wording import vocabulary as vocabulary_of


class Key(StrEnum):
    """Everything a session keeps besides its widgets; one key, one meaning."""

    # what is looked at; the first three are repeated in the URL
    DATASET = "dataset"  # id of the chosen data set
    RUN = "run"  # id of the chosen fit
    PHENOTYPE = "phenotype"  # identifier of the chosen phenotype
    WRITTEN = "written"  # the chain as the URL was last written or read
    PAGES = "pages"  # the pages there are, by name
    # who looks, and how
    WORDING = "wording"  # clinician or scientist
    REVIEWER = "reviewer"  # the name under which judgements are saved
    SMALL_CELLS = "small_cells"  # counts below this are hidden
    SYNTHETIC = "synthetic"  # whether the chosen data set holds nobody's real data
    MODES = "modes"  # what the modes of the chosen data set are called
    TOUR = "tour"  # the step of the first steps that is shown; 0 once they were left
    # what is said until it is no longer true
    DEAD_LINKS = "dead_links"  # sentences about a link that led nowhere
    DEAD_PHENOTYPE = "dead_phenotype"  # whether a link named a phenotype that is not there
    BUILT = "built"  # id of the data set just built, greeted until its first run
    GREETED = "greeted"  # id of the data set whose tab was opened for the greeting
    STARTED = "started"  # id of the run started or stopped last
    RUNS_TAB = "runs_tab"  # the tab of the page Runs to be opened with its next drawing
    # uploaders are emptied by a new number
    UPLOADS = "uploads"  # data sets built in this session
    IMPORTS = "imports"  # runs imported in this session
    DATABASE = "database"  # the reading of a database that runs or has ended
    COST_ATTACHED = "cost_attached"  # the similarity attached last, which is looked at then
    # the page Phenotypes
    TABLE_SEEN = "table_seen"  # whether the browser has had the table to itself
    SORT = "sort"  # by what the list is sorted
    RELEVANCE = "relevance"  # weight of frequent against distinctive features
    OTHER = "other"  # the phenotype to compare with
    OTHER_RUN = "other_run"  # the run to compare with
    STEPS = "steps"  # changes collected for a refit, by run
    REFIT = "refit"  # id of the refit that opens when it is done
    # the page of the rows
    CARRYING = "carrying"  # the phenotype whose rows are listed
    ROW = "row"  # number of the row looked at
    SOUGHT = "sought"  # a label that was typed and not found
    BECAUSE = "because"  # the phenotype whose entries are listed
    WITHOUT = "without"  # the phenotype that a row is looked at without
    SPOKEN_FOR = "spoken_for"  # the class whose chance is explained
    COLOUR = "colour"  # what the colours of the map of rows say
    PROJECTION = "projection"  # the run that described new rows
    # the page Review
    DRAFT = "draft"  # what was typed and not saved, by run and phenotype
    ONLY_LOOKING = "only_looking"  # whether somebody without a name wants to see what was said
    SETTLING = "settling"  # the phenotype on which reviewers differ that is looked at
    ARBITER = "arbiter"  # who decides where votes do not
    DECISION = "decision"  # what the arbiter chose and did not save, by run and phenotype
    WORKBOOK_SAVED = "workbook_saved"  # a sentence about a workbook, said once
    REVIEWS_RESTORED = "reviews_restored"  # what a restored copy of the judgements brought, once
    TROUBLE = "trouble"  # why a judgement could not be saved


IN_URL = {Key.DATASET: link.DATASET, Key.RUN: link.RUN, Key.PHENOTYPE: link.PHENOTYPE}
SMALL_CELLS = {11: "Fewer than 11", 5: "Fewer than 5", 0: "Show every count"}
NOTICES = (Key.DEAD_LINKS, Key.DEAD_PHENOTYPE)  # shown until the person moves on


def get(key: Key, default: Any = None) -> Any:
    """What was kept in this session, on whatever page."""
    return st.session_state.get(f"swift.{key}", default)


def set(key: Key, value: Any) -> None:
    """Keep a value for the rest of the session."""
    st.session_state[f"swift.{key}"] = value


def forget(key: Key) -> None:
    """Drop what was kept."""
    st.session_state.pop(f"swift.{key}", None)


def current_dataset() -> str:
    """The id of the chosen data set, or an empty text."""
    return str(get(Key.DATASET, ""))


def current_run() -> str:
    """The id of the chosen fit, or an empty text."""
    return str(get(Key.RUN, ""))


def current_phenotype() -> str:
    """The chosen phenotype (P01 ...), or an empty text."""
    return str(get(Key.PHENOTYPE, ""))


def choose(
    dataset: str | None = None, run: str | None = None, phenotype: str | None = None
) -> None:
    """Move along the chain; what hangs on a changed link is dropped, and so are notices."""
    choose_for_next(dataset, run, phenotype)
    write_url()


def choose_for_next(
    dataset: str | None = None, run: str | None = None, phenotype: str | None = None
) -> None:
    """The same just before the screen is drawn anew, which writes the URL.

    A URL written now could be lost: what was not sent yet is dropped when a drawing begins. The
    browser would keep the old one, and the next press would lead back to it.
    """
    for notice in NOTICES:
        forget(notice)
    if dataset is not None and dataset != current_dataset():
        set(Key.DATASET, dataset)
        run, phenotype = run or "", phenotype or ""
    if run is not None and run != current_run():
        set(Key.RUN, run)
        phenotype = phenotype or ""
    if phenotype is not None:
        set(Key.PHENOTYPE, phenotype)


def read_url() -> None:
    """Follow the URL if a person changed it since it was written last."""
    found = {key: st.query_params.get(name, "") for key, name in IN_URL.items()}
    if not any(found.values()) or found == get(Key.WRITTEN):
        return
    set(Key.WRITTEN, found)
    for key, value in found.items():
        set(key, value)


def write_url() -> None:
    """Repeat the chain in the URL; ids only, never a name."""
    chain = {key: str(get(key, "")) for key in IN_URL}
    set(Key.WRITTEN, chain)
    for key, name in IN_URL.items():
        if chain[key] and st.query_params.get(name) != chain[key]:
            st.query_params[name] = chain[key]
        elif not chain[key] and name in st.query_params:
            del st.query_params[name]


def wording() -> str:
    """Which of the two wordings is on: clinician or scientist."""
    return str(get(Key.WORDING, "clinician"))


def label(key: str) -> str:
    """The words for an idea in the wording that is on, and in those of the data."""
    return phrase(label_in(key, wording()))


def vocabulary() -> Vocabulary:
    """What the chosen data set calls what is found in it."""
    return vocabulary_of(get(Key.MODES, ()))


def phrase(text: str) -> str:
    """One of the program's own sentences in the words of the chosen data set; no user text."""
    return vocabulary().phrase(text)


def reviewer() -> str:
    """The name under which judgements are saved; empty until given."""
    return str(get(Key.REVIEWER, "")).strip()


def synthetic() -> bool:
    """Whether the chosen data set holds nobody's real data."""
    return bool(get(Key.SYNTHETIC, False))


def small_cells() -> int:
    """Counts below this are hidden; 0 shows all, which only synthetic data may."""
    return limit_for(synthetic())


def limit_for(synthetic: bool) -> int:
    """The same for other data than the chosen ones, which are synthetic or not."""
    limit = int(get(Key.SMALL_CELLS, 0 if synthetic else DEFAULT_LIMIT))
    return limit if limit or synthetic else DEFAULT_LIMIT


def bind_widget(
    key: Key, value: Any, changed: Callable[[Any], None] | None = None, *, place: str = ""
) -> dict[str, Any]:
    """Arguments that tie a widget to a kept value, so that it survives page switches.

    Parameters
    ----------
    key : Key
        The kept value; the widget's own key follows from it.
    value : object
        What the widget shows now.
    changed : callable, optional
        Called with the new value; without it the value is simply kept.
    place : str
        Where the widget stands, if several show the same value.
    """
    widget = f"w.{key}.{place}" if place else f"w.{key}"
    st.session_state[widget] = value

    def moved() -> None:
        new = st.session_state[widget]
        set(key, new) if changed is None else changed(new)

    return {"key": widget, "on_change": moved}


def widget_value(key: str, default: Any = None) -> Any:
    """What a widget holds now; for callbacks."""
    return st.session_state.get(key, default)


def set_widget(key: str, value: Any) -> None:
    """Give a widget a value before it is drawn."""
    st.session_state[key] = value


def set_pages(pages: dict[str, Any]) -> None:
    """The pages there are, for links between them."""
    set(Key.PAGES, pages)


def page(name: str) -> Any | None:
    """The page of a name, or None outside the app."""
    return (get(Key.PAGES) or {}).get(name)
