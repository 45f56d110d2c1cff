"""From a database to a stored data set: choose a connection, count there, look, keep."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard.privacy import uploads
from dashboard.privacy.held_folder import held
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.text.display import clipped
from dashboard.widgets.add_data import add_data, ask_synthetic, greet, show_inspection, show_kind
from dashboard.widgets.build_options import WORDS
from dashboard.widgets.problems import show_problems
from dashboard.widgets.text import plain
from swiftcore.data.databases.addresses import named_addresses
from swiftcore.data.databases.child import Asked, DatabaseReading
from swiftcore.data.options import BuildOptions
from swiftcore.errors import InvalidData, SwiftError

LOOKS_EVERY = 1.0  # seconds between two looks at a reading that runs
PLACES = {"files": "in files", "database": "in a database"}
OUTCOMES = {"none": "none", "death": "death", "column": "a column of PERSON"}
USUAL_FEATURES = 100


@dataclass(frozen=True, eq=False)
class Begun:
    """A reading and the folder that goes when nobody needs it any more."""

    reading: DatabaseReading
    folder: contextlib.ExitStack


def add_from_files_or_database() -> None:
    """Ask for data; databases are offered only where connections were configured by name."""
    try:
        names = list(named_addresses())
    except SwiftError as error:
        show_problems(error)
        names = []
    if not names:
        add_data()
        return
    place = st.radio(
        "Where are the data?",
        list(PLACES),
        format_func=PLACES.__getitem__,
        horizontal=True,
        key="data_place",
    )
    if place == "files":
        add_data()
    else:
        _add_from_database(names)


def _add_from_database(names: list[str]) -> None:
    begun: Begun | None = state.get(Key.DATABASE)
    asked = _ask(names, disabled=begun is not None and begun.reading.running)
    if asked is not None:
        _forget()
        begun = _begin(asked)
        state.set(Key.DATABASE, begun)
    if begun is None:
        return
    if begun.reading.running:
        st.fragment(_watch, run_every=LOOKS_EVERY)()
        return
    inspection = begun.reading.inspection()
    if inspection.problems:
        show_problems(InvalidData(inspection.problems))
        return
    show_kind(inspection)
    show_inspection(inspection)
    synthetic = ask_synthetic()
    if st.button("Keep the data set", type="primary", key="database.keep"):
        _keep(begun, synthetic)


def _ask(names: list[str], *, disabled: bool) -> Asked | None:
    """What to count, once a person has pressed the button."""
    known = named_addresses()
    left, right = st.columns(2)
    with left:
        connection = st.selectbox(
            "Connection", names, format_func=clipped, disabled=disabled, key="database.connection"
        )
        schema = st.text_input(
            "Schema with the OMOP tables",
            known[connection].schema,
            max_chars=63,
            disabled=disabled,
            key=f"database.schema.{connection}",
        )
        name = st.text_input(
            "Name of the data set",
            connection[:60],
            max_chars=60,
            disabled=disabled,
            key=f"database.name.{connection}",
        )
    with right:
        chosen = _options(disabled=disabled)
    st.caption(
        "The server counts and only counts travel. It is asked in a read-only transaction; its "
        "address is shown nowhere."
    )
    if not st.button("Count in the database", key="database.count", disabled=disabled):
        return None
    try:
        return Asked(f"postgresql:{connection}", schema.strip(), BuildOptions(name=name, **chosen))
    except SwiftError as error:
        show_problems(error)
        return None


def _options(*, disabled: bool) -> dict[str, object]:
    top = st.number_input(
        "Features of each kind, at most (0: all)",
        0,
        20_000,
        USUAL_FEATURES,
        disabled=disabled,
        key="database.top",
    )
    joins = {kind: WORDS["join"][kind] for kind in ("patient", "visit")}
    join = st.selectbox(
        "What belongs together",
        list(joins),
        format_func=joins.__getitem__,
        disabled=disabled,
        key="database.join",
    )
    outcome = st.selectbox(
        "Outcome",
        list(OUTCOMES),
        format_func=OUTCOMES.__getitem__,
        disabled=disabled,
        key="database.outcome",
    )
    column = ""
    if outcome == "column":
        column = st.text_input(
            "Which column", max_chars=63, disabled=disabled, key="database.outcome_column"
        )
    return {"top": int(top), "join": join, "outcome": outcome, "outcome_column": column.strip()}


def _begin(asked: Asked) -> Begun:
    root = Path(cache.store().root) / uploads.UPLOADS
    stack = contextlib.ExitStack()
    folder = stack.enter_context(held(root / f"{uploads.DRAFT}{secrets.token_hex(8)}"))
    return Begun(DatabaseReading(asked, folder), stack)


def _watch() -> None:
    begun: Begun | None = state.get(Key.DATABASE)
    if begun is None or not begun.reading.running:
        st.rerun()
        return
    what, rows = begun.reading.said
    st.info(f"{plain(what, 100)}: {rows:,} rows read")
    if st.button("Stop", key="database.stop"):
        begun.reading.stop()
        _forget()
        st.rerun()


def _forget() -> None:
    begun: Begun | None = state.get(Key.DATABASE)
    if begun is not None:
        begun.reading.stop()
        begun.folder.close()
        state.forget(Key.DATABASE)


def _keep(begun: Begun, synthetic: bool) -> None:
    try:
        with st.spinner("Keeping the data set ..."):
            dataset = begun.reading.dataset()
            identifier = cache.store().add_dataset(dataset, synthetic=synthetic)
    except SwiftError as error:
        show_problems(error)
        return
    _forget()
    greet(identifier)
