"""One row (a patient, a document): what is known of it, its phenotypes, its entries, its days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.fit_view.row_card import NONE, feature_modes
from dashboard.fit_view.summary import FitSummary
from dashboard.session import state
from dashboard.session.fit_summary import link_words
from dashboard.session.state import Key
from dashboard.text.display import clipped
from dashboard.text.wording import capital, plural, vocabulary
from dashboard.widgets.figure import show_figure
from dashboard.widgets.tables import download_csv, hundreds, show_table
from dashboard.widgets.text import plain

MIN_SHARE = 0.02  # weaker phenotypes of a row are not drawn
MAX_LANES = 12  # of a timeline
CARD_WIDTH = 470  # pixels: two side by side on a screen of 1400, one below the other on less
MAX_TEXT = 20_000  # characters
# Streamlit's own backgrounds, readable in both themes; the strongest phenotype has the first
INKS = ("blue", "orange", "green", "violet", "red", "yellow", "gray")


def component(summary: FitSummary) -> str:
    """What a component is called on this page: phenotype, or topic."""
    return vocabulary(summary.card.mode_names).finding


def shade_headings(summary: FitSummary) -> dict[str, Any]:
    """Short headings for a table of memberships; the pointer shows each name in full."""
    return {
        name: st.column_config.Column(
            clipped(summary.title(name), 60), width=118, help=clipped(summary.title(name), 200)
        )
        for name in summary.phenotypes
    }


def show_facts(title: str, facts: list[tuple[str, str]]) -> None:
    """A row's name, and what is known of it besides its entries."""
    st.header(plain(title, 80), anchor=False)
    with st.container(horizontal=True, gap="medium"):
        for name, value in facts:
            st.markdown(f"{plain(capital(name), 40)}: **{plain(value, 80)}**", width="content")


def show_row_phenotypes(summary: FitSummary, shares: np.ndarray, place: str) -> None:
    """The phenotypes of a row as bars, with the link to the outcome in the table."""
    from dashboard.charts.patients import row_bars  # plotly: only when a row is shown

    names = row_phenotypes(summary, shares)
    if not names:
        st.info(f"Nothing in this {plain(summary.row_noun, 40)} is known to this result.")
        return
    parts = [float(shares[summary.fit.identifiers.index(name)]) for name in names]
    titles = [summary.title(name) for name in names]
    whole = f"part of this {summary.row_noun}"
    table = pd.DataFrame({component(summary): titles, whole: parts})
    if summary.links:
        table[state.label("link")] = [link_words(summary, name) for name in names]
    show_figure(
        row_bars(titles, parts, capital(clipped(whole, 50))),
        f"Bars: the {plural(component(summary))} of this {summary.row_noun}, strongest first: "
        f"{', '.join(names[:5])}",
        table,
        f"row_level_{place}",
    )


def row_phenotypes(summary: FitSummary, shares: np.ndarray) -> list[str]:
    """The phenotypes of a row that are worth showing, strongest first."""
    size = np.abs(shares)
    order = np.argsort(-size, kind="stable")
    return [summary.fit.identifiers[part] for part in order if size[part] >= MIN_SHARE]


def show_entries(summary: FitSummary, grouped: Mapping[str, pd.DataFrame], place: str) -> None:
    """What stands in the row, mode by mode, and which phenotype explains it."""
    kinds = " and ".join(plain(plural(mode), 40) for mode in grouped)
    st.markdown(f"**{capital(kinds)}, and the {component(summary)} that explains each**")
    only = _chosen_reason(summary, grouped, place)
    shown = {
        mode: table[table["phenotype"] == only] if only else table
        for mode, table in grouped.items()
    }
    with st.container(horizontal=True):
        for mode, table in shown.items():
            named = table.assign(phenotype=[_title(summary, one) for one in table["phenotype"]])
            headings = _headings(summary, mode)
            show_table(
                hundreds(named[[name for name in headings if name in named]], ("part",)),
                alt=f"{capital(plural(mode))} of this {summary.row_noun}",
                column_config=headings,
                width=CARD_WIDTH if len(shown) > 1 else "stretch",
            )
    whole = pd.concat([table.assign(kind=mode) for mode, table in shown.items()])
    download_csv(whole, place, "Download row-level data (CSV)")


def _chosen_reason(summary: FitSummary, grouped: Mapping[str, pd.DataFrame], place: str) -> str:
    there = {name for table in grouped.values() for name in table["phenotype"]}
    options = ["", *(name for name in summary.phenotypes if name in there)]
    kept = state.get(Key.BECAUSE, "")
    return st.selectbox(
        "Explained most by",
        options,
        width=420,
        format_func=lambda each: _title(summary, each) if each else f"any {component(summary)}",
        **state.bind_widget(Key.BECAUSE, kept if kept in options else "", place=place),
    )


def _headings(summary: FitSummary, mode: str) -> dict[str, Any]:
    """The columns of one mode's features that have room beside another mode's."""
    modes = feature_modes(summary.fit.modes)
    others = [one.name for one in modes if one.name != mode or len(one.axes) > 1]
    partners = plural(others[0]) if len(others) == 1 else "entries"
    kind, text, number = (
        component(summary),
        st.column_config.TextColumn,
        st.column_config.NumberColumn,
    )
    return {
        "feature": text(clipped(capital(mode), 40), width=185),
        "phenotype": text(capital(kind), width=125),
        "part": number("Part", width=55, format="%.0f%%", help=f"How much this {kind} explains."),
        "days": number("Days", width=55, help="On how many days it was recorded."),
        "others": number("With", width=55, help=f"How many {clipped(partners, 40)} stand with it."),
    }


def _title(summary: FitSummary, name: str) -> str:
    return summary.title(name) if name in summary.names else name


def show_timeline(summary: FitSummary, table: pd.DataFrame, place: str) -> None:
    """When what was recorded, in lanes of the phenotypes that explain it."""
    from dashboard.charts.patients import timeline  # plotly: only when a row is shown

    if table.empty:
        return
    counts = table["phenotype"].value_counts()
    order = sorted(counts.index, key=lambda name: (name == NONE, -counts[name], name))[:MAX_LANES]
    lanes = {name: "not explained" if name == NONE else _title(summary, name) for name in order}
    first, last = table["date"].min(), table["date"].max()
    st.markdown(f"**What was recorded when** ({first} to {last})")
    drawn = table[table["phenotype"].isin(order)]
    show_figure(
        timeline(drawn, lanes),
        f"Points in time: what was recorded from {first} to {last}, in lanes of the "
        f"{plural(component(summary))} that explain it",
        table,
        f"row_level_{place}",
    )


def show_marked_text(
    summary: FitSummary, pieces: list[tuple[str, str]], shares: np.ndarray
) -> None:
    """A document's text, each word with the background of the topic it belongs to."""
    counts = pd.Series([owner for _, owner in pieces if owner], dtype=object).value_counts()
    there = [name for name in row_phenotypes(summary, shares) if name in counts]
    inks = dict(zip(there, INKS, strict=False))
    st.markdown("**The text, with the words of each topic marked**")
    legend = [
        f":{ink}-background[{plain(clipped(summary.title(name), 60))}] ({counts[name]})"
        for name, ink in inks.items()
    ]
    st.markdown(" ".join(legend) or "None of its words belongs to a topic.")
    shown, left = [], MAX_TEXT
    for text, owner in pieces:
        shown.append(_piece(text[:left], inks.get(owner, "")))
        left -= len(text)
        if left <= 0:
            break
    with st.container(border=True, height=420 if left < MAX_TEXT - 1500 else "content"):
        st.markdown("".join(shown))
    if left <= 0:
        st.caption(f"The first {MAX_TEXT:,} characters are shown.")


def _piece(text: str, ink: str) -> str:
    """Escaped line by line: two spaces end a line in Markdown, four would begin a program."""
    if ink:
        return f":{ink}-background[{plain(text)}]"
    first, *more = text.split("\n")
    return "  \n".join([plain(first), *(plain(line.lstrip()) for line in more)])
