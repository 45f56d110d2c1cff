"""How similar features are: by the rows, by a hierarchy, or by a file that a person brings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts import data as charts
from dashboard.charts.style import clustered
from dashboard.privacy import uploads
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.text.display import clipped
from dashboard.text.wording import capital
from dashboard.widgets.feature_costs import COSINE, Compared, compare_features, offered_costs
from dashboard.widgets.figure import show_figure
from dashboard.widgets.handed_over import ask_for_file
from dashboard.widgets.problems import show_problems
from dashboard.widgets.tables import show_table
from dashboard.widgets.text import plain
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.data.from_path.sandbox import read_costs
from swiftcore.errors import SwiftError

MAX_DRAWN = 120
MAX_MISSING = 500  # names of unknown features that are listed
CAN_BE_BROUGHT = """What can be read, with the names or codes of the features as they stand here:
- distances: a square table (CSV) with the names in the first line and the first column, or one
  line for each pair: feature, feature, distance;
- a hierarchy: a table with the columns child and parent;
- vectors: word2vec text, or a table with a name and numbers on each line.

Nothing leaves this computer. Results that are there stay as they are."""


def show_similarity() -> None:
    """Choose a mode and what to compare by; nearest features, distances, one's own file."""
    dataset = cache.dataset(state.current_dataset())
    names = {axis: dataset.tensor.modes[axis].name for axis in range(1, dataset.tensor.n_modes)}
    st.markdown(
        "SWIFT hardly minds when one feature stands for another that is close to it, and minds "
        "much when the two are far apart. Features are close when the same rows have them, or "
        "when you say so."
    )
    axis = int(
        st.selectbox(
            "Features", list(names), format_func=lambda each: clipped(names[each]), key="cost.axis"
        )
    )
    offers = offered_costs(state.current_dataset(), axis)
    last = state.get(Key.COST_ATTACHED, COSINE)
    text = str(
        st.selectbox(
            "Compared by",
            list(offers),
            index=list(offers).index(last) if last in offers else 0,
            format_func=lambda each: clipped(offers[each], 80),
            key=f"cost.by.{axis}.{last}",
        )
    )
    try:
        found = compare_features(state.current_dataset(), axis, text, state.small_cells())
    except SwiftError as error:
        show_problems(error)
    else:
        _show_compared(found, f"{axis}", state.label("cost") if text == COSINE else offers[text])
    _detach_button(names[axis], text)
    with st.expander("Bring your own similarity"):
        _bring(axis, names[axis])


def _show_compared(found: Compared, key: str, title: str) -> None:
    """Nearest features of one feature, what is not known, and the distances as a heatmap."""
    if found.left_out:
        st.caption(f"{found.left_out:,} rare features are left out here.")
    if not len(found.labels):
        st.info("No feature is frequent enough to be compared.")
        return
    known = found.known()
    feature = st.selectbox(
        "Nearest features of",
        list(found.labels),
        index=int(known[0]) if len(known) else 0,
        format_func=clipped,
        key=f"cost.feature.{key}",
    )
    if feature is not None:
        table = charts.nearest(found.cost, found.labels, feature).round(3).rename(columns=capital)
        show_table(table, f"Features nearest to {clipped(feature)}")
    _show_missing(found)
    _show_distances(found, key, title)


def _show_missing(found: Compared) -> None:
    if not found.missing:
        return
    st.warning(
        f"{len(found.missing):,} of {len(found.labels):,} features are not known there. They "
        "are as far from all others as the two farthest that are known."
    )
    with st.expander("Features that are not known there"):
        show_table(
            pd.DataFrame({"Feature": found.missing[:MAX_MISSING]}),
            "Features that the similarity does not know, the most frequent first",
        )


def _show_distances(found: Compared, key: str, title: str) -> None:
    """The distances of the most frequent features that are known, close ones side by side."""
    drawn = found.known()[:MAX_DRAWN]
    if not len(drawn):
        return
    order = drawn[clustered(found.cost[np.ix_(drawn, drawn)])]
    names_in_order = [found.labels[index] for index in order]
    st.markdown(f"**{plain(title, 80)}**")
    if len(drawn) < len(found.labels):
        st.caption(
            f"Drawn: the {len(drawn)} most frequent of {len(found.labels):,}"
            f"{' that are known' if found.missing else ''}. The table above knows the others too."
        )
    square = found.cost[np.ix_(order, order)]
    table = pd.DataFrame(square.round(3), columns=names_in_order)
    table.insert(0, "feature", names_in_order)
    show_figure(
        charts.cost_heatmap(square, names_in_order),
        f"Heatmap: distances between {len(order)} features; close ones stand side by side.",
        table,
        f"costs_{key}",
    )


def _detach_button(mode: str, text: str) -> None:
    attached = [
        one
        for one in cache.store().costs(state.current_dataset())
        if (one.mode, one.text) == (mode, text)
    ]
    if attached and st.button("Take this similarity away", key=f"cost.detach.{text}"):
        cache.store().detach_cost(attached[0])
        st.rerun()


def _bring(axis: int, mode: str) -> None:
    """Ask for a file, show what it says about the features, and attach it."""
    st.markdown(CAN_BE_BROUGHT)
    last = state.get(Key.COST_ATTACHED, "")  # an empty uploader after each
    file = ask_for_file(f"Similarities of {clipped(mode)}", key=f"cost.file.{axis}.{last}")
    if file is None:
        return
    dataset = cache.dataset(state.current_dataset())
    try:
        path = uploads.save([(file.name, file.content)], cache.store().root / uploads.UPLOADS)
        with st.spinner("Reading the file ..."):
            whole, notes = _read(str(path))
        table = dataset.outside.fitted_to(whole, dataset.tensor.modes[axis])
        found = compare_features(
            state.current_dataset(), axis, table.text, state.small_cells(), table
        )
    except SwiftError as error:
        show_problems(error)
        return
    for note in notes:
        st.caption(plain(note, 500))
    _show_compared(found, f"brought.{axis}", f"{table.source}: preview")
    if st.button("Attach to the data set", type="primary", key=f"cost.attach.{axis}"):
        try:
            cache.store().attach_cost(state.current_dataset(), mode, table)
        except SwiftError as error:  # no room
            show_problems(error)
            return
        uploads.forget(path, cache.store().root / uploads.UPLOADS)
        file.forget()
        state.set(Key.COST_ATTACHED, table.text)
        st.rerun()


@st.cache_resource(max_entries=4, show_spinner=False)
def _read(path: str) -> tuple[CostTable, tuple[str, ...]]:
    """In the guarded process; the path is named by the content."""
    return read_costs(path)
