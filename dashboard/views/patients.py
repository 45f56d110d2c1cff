"""Who has it? Rows and their phenotypes: all, one and why, similar ones, new ones."""

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
from dashboard.text.wording import capital, plural
from dashboard.widgets.chooser import choose_phenotype
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.figure import show_figure
from dashboard.widgets.new_rows import show_new_rows
from dashboard.widgets.one_row import show_entries, show_row_phenotypes
from dashboard.widgets.reviews_fault import show_reviews_fault
from dashboard.widgets.tables import download_csv, hundreds, percents, show_table
from dashboard.widgets.text import plain
from swiftcore.phenotypes.describe import CARRIED
from swiftcore.phenotypes.shares import row_shares

PAGE = 50


def show() -> None:
    """Draw the page."""
    summary = fit_summary()
    noun = summary.row_noun if summary else "row"
    st.title(plain(capital(plural(noun)), 60), anchor=False)
    if summary is None or not summary.phenotypes:
        nothing_yet("There is no finished result to look at yet.", "runs")
        return
    show_reviews_fault(summary.run)
    if not resolve_phenotype(summary):
        st.warning("The phenotype of this link is not in this result. Here is the first one.")
    st.info(
        f"Row-level data: this page shows single {plain(plural(noun), 40)}. "
        "Do not pass it on without permission."
    )
    shared = row_shares(summary.fit.factors)
    draw = (_show_all, _show_one, _show_strength, _show_new)
    one, many = plain(noun, 30), plain(plural(noun), 30)
    names = (f"All {many}", f"One {one}", "Strength and outcome", f"New {many}")
    tabs = st.tabs(names, key="tabs.patients", on_change="rerun")
    for tab, part in zip(tabs, draw, strict=True):
        if tab.open:
            with tab:
                part(summary, shared)


def _show_all(summary: FitSummary, shared: np.ndarray) -> None:
    """Every row, a page at a time; those that carry the chosen phenotype first."""
    st.header("Who has which phenotype", anchor=False)
    by = _chosen_carriers(summary)
    rows = np.arange(len(shared)) if not by else np.array(summary.phenotypes[by].rows, dtype=int)
    if not len(rows):
        st.info("No row carries this phenotype: none has a tenth of it or more.")
        return
    pages = -(-len(rows) // PAGE)
    page = st.pagination(pages, key=f"page.{summary.run}.{by}") if pages > 1 else 1
    part = rows[(page - 1) * PAGE : page * PAGE]
    _show_page(summary, shared, part, f"members.{summary.run}.{by}.{page}")
    st.caption(
        f"{(page - 1) * PAGE + 1:,} to {(page - 1) * PAGE + len(part):,} of {len(rows):,}. "
        "Mark a line to see it in the next tab."
    )
    whole = _memberships(summary, shared, rows)
    download_csv(whole, f"row_level_memberships_{summary.run[:8]}", "Download row-level data (CSV)")


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
    """One page of the table; a marked line is shown in the next tab."""

    def picked() -> None:
        chosen = state.widget_value(key)["selection"]["rows"]
        if chosen:
            state.set(Key.ROW, int(part[chosen[0]]))
            state.set(Key.SOUGHT, "")

    show_table(
        hundreds(_memberships(summary, shared, part), summary.phenotypes),
        alt="Memberships, one line per row",
        key=key,
        on_select=picked,
        selection_mode="single-row",
        column_config=percents(summary.phenotypes),
    )


def _memberships(summary: FitSummary, shared: np.ndarray, rows: np.ndarray) -> pd.DataFrame:
    data = cache.dataset(summary.card.id)
    table = row_tables.membership_table(
        summary.fit.modes[0].labels, shared, summary.fit.identifiers, rows, data.outcome
    )
    dead = [summary.fit.identifiers[part] for part in summary.fit.dead]
    names = {
        "row": summary.row_noun,
        "outcome": summary.card.outcome_name or "outcome",
        "carries": "phenotypes carried",
    }
    return table.drop(columns=dead).rename(columns=names)


def _show_one(summary: FitSummary, shared: np.ndarray) -> None:
    """One row, its phenotypes, the entries behind them, and rows like it."""
    st.header(f"One {plain(summary.row_noun, 40)}", anchor=False)
    labels = summary.fit.modes[0].labels
    row = min(int(state.get(Key.ROW, 0)), len(labels) - 1)
    sought = state.get(Key.SOUGHT, "")  # a label that was typed and not found
    st.text_input(
        f"Label of the {plain(summary.row_noun, 40)}",
        width=420,
        **state.bind_widget(
            Key.ROW, sought or labels[row], lambda typed: _seek(labels, typed), place="label"
        ),
    )
    if sought:
        st.warning(
            "There is no row with exactly this label. "
            "Type it again, or mark a line in the table of all."
        )
        return
    show_row_phenotypes(summary, shared[row], "row")
    table = row_tables.why(row, summary.fit, cache.dataset(summary.card.id).tensor, _modes(summary))
    show_entries(summary, table, f"row_level_entries_{summary.run[:8]}")
    st.markdown(f"**{plain(capital(plural(summary.row_noun)), 40)} with a similar mix**")
    near = row_tables.similar_rows(shared, row)
    others = [other for other, _ in near]
    found = _memberships(summary, shared, np.array(others, dtype=int))
    found.insert(1, "Similarity", [value for _, value in near])
    show_table(
        hundreds(found, summary.phenotypes),
        alt="Rows with a similar mix of phenotypes",
        column_config=percents(summary.phenotypes),
    )


def _seek(labels: tuple[str, ...], typed: str) -> None:
    known = typed in labels
    state.set(Key.SOUGHT, "" if known else typed)
    if known:
        state.set(Key.ROW, labels.index(typed))


def _modes(summary: FitSummary) -> list[str]:
    return list(next(iter(summary.phenotypes.values())).items)


def _show_strength(summary: FitSummary, shared: np.ndarray) -> None:
    """How strongly rows have a phenotype, per class of the outcome."""
    from dashboard.charts.patients import strengths  # plotly: only when this tab is open

    st.header("How strongly, and with which outcome", anchor=False)
    chosen = choose_phenotype(summary, list(summary.phenotypes), "patients")
    phenotype = summary.phenotypes[chosen]
    outcome = cache.dataset(summary.card.id).outcome
    strength = shared[:, phenotype.component]
    _show_carriers(summary, strength >= CARRIED, outcome)
    carrying = np.abs(strength) > 0.005
    table = row_tables.strength_counts(
        strength[carrying], None if outcome is None else outcome[carrying]
    )
    table = row_tables.hide_small(table, summary.limit)
    show_figure(
        strengths(table, "Part of the row that is this phenotype", "Share of the group"),
        f"Bars: how strongly {plural(summary.row_noun)} have {chosen}",
        table,
        f"strength_{chosen}",
    )
    left_out = " Groups too small to show are left out, too." if table["share"].isna().any() else ""
    st.caption(f"Rows with hardly any of it (less than 0.5 %) are left out.{left_out}")


def _show_carriers(summary: FitSummary, carries: np.ndarray, outcome: np.ndarray | None) -> None:
    if outcome is None:
        count = hidden(int(carries.sum()), summary.limit, len(carries))
        st.markdown(f"{count} of {len(carries):,} carry it.")
        return
    words = np.array([row_tables.outcome_word(value) for value in outcome])
    table = row_tables.carriers_by_class(carries, words, summary.limit)
    show_table(
        table.rename(columns={"class": summary.card.outcome_name or "outcome"}),
        alt="How many of each group carry it",
    )
    download_csv(table, f"carriers_{state.current_phenotype()}")


def _show_new(summary: FitSummary, shared: np.ndarray) -> None:
    show_new_rows(summary)
