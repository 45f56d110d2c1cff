"""The only door to the session and the URL.

What is chosen (data set, run, phenotype) is a chain of ids. The session holds it, the URL
repeats it, so that a link opens the same screen. When a person edits the URL, or opens a
link, the URL wins; when a page switch drops it, the session writes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard.privacy.small_counts import DEFAULT_LIMIT
from dashboard.text.wording import label as label_in

IN_URL = {"dataset": "data", "run": "run", "phenotype": "p"}
SMALL_CELLS = {11: "Fewer than 11", 5: "Fewer than 5", 0: "Show every count"}
NOTICES = ("dead_links", "dead_phenotype")  # shown until the person moves on
_PREFIX = "swift."


def get(name: str, default: Any = None) -> Any:
    """What was kept under a name in this session, on whatever page."""
    return st.session_state.get(_PREFIX + name, default)


def set(name: str, value: Any) -> None:
    """Keep a value for the rest of the session."""
    st.session_state[_PREFIX + name] = value


def forget(name: str) -> None:
    """Drop what was kept under a name."""
    st.session_state.pop(_PREFIX + name, None)


def current_dataset() -> str:
    """The id of the chosen data set, or an empty text."""
    return str(get("dataset", ""))


def current_run() -> str:
    """The id of the chosen fit, or an empty text."""
    return str(get("run", ""))


def current_phenotype() -> str:
    """The chosen phenotype (P01 ...), or an empty text."""
    return str(get("phenotype", ""))


def choose(
    dataset: str | None = None, run: str | None = None, phenotype: str | None = None
) -> None:
    """Move along the chain; what hangs on a changed link is dropped, and so are notices."""
    for name in NOTICES:
        forget(name)
    if dataset is not None and dataset != current_dataset():
        set("dataset", dataset)
        run, phenotype = run or "", phenotype or ""
    if run is not None and run != current_run():
        set("run", run)
        phenotype = phenotype or ""
    if phenotype is not None:
        set("phenotype", phenotype)
    write_url()


def read_url() -> None:
    """Follow the URL if a person changed it since it was written last."""
    found = {name: st.query_params.get(key, "") for name, key in IN_URL.items()}
    if not any(found.values()) or found == get("written"):
        return
    set("written", found)
    for name, value in found.items():
        set(name, value)


def write_url() -> None:
    """Repeat the chain in the URL; ids only, never a name."""
    chain = {name: str(get(name, "")) for name in IN_URL}
    set("written", chain)
    for name, key in IN_URL.items():
        if chain[name] and st.query_params.get(key) != chain[name]:
            st.query_params[key] = chain[name]
        elif not chain[name] and key in st.query_params:
            del st.query_params[key]


def wording() -> str:
    """Which of the two wordings is on: clinician or scientist."""
    return str(get("wording", "clinician"))


def label(key: str) -> str:
    """The words for an idea in the wording that is on."""
    return label_in(key, wording())


def reviewer() -> str:
    """The name under which judgements are saved; empty until given."""
    return str(get("reviewer", "")).strip()


def synthetic() -> bool:
    """Whether the chosen data set holds nobody's real data."""
    return bool(get("synthetic", False))


def small_cells() -> int:
    """Counts below this are hidden; 0 shows all, which only synthetic data may."""
    default = 0 if synthetic() else DEFAULT_LIMIT
    limit = int(get("small_cells", default))
    return limit if limit or synthetic() else DEFAULT_LIMIT


def bind_widget(
    name: str, value: Any, changed: Callable[[Any], None] | None = None
) -> dict[str, Any]:
    """Arguments that tie a widget to a kept value, so that it survives page switches.

    Parameters
    ----------
    name : str
        The kept value's name; the widget's key follows from it.
    value : object
        What the widget shows now.
    changed : callable, optional
        Called with the new value; without it the value is kept under the name.
    """
    key = f"w.{name}"
    st.session_state[key] = value

    def moved() -> None:
        new = st.session_state[key]
        set(name, new) if changed is None else changed(new)

    return {"key": key, "on_change": moved}


def widget_value(key: str, default: Any = None) -> Any:
    """What a widget holds now; for callbacks."""
    return st.session_state.get(key, default)


def set_widget(key: str, value: Any) -> None:
    """Give a widget a value before it is drawn."""
    st.session_state[key] = value


def set_pages(pages: dict[str, Any]) -> None:
    """The pages there are, for links between them."""
    set("pages", pages)


def page(name: str) -> Any | None:
    """The page of a name, or None outside the app."""
    return (get("pages") or {}).get(name)
