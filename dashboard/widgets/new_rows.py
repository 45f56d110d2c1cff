"""New rows described by a finished result: upload, project in the background, look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.fit_view import row_tables
from dashboard.fit_view.row_card import RowEntries, grouped_entries
from dashboard.fit_view.summary import FitSummary
from dashboard.jobs import jobs
from dashboard.privacy import uploads
from dashboard.privacy.small_counts import hidden
from dashboard.session import cache, state
from dashboard.session.shown_from import drawn_from
from dashboard.session.state import Key
from dashboard.store.cards import NEW_ROWS, RunCard, RunState, belongs
from dashboard.store.dataset_files import NEW_ROWS_NAME
from dashboard.store.request import Request
from dashboard.store.results import Projection, entry_shares
from dashboard.text.display import clipped
from dashboard.text.wording import count_of, plural, row_name
from dashboard.widgets.handed_over import HandedFile, ask_for_file
from dashboard.widgets.one_row import shade_headings, show_entries, show_row_phenotypes
from dashboard.widgets.origin import say_origin
from dashboard.widgets.problems import show_problems
from dashboard.widgets.sidebar import run_name
from dashboard.widgets.tables import download_rows, show_table
from dashboard.widgets.text import plain
from swiftcore.data.dataset import Dataset
from swiftcore.data.options import BuildOptions
from swiftcore.errors import SwiftError
from swiftcore.phenotypes.shares import row_shares

OFFERED = 20  # new rows to choose from before anything was typed


def show_new_rows(summary: FitSummary) -> None:
    """Upload on top, results below."""
    st.header(f"New {plain(plural(summary.row_noun), 40)}", anchor=False)
    st.markdown(
        state.phrase(
            "Upload rows of the same kind. Each is described by the phenotypes of this result, "
            "which stays as it is."
        )
    )
    box = st.expander("Upload a file", key="new_rows.upload", on_change="rerun")
    if box.open:
        with box:
            _upload(summary)
    mine = summary.run, summary.fit.imported
    runs = [run for run in cache.runs(kind="projection") if belongs(run, *mine)]
    if not runs:
        st.info("No new rows yet.")
        return
    run = _chosen_run(runs)
    if run.state is RunState.DONE:
        say_origin(run.imported)
        with drawn_from(run.imported or summary.fit.imported):
            _show_projection(summary, cache.projection(run.id), _limit(run))
    elif run.state.active:
        st.info("This is being computed; it appears here by itself.")
    else:
        st.error(f"This could not be computed: {plain(run.message, 300)} Upload the file again.")
    if not run.state.active:
        _delete(run)


def _chosen_run(runs: list[RunCard]) -> RunCard:
    listed = {run.id: run for run in runs}
    kept = state.get(Key.PROJECTION, "")
    chosen = st.selectbox(
        "Result",
        list(listed),
        format_func=lambda each: _name(listed[each]),
        width=420,
        **state.bind_widget(Key.PROJECTION, kept if kept in listed else runs[0].id),
    )
    return listed[chosen]


def _upload(summary: FitSummary) -> None:
    given = ask_for_file(
        f"File with new {plain(plural(summary.row_noun), 40)}",
        help="Any file that the Data page reads: CSV, Parquet, zip, npz.",
        key="new_rows",
    )
    synthetic = st.checkbox(
        "These rows are synthetic: they describe no real persons",
        help="Only then may small counts be shown.",
        key="new_rows.synthetic",
    )
    if given is None or not st.button("Describe these rows", type="primary", key="project"):
        return
    try:
        with st.spinner("Reading the file"):
            data = _read(given)
        run = start_projection(summary, data, synthetic=synthetic)
    except SwiftError as error:
        show_problems(error)
        return
    state.set(Key.PROJECTION, run)
    st.rerun()


def _read(given: HandedFile) -> Dataset:
    from swiftcore.data.from_path.sandbox import (
        build_path,  # readers: only when there is something to read
    )

    path = uploads.save([(given.name, given.content)], cache.store().root / uploads.UPLOADS)
    options = BuildOptions().for_new_rows()
    return replace(build_path(path, options), name=f"{NEW_ROWS_NAME}{clipped(given.name, 60)}")


def start_projection(summary: FitSummary, data: Dataset, *, synthetic: bool = False) -> str:
    """Keep the rows and start the job; the run's id. Rows are real unless a person says so."""
    store = cache.store()
    dataset = store.add_dataset(data, synthetic=synthetic, role=NEW_ROWS)
    try:
        return jobs.start(store, Request("projection", dataset, {}, summary.run))
    except SwiftError:
        store.drop_rows([dataset])  # nothing would show them
        raise


def _limit(run: RunCard) -> int:
    """Counts of the new rows below this are hidden, whatever the fit was made from."""
    return state.limit_for(cache.card(run.dataset).synthetic)


def _delete(run: RunCard) -> None:
    sure = st.checkbox("I want to delete these new rows", key=f"sure.{run.id}")
    if st.button("Delete the new rows", key="delete_rows", disabled=not sure):
        cache.store().delete_run(run.id)
        state.forget(Key.PROJECTION)
        st.rerun()


def _name(run: RunCard) -> str:
    try:
        data = cache.card(run.dataset).name
    except SwiftError:
        data = "deleted data"
    return f"{clipped(data, 50)}: {run_name(run)}"


def _show_projection(summary: FitSummary, projection: Projection, limit: int) -> None:
    unknown = sum(map(len, projection.unknown.values()))
    if unknown:
        some = ", ".join(
            plain(label, 30) for labels in projection.unknown.values() for label in labels[:5]
        )
        more = " and more" if unknown > 5 else ""
        st.warning(
            f"Left out because this result does not know them: "
            f"{count_of(unknown, 'feature')} with "
            f"{hidden(projection.entries_left_out, limit)} entries ({some}{more})."
        )
    if projection.empty_rows:
        empty = hidden(len(projection.empty_rows), limit, len(projection.row_labels))
        st.warning(f"Rows with nothing that this result knows: {empty}.")
    shared = row_shares([projection.memberships, *projection.profiles])
    count = len(projection.row_labels)
    first, noun = _memberships(projection, shared, slice(200)), projection.modes[0].name
    named = first.assign(**{noun: [row_name(noun, label) for label in first[noun]]})
    show_table(
        named,
        alt=state.phrase("New rows and their phenotypes"),
        shaded=projection.identifiers,
        column_config=shade_headings(summary),
    )
    if count > 200:
        st.caption(f"The first 200 of {count:,} rows are shown; the file has all.")
    download_rows(
        lambda chosen: _memberships(projection, shared, chosen),
        count,
        f"row_level_new_rows_{summary.run[:8]}",
        "Download row-level data (CSV)",
    )
    _show_one(summary, projection, shared)


def _memberships(projection: Projection, shared: np.ndarray, chosen: slice) -> pd.DataFrame:
    rows = np.arange(len(shared))[chosen]
    table = row_tables.membership_table(projection.row_labels, shared, projection.identifiers, rows)
    return table.rename(
        columns={"row": projection.modes[0].name, "carries": state.phrase("phenotypes carried")}
    )


def _show_one(summary: FitSummary, projection: Projection, shared: np.ndarray) -> None:
    noun, labels = projection.modes[0].name, projection.row_labels
    typed = st.text_input(
        f"Label of the {plain(noun, 40)}, or a part of it", width=420, key="new_row.label"
    )
    found = row_tables.find_rows(labels, typed) if typed else list(range(min(OFFERED, len(labels))))
    if not found:
        st.warning(f"No new {plain(noun, 40)} has this in its label.")
        return
    row = st.selectbox(
        "Look at one",
        found,
        format_func=lambda each: clipped(row_name(noun, labels[each]), 80),
        width=420,
        key="new_row",
    )
    show_row_phenotypes(summary, shared[row], "new_row")
    mine = projection.coordinates[:, 0] == row
    places = projection.coordinates[mine]
    parts = entry_shares(projection.memberships[row], projection.profiles, places[:, 1:])
    entries = RowEntries(
        projection.modes, projection.identifiers, places, projection.values[mine], parts
    )
    show_entries(summary, grouped_entries(entries), "row_level_new_entries")
