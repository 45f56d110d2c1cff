"""All phenotypes as one table with everything known of each, to sort, to read and to save."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.fit_view import phenotype_tables
from dashboard.fit_view.summary import FitSummary
from dashboard.privacy.small_counts import hidden
from dashboard.session import state
from dashboard.session.fit_summary import link_words
from dashboard.session.state import Key
from dashboard.text.wording import capital, plural
from dashboard.widgets.tables import download_csv, hundreds, percents, show_table


def show_ranking(summary: FitSummary) -> None:
    """The table in the order of the list, with its file."""
    table = _named(ranking(summary, state.get(Key.SORT, "share")), summary)
    shares = (state.label("share"), state.label("stability"))
    show_table(
        hundreds(table, shares),
        alt=state.phrase("Phenotypes, ranked"),
        column_config={"Name": st.column_config.TextColumn(width=300), **percents(shares, 1)},
    )
    download_csv(table, f"phenotypes_{summary.run[:8]}", "Download this table")


def ranking(summary: FitSummary, by: str) -> pd.DataFrame:
    """One row per phenotype, sorted, with all that is known about it."""
    judged = phenotype_tables.review_states(summary.reviews, summary.settled)
    table = pd.DataFrame(
        [
            {
                "id": name,
                "name": summary.names[name],
                "group": summary.groups.get(name, ""),
                "share": each.share,
                "carriers": len(each.rows),
                "weight": summary.links[name].weight if name in summary.links else 0.0,
                "link": link_words(summary, name),
                "fits": each.found_in[0] if each.found_in else 0,
                "stability": summary.stability.get(name, float("nan")),
                "review": judged.get(name, "not yet"),
            }
            for name, each in summary.phenotypes.items()
        ]
    )
    column = {"rows": "carriers", "link": "weight"}.get(by, by)
    table = table.sort_values(column, ascending=by == "id", kind="stable", ignore_index=True)
    table["rows"] = [
        hidden(count, summary.limit, summary.card.shape[0]) for count in table["carriers"]
    ]
    return table


def _named(table: pd.DataFrame, summary: FitSummary) -> pd.DataFrame:
    """The table under the words of the day, without columns that have nothing in them."""
    columns = {
        "id": "Id",
        "name": "Name",
        "group": "Suggested group",
        "share": state.label("share"),
        "rows": f"{capital(plural(summary.row_noun))} carrying it",
        "link": state.label("link"),
        "fits": f"{state.label('found_in')} {state.label('fits')}",
        "stability": state.label("stability"),
        "review": "Makes sense?",
    }
    if not summary.groups:
        del columns["group"]
    agreed = summary.fit.agreement
    if agreed is None:
        del columns["fits"]
    else:
        table = table.assign(fits=[f"{number} of {agreed.n_fits}" for number in table["fits"]])
    if not summary.links:
        del columns["link"]
    if not summary.stability:
        del columns["stability"]
    return table[list(columns)].rename(columns=columns)
