"""Data: what went in, how often, how similar; and the way in for data of one's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dashboard.charts import data as charts
from dashboard.charts.style import mode_colour
from dashboard.fit_view.phenotype_tables import row_counts
from dashboard.privacy.small_counts import hidden, hidden_share, hide_table
from dashboard.session import cache, state
from dashboard.session.shown_from import WITH_A_RESULT, drawn_from
from dashboard.session.state import Key
from dashboard.store.cards import DatasetCard
from dashboard.text.display import clipped
from dashboard.text.wording import capital, count_of
from dashboard.widgets.blind import show_hidden
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.figure import show_figure
from dashboard.widgets.from_database import add_from_files_or_database
from dashboard.widgets.guard import guarded
from dashboard.widgets.problems import show_problems
from dashboard.widgets.similarity import show_similarity
from dashboard.widgets.storage import show_storage
from dashboard.widgets.tables import show_table
from dashboard.widgets.text import plain
from swiftcore.data.dataset import Dataset
from swiftcore.data.summary import USUAL_FOLDS
from swiftcore.errors import SwiftError

MAX_BARS = 20


def show() -> None:
    """What is there first; the way in for new data beside it."""
    st.title("Data")
    _say_built()
    if not state.current_dataset():
        nothing_yet("There are no data yet. Add some files here.")
        guarded(add_from_files_or_database)
        return
    views = {
        "This data set": _overview,
        "How similar features are": show_similarity,
        "Add data": add_from_files_or_database,
        "Storage": show_storage,
        "Delete": _delete,
    }
    tabs = st.tabs(list(views), on_change="rerun", key="data.tab")
    imported = cache.card(state.current_dataset()).imported
    for tab, draw in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab, drawn_from(WITH_A_RESULT if imported else None):
                guarded(draw)


def _say_built() -> None:
    """Until the first run of it, a data set just built is greeted with the next step."""
    built = state.get(Key.BUILT)
    if not built or built != state.current_dataset() or cache.runs(built):
        state.forget(Key.BUILT)
        return
    if state.get(Key.GREETED) != built:
        state.set(Key.GREETED, built)
        state.set_widget("data.tab", "This data set")
    st.success(state.phrase("The data set is built and kept. Next: find its phenotypes."))
    page = state.page("runs")
    label = state.phrase("Find its phenotypes")
    if page is not None and st.button(label, type="primary", key="next"):
        st.switch_page(page)


def _overview() -> None:
    card = cache.card(state.current_dataset())
    dataset = cache.dataset(card.id)
    sizes = " x ".join(
        count_of(size, name) for size, name in zip(card.shape, card.mode_names, strict=True)
    )
    filled = dataset.tensor.density
    st.header(plain(card.name, 60))
    st.markdown(f"{plain(sizes)}; {card.entries:,} cells filled ({filled:.2%}).")
    st.caption(plain(card.origin, 500))
    _show_outcome(dataset)
    _show_entries(dataset)
    for axis in range(1, len(card.shape)):
        _show_frequency(dataset, axis)
    _show_summary(dataset)


def _show_entries(dataset: Dataset) -> None:
    noun, limit = dataset.tensor.modes[0].name, state.small_cells()
    per_row = _entries_per_row(str(cache.store().root), state.current_dataset())
    table = charts.entries_table(per_row)
    texts = hide_table(table[["rows"]], limit)["rows"].iloc[:-1].reset_index(drop=True)
    open_ = texts == table["rows"].map("{:,}".format)
    st.markdown(
        f"**Entries of one {plain(noun, 60)}**: {per_row.min():,} to {per_row.max():,}, "
        f"half have {int(np.median(per_row)):,} or more."
    )
    show_figure(
        charts.entries_bars(table.assign(rows=table["rows"].where(open_, 0)), noun),
        f"Bars: how many rows have how many entries; the middle is {np.median(per_row):g}.",
        table.assign(rows=texts).rename(columns=capital),
        "entries_per_row",
    )
    if not open_.all():
        st.caption(
            f"{(~open_).sum()} bars are not drawn: they stand for fewer than {limit} rows, "
            "or would give such a count away."
        )


def _show_outcome(dataset: Dataset) -> None:
    if cache.is_blind(state.current_run()):
        show_hidden("how many rows have which outcome")
        return
    if dataset.outcome is None:
        st.markdown(
            state.phrase(
                "No outcome: phenotypes can be found and judged, but nothing is predicted."
            )
        )
        return
    values, counts = np.unique(dataset.outcome, return_counts=True)
    names = [{"False": "no", "True": "yes"}.get(str(value), str(value)) for value in values]
    table = hide_table(pd.DataFrame({"Rows": counts}, index=names), state.small_cells())[["Rows"]]
    st.markdown(f"**Outcome: {plain(dataset.outcome_name or 'outcome', 60)}**")
    show_table(table.reset_index(names="Outcome"), "How many rows have which outcome")
    if counts.min() < max(USUAL_FOLDS, state.small_cells()):  # says nothing about small counts
        st.caption(
            f"A class with fewer than {USUAL_FOLDS} rows is too small to be tested. Experiments on "
            "the page Runs can leave small classes out (Advanced)."
        )


def _show_frequency(dataset: Dataset, axis: int) -> None:
    mode = dataset.tensor.modes[axis]
    total, limit = dataset.tensor.shape[0], state.small_cells()
    table = _frequencies(axis)
    if axis > 1 and table.equals(_frequencies(axis - 1)):
        st.caption(f"{capital(plain(mode.name, 60))}: the same as the one above.")
        return
    shown = pd.DataFrame(
        {
            "Feature": table["feature"],
            "Rows": [hidden(count, limit, total) for count in table["rows"]],
            "Share": [hidden_share(count, total, limit, 1) for count in table["rows"]],
        }
    )
    drawn = table[shown["Rows"].str[0].str.isdecimal()].head(MAX_BARS)
    st.markdown(f"**Most frequent: {plain(mode.name, 60)}**")
    show_figure(
        charts.frequency_bars(drawn, mode_colour(axis)),
        f"Bars: the {len(drawn)} most frequent of {len(table)}; the first is "
        f"{clipped(drawn['feature'].iloc[0]) if len(drawn) else 'none'}.",
        shown,
        f"frequency_{axis}",
    )
    if len(table) > len(drawn):
        st.caption(f"The other {len(table) - len(drawn):,} are in the table below the chart.")


def _frequencies(axis: int) -> pd.DataFrame:
    return _frequency_table(str(cache.store().root), state.current_dataset(), str(axis))


@st.cache_resource(max_entries=16, show_spinner=False)
def _frequency_table(root: str, dataset: str, axis: str) -> pd.DataFrame:
    has, mode = cache.presence(dataset, int(axis)), cache.dataset(dataset).tensor.modes[int(axis)]
    return charts.frequency_table(row_counts(has).astype(np.int64), mode.labels, has.shape[0])


@st.cache_resource(max_entries=8, show_spinner=False)
def _entries_per_row(root: str, dataset: str) -> NDArray[np.int64]:
    tensor = cache.dataset(dataset).tensor
    return np.bincount(tensor.coordinates[:, 0], minlength=tensor.shape[0])


def _show_summary(dataset: Dataset) -> None:
    summary = dataset.summary
    if summary is None:
        return
    with st.expander("Where the data came from, and what was left out"):
        if summary.left_out:
            table = pd.DataFrame(
                [(one.where, one.count, one.reason) for one in summary.left_out],
                columns=["Where", "How many", "Why"],
            )
            show_table(table, "What was left out, and why")
        else:
            st.markdown("Nothing was left out.")
        for sentence in (*summary.notes, *map(str, summary.leaky)):
            st.markdown(f"- {plain(sentence, 500)}")


def _delete() -> None:
    card = cache.card(state.current_dataset())
    runs = cache.runs(card.id)
    st.markdown(
        f"This deletes the data set **{plain(card.name, 60)}** and "
        f"{count_of(len(runs), 'run')} of it from this computer, with every judgement of "
        f"{state.phrase('its phenotypes')}. It cannot be undone."
    )
    sure = st.checkbox("I want to delete it", key=f"sure.{card.id}")
    if st.button("Delete the data set", key="delete_dataset", disabled=not sure):
        delete(card)


def delete(card: DatasetCard) -> None:
    """Delete a data set and all that is held of it in memory."""
    try:
        cache.store().delete_dataset(card.id)
    except SwiftError as error:
        show_problems(error)
        return
    st.cache_resource.clear()
    state.choose_for_next(dataset="", run="", phenotype="")
    st.rerun()
