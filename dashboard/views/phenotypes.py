"""What did we find? A ranked table, then one phenotype in detail, then all together."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.fit_view import phenotype_tables
from dashboard.fit_view.summary import FitSummary
from dashboard.privacy.small_counts import hidden
from dashboard.session import state
from dashboard.session.fit_summary import fit_summary, link_words, resolve_phenotype
from dashboard.session.state import Key
from dashboard.text.wording import capital, count_of, plural
from dashboard.widgets.chooser import choose_phenotype
from dashboard.widgets.comparisons import show_comparisons
from dashboard.widgets.definition import show_definition
from dashboard.widgets.downloads import show_report
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.lineage import show_parentage
from dashboard.widgets.profiles import show_profiles
from dashboard.widgets.refit import open_refit, show_refit
from dashboard.widgets.reviews_fault import show_reviews_fault
from dashboard.widgets.tables import download_csv, hundreds, percents, show_table
from dashboard.widgets.text import plain
from swiftcore.evaluation.methods.catalogue import title_of

TABLE_ALONE = 0.5  # seconds that the table has the browser to itself when it is opened
SORTS = {
    "share": "Share of the data",
    "id": "Number",
    "rows": "How many carry it",
    "link": "Link to the outcome",
    "fits": "Fits that found it",
    "stability": "Found again",
}


def show() -> None:
    """Draw the page."""
    st.title(state.phrase("Phenotypes"), anchor=False)
    open_refit()
    summary = fit_summary()
    if summary is None:
        nothing_yet(
            "There is no finished result for this data set yet. Start a run and its "
            "phenotypes appear here.",
            "runs",
        )
        return
    if not summary.phenotypes:
        nothing_yet("This run found no phenotype: all of them died out. Try fewer.", "runs")
        return
    show_reviews_fault(summary.run)
    if not resolve_phenotype(summary):
        st.warning("The phenotype of this link is not in this result. Here is the first one.")
    _show_facts(summary)
    show_parentage(summary)
    order = _show_ranking(summary)
    chosen = choose_phenotype(summary, order, "phenotypes")
    if not state.get(Key.TABLE_SEEN):
        st.fragment(_table_first, run_every=TABLE_ALONE)()
        return
    _show_detail(summary, chosen)
    show_refit(summary, chosen)
    show_definition(summary, chosen)
    show_comparisons(summary)
    show_report(summary)


def _table_first() -> None:
    """Let a new browser show the table before it loads the code for charts, which takes seconds.

    The first call draws a line of words; the next one, which the browser asks for, all the rest.
    """
    if state.get(Key.TABLE_SEEN):
        st.rerun()
    state.set(Key.TABLE_SEEN, True)
    st.caption("The charts follow.")


def _show_facts(summary: FitSummary) -> None:
    card = summary.card
    sizes = ", ".join(count_of(*pair) for pair in zip(card.shape, card.mode_names, strict=True))
    st.caption(
        f"{count_of(len(summary.phenotypes), 'phenotype')} in {plain(card.name, 60)}: "
        f"{plain(sizes, 200)}. Found by {title_of(summary.fit.method)}."
    )
    if summary.fit.signed:
        st.caption(state.label("signs"))
    if not summary.fit.converged:
        st.warning(f"Not converged. {state.label('not_converged')}")
    if summary.fit.dead:
        st.caption(f"Died out and not shown: {count_of(len(summary.fit.dead), 'phenotype')}.")


def _show_ranking(summary: FitSummary) -> list[str]:
    """The table; returns the identifiers in its order."""
    by = _chosen_order(summary)
    table = ranking(summary, by)
    order = table["id"].tolist()
    key = f"ranking.{summary.run}.{by}.{state.get(Key.PICKED, 0)}"

    def picked() -> None:
        rows = state.widget_value(key)["selection"]["rows"]
        if rows:
            state.choose(phenotype=order[rows[0]])

    shares = (state.label("share"), state.label("stability"))
    show_table(
        hundreds(_named(table, summary), shares),
        alt="Phenotypes, ranked",
        key=key,
        on_select=picked,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [order.index(state.current_phenotype())]}},
        column_config={"Name": st.column_config.TextColumn(width=300), **percents(shares, 1)},
    )
    download_csv(_named(table, summary), f"phenotypes_{summary.run[:8]}", "Download this table")
    return order


def _chosen_order(summary: FitSummary) -> str:
    missing = {
        "link": not summary.links,
        "stability": not summary.stability,
        "fits": summary.fit.agreement is None,
    }
    sorts = [sort for sort in SORTS if not missing.get(sort)]
    kept = state.get(Key.SORT, "share")
    return st.selectbox(
        "Sort by",
        sorts,
        format_func=SORTS.__getitem__,
        width=260,
        **state.bind_widget(Key.SORT, kept if kept in sorts else "share"),
    )


def ranking(summary: FitSummary, by: str) -> pd.DataFrame:
    """One row per phenotype, sorted, with all that is known about it."""
    judged = phenotype_tables.review_states(summary.reviews)
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


def _show_detail(summary: FitSummary, chosen: str) -> None:
    st.header(plain(summary.title(chosen), 120), anchor=False)
    phenotype = summary.phenotypes[chosen]
    carriers = hidden(len(phenotype.rows), summary.limit, summary.card.shape[0])
    whole = plain(count_of(summary.card.shape[0], summary.row_noun), 60)
    if chosen in summary.groups:
        st.caption(f"Suggested group: {summary.groups[chosen]}")
    facts = [f"{phenotype.share:.1%} of the data", f"carried by {carriers} of {whole}"]
    if chosen in summary.links:
        facts.append(f"{state.label('link').lower()}: {plain(link_words(summary, chosen), 80)}")
    if phenotype.found_in:
        number, fits = phenotype.found_in
        facts.append(f"{state.label('found_in').lower()} {number} of {fits} {state.label('fits')}")
    if chosen in summary.stability:
        facts.append(f"found again in {summary.stability[chosen]:.0%} of repeated runs")
    st.markdown("; ".join(facts) + ".")
    if phenotype.found_rarely:
        st.warning(state.label("found_rarely"))
    weight = st.slider(
        state.label("relevance"),
        0.0,
        1.0,
        step=0.05,
        help=state.label("relevance_help"),
        width=420,
        **state.bind_widget(Key.RELEVANCE, float(state.get(Key.RELEVANCE, 1.0))),
    )
    show_profiles(summary, chosen, weight, "phenotypes")
    _show_similar(summary, chosen)


def _show_similar(summary: FitSummary, chosen: str) -> None:
    component = summary.phenotypes[chosen].component
    near = [
        (name, value)
        for name, value in phenotype_tables.most_similar(summary.fit, component)
        if name in summary.phenotypes
    ]
    if near:
        listed = "; ".join(
            f"{plain(summary.title(name), 70)} ({value:.2f})" for name, value in near
        )
        st.markdown(f"Most similar: {listed}. (1 = same features, 0 = none in common.)")
