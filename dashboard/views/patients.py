"""Who has it? Rows and their phenotypes: all, one and why, on a plane, by outcome, new ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.fit_view import row_tables
from dashboard.fit_view.summary import FitSummary
from dashboard.privacy.small_counts import hidden
from dashboard.session import cache, state
from dashboard.session.fit_summary import fit_summary, resolve_phenotype
from dashboard.session.state import Key
from dashboard.text.display import clipped
from dashboard.text.wording import capital, plural, row_name, vocabulary
from dashboard.widgets.chooser import choose_phenotype
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.figure import show_figure
from dashboard.widgets.new_rows import show_new_rows
from dashboard.widgets.one_row import shade_headings
from dashboard.widgets.reviews_fault import show_reviews_fault
from dashboard.widgets.row_map import show_map
from dashboard.widgets.row_page import show_row
from dashboard.widgets.tables import download_csv, download_rows, show_table
from dashboard.widgets.text import plain
from swiftcore.phenotypes.describe import CARRIED

PAGE = 50
MARK = "Mark a line to see it in the second tab."


def show() -> None:
    """Draw the page."""
    summary = fit_summary()
    noun = summary.row_noun if summary else "row"
    st.title(plain(capital(plural(noun)), 60), anchor=False)
    if summary is None or not summary.phenotypes:
        nothing_yet("There is no finished result for this data set yet.", "runs")
        return
    show_reviews_fault(summary.run)
    if not resolve_phenotype(summary):
        kind = vocabulary(summary.card.mode_names).finding
        st.warning(f"The {kind} of this link is not in this result. Here is the first one.")
    st.info(
        f"Row-level data: this page shows single {plain(plural(noun), 40)}. "
        "Do not pass it on without permission."
    )
    shared = cache.shares(summary.run)
    draw = (_show_all, _show_one, _show_plane, _show_strength, _show_new)
    one, many = plain(noun, 30), plain(plural(noun), 30)
    names = (f"All {many}", f"One {one}", "Map", "Strength and outcome", f"New {many}")
    tabs = st.tabs(names, key="tabs.patients", on_change="rerun")
    for tab, part in zip(tabs, draw, strict=True):
        if tab.open:
            with tab:
                part(summary, shared)


def _outcome(summary: FitSummary) -> np.ndarray | None:
    """The outcome of every row; None without one, or for a reader who judges blind."""
    return None if summary.blind_for else cache.dataset(summary.card.id).outcome


def _show_all(summary: FitSummary, shared: np.ndarray) -> None:
    """Every row, a page at a time; those that carry the chosen phenotype first."""
    kind = vocabulary(summary.card.mode_names).finding
    st.header(f"Which {plain(summary.row_noun, 40)} has which {kind}", anchor=False)
    by = _chosen_carriers(summary)
    rows = np.arange(len(shared)) if not by else np.array(summary.phenotypes[by].rows, dtype=int)
    if not len(rows):
        st.info(f"No row carries this {kind}: none has a tenth of it or more.")
        return
    pages = -(-len(rows) // PAGE)
    page = st.pagination(pages, key=f"page.{summary.run}.{by}") if pages > 1 else 1
    part = rows[(page - 1) * PAGE : page * PAGE]
    _show_page(summary, shared, part, f"members.{summary.run}.{by}.{page}")
    st.caption(
        f"{(page - 1) * PAGE + 1:,} to {(page - 1) * PAGE + len(part):,} of {len(rows):,}. "
        f"The stronger the colour, the more of the {plain(summary.row_noun, 40)} the {kind} makes "
        "up; below 0.5% a cell is blank. "
        f"{MARK}"
    )
    _download(summary, shared, rows, "memberships")


def _chosen_carriers(summary: FitSummary) -> str:
    """The phenotype whose carriers are listed; "" for all rows."""
    everyone = {"": "All, as in the data"}
    options = [*everyone, *summary.phenotypes]
    kept = state.get(Key.CARRYING, "")
    return st.selectbox(
        "Show",
        options,
        width=420,
        format_func=lambda each: everyone.get(each) or f"With {clipped(summary.title(each), 60)}",
        **state.bind_widget(Key.CARRYING, kept if kept in options else ""),
    )


def _show_page(summary: FitSummary, shared: np.ndarray, part: np.ndarray, key: str) -> None:
    """Some lines of the table; a marked one is shown in the next tab."""

    def picked() -> None:
        chosen = state.widget_value(key)["selection"]["rows"]
        if chosen:
            state.set(Key.ROW, int(part[chosen[0]]))
            state.set(Key.SOUGHT, "")

    _show_memberships(
        summary,
        _memberships(summary, shared, part),
        alt="Strength of each, one line per row",
        key=key,
        on_select=picked,
        selection_mode="single-row",
    )


def _show_memberships(summary: FitSummary, table: pd.DataFrame, **options: object) -> None:
    """The table with full names: of rows with their noun, of phenotypes with their names."""
    noun = summary.row_noun
    named = table.assign(**{noun: [row_name(noun, label) for label in table[noun]]})
    show_table(named, shaded=summary.phenotypes, column_config=shade_headings(summary), **options)


def _memberships(summary: FitSummary, shared: np.ndarray, rows: np.ndarray) -> pd.DataFrame:
    """As programs read it: labels of rows and phenotypes as they are, shares from 0 to 1."""
    table = row_tables.membership_table(
        summary.fit.modes[0].labels, shared, summary.fit.identifiers, rows, _outcome(summary)
    )
    dead = [summary.fit.identifiers[part] for part in summary.fit.dead]
    names = {
        "row": summary.row_noun,
        "outcome": summary.card.outcome_name or "outcome",
        "carries": f"{plural(vocabulary(summary.card.mode_names).finding)} carried",
    }
    return table.drop(columns=dead).rename(columns=names)


def _download(summary: FitSummary, shared: np.ndarray, rows: np.ndarray, name: str) -> None:
    download_rows(
        lambda chosen: _memberships(summary, shared, rows[chosen]),
        len(rows),
        f"row_level_{name}_{summary.run[:8]}",
        "Download row-level data (CSV)",
    )


def _show_one(summary: FitSummary, shared: np.ndarray) -> None:
    """One row, found by its label; everything about it, and rows like it."""
    noun, labels = plain(summary.row_noun, 40), summary.fit.modes[0].labels
    row = min(int(state.get(Key.ROW, 0)), len(labels) - 1)
    sought = state.get(Key.SOUGHT, "")  # a text that is no label
    st.text_input(
        f"Label of the {noun}, or a part of it",
        width=420,
        **state.bind_widget(
            Key.ROW, sought or labels[row], lambda typed: _seek(labels, typed), place="label"
        ),
    )
    if sought:
        _offer(summary, row_tables.find_rows(labels, sought))
        return
    show_row(summary, shared, row, _outcome(summary))
    st.markdown(f"**{capital(plural(noun))} with a similar mix**")
    near = row_tables.similar_rows(shared, row)
    found = _memberships(summary, shared, np.array([other for other, _ in near], dtype=int))
    found.insert(1, "similarity", [f"{value:.2f}" for _, value in near])
    _show_memberships(summary, found, alt="Rows with a similar mix")


def _seek(labels: tuple[str, ...], typed: str) -> None:
    known = typed in labels
    state.set(Key.SOUGHT, "" if known else typed)
    if known:
        state.set(Key.ROW, labels.index(typed))


def _offer(summary: FitSummary, found: list[int]) -> None:
    """The rows whose label holds what was typed."""
    noun, labels = summary.row_noun, summary.fit.modes[0].labels
    if not found:
        st.warning(
            f"No {plain(noun, 40)} has this in its label. "
            "Type it again, or mark a line in the table of all."
        )
        return

    def picked(row: int | None) -> None:
        if row is not None:
            state.set(Key.ROW, row)
            state.set(Key.SOUGHT, "")

    st.selectbox(
        f"Which {plain(noun, 40)}?",
        found,
        index=None,
        width=420,
        placeholder=f"{len(found)} found",
        format_func=lambda row: clipped(row_name(noun, labels[row]), 80),
        **state.bind_widget(Key.ROW, None, picked, place="found"),
    )


def _show_plane(summary: FitSummary, shared: np.ndarray) -> None:
    """All rows as points; those selected as a list."""
    st.header(f"Map of {plain(plural(summary.row_noun), 40)}", anchor=False)
    rows = show_map(summary, shared, outcome_shown=_outcome(summary) is not None)
    if not len(rows):
        return
    st.markdown(f"**{len(rows):,} selected**")
    _show_page(summary, shared, rows[:PAGE], f"selected.{summary.run}.{hash(rows.tobytes())}")
    more = f"The first {PAGE} of {len(rows):,} are listed; the file has all. "
    st.caption(f"{more if len(rows) > PAGE else ''}{MARK}")
    _download(summary, shared, rows, "selected")


def _show_strength(summary: FitSummary, shared: np.ndarray) -> None:
    """How strongly rows have a phenotype, per class of the outcome."""
    from dashboard.charts.patients import strengths  # plotly: only when this tab is open

    st.header("How strongly, and with which outcome", anchor=False)
    chosen = choose_phenotype(summary, list(summary.phenotypes), "patients")
    phenotype = summary.phenotypes[chosen]
    outcome = _outcome(summary)
    strength = shared[:, phenotype.component]
    _show_carriers(summary, strength >= CARRIED, outcome)
    carrying = np.abs(strength) > 0.005
    table = row_tables.strength_counts(
        strength[carrying], None if outcome is None else outcome[carrying]
    )
    table = row_tables.hide_small(table, summary.limit)
    kind = vocabulary(summary.card.mode_names).finding
    show_figure(
        strengths(table, f"Part of the row that is this {kind}", "Share of the group"),
        f"Bars: how strongly {plural(summary.row_noun)} have {chosen}",
        table,
        f"strength_{chosen}",
    )
    left_out = " Groups too small to show are left out, too." if table["share"].isna().any() else ""
    st.caption(f"Rows with hardly any of it (less than 0.5%) are left out.{left_out}")


def _show_carriers(summary: FitSummary, carries: np.ndarray, outcome: np.ndarray | None) -> None:
    if outcome is None:
        count = hidden(int(carries.sum()), summary.limit, len(carries))
        st.markdown(f"{count} of {len(carries):,} carry it.")
        return
    words = row_tables.outcome_words(outcome)
    table = row_tables.carriers_by_class(carries, words, summary.limit)
    show_table(
        table.rename(columns={"class": summary.card.outcome_name or "outcome"}),
        alt="How many of each group carry it",
    )
    download_csv(table, f"carriers_{state.current_phenotype()}")


def _show_new(summary: FitSummary, shared: np.ndarray) -> None:
    show_new_rows(summary)
