"""What did we find? A ranked table, then one phenotype in detail, then all together."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.fit_view import phenotype_tables
from dashboard.privacy.small_counts import hidden
from dashboard.session import state
from dashboard.session.fit_summary import OpenFit, link_words, open_fit, settle_phenotype
from dashboard.text.wording import capital, count_of, plural
from dashboard.widgets.chooser import choose_phenotype
from dashboard.widgets.comparisons import show_comparisons
from dashboard.widgets.downloads import show_report
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.profiles import show_profiles
from dashboard.widgets.tables import download_csv, hundreds, percents, show_table
from dashboard.widgets.text import plain

TABLE_ALONE = 0.5  # seconds that the table has the browser to itself when it is opened
SORTS = {
    "share": "Share of the data",
    "id": "Number",
    "rows": "How many carry it",
    "link": "Link to the outcome",
    "stability": "Found again",
}


def show() -> None:
    """Draw the page."""
    st.title("Phenotypes", anchor=False)
    opened = open_fit()
    if opened is None:
        nothing_yet("There is no finished result for this data set yet. Start a run and its "
                    "phenotypes appear here.", "runs")  # fmt: skip
        return
    if not opened.phenotypes:
        nothing_yet("This run found no phenotype: all of them died out. Try fewer.", "runs")
        return
    if not settle_phenotype(opened):
        st.warning("The phenotype of this link is not in this result. Here is the first one.")
    _show_facts(opened)
    order = _show_ranking(opened)
    chosen = choose_phenotype(opened, order, "phenotypes")
    if not state.recall("table_seen"):
        st.fragment(_table_first, run_every=TABLE_ALONE)()
        return
    _show_detail(opened, chosen)
    show_comparisons(opened)
    show_report(opened)


def _table_first() -> None:
    """Let a new browser show the table before it loads the code for charts, which takes seconds.

    The first call draws a line of words; the next one, which the browser asks for, all the rest.
    """
    if state.recall("table_seen"):
        st.rerun()
    state.keep("table_seen", True)
    st.caption("The charts follow.")


def _show_facts(opened: OpenFit) -> None:
    card = opened.card
    sizes = ", ".join(count_of(*pair) for pair in zip(card.shape, card.mode_names, strict=True))
    st.caption(f"{count_of(len(opened.phenotypes), 'phenotype')} in {plain(card.name, 60)}: "
               f"{plain(sizes, 200)}.")  # fmt: skip
    if not opened.fit.converged:
        st.warning(f"Not converged. {state.say('not_converged')}")
    if opened.fit.dead:
        st.caption(f"Died out and not shown: {count_of(len(opened.fit.dead), 'phenotype')}.")


def _show_ranking(opened: OpenFit) -> list[str]:
    """The table; returns the identifiers in its order."""
    missing = {"link": not opened.links, "stability": not opened.stability}
    sorts = [sort for sort in SORTS if not missing.get(sort)]
    kept = state.recall("sort", "share")
    by = st.selectbox(
        "Sort by", sorts, format_func=SORTS.__getitem__, width=260,
        **state.mirror("sort", kept if kept in sorts else "share"),
    )  # fmt: skip
    table = ranking(opened, by)
    order = table["id"].tolist()
    key = f"ranking.{opened.run}.{by}.{state.recall('picked', 0)}"

    def picked() -> None:
        rows = state.widget_value(key)["selection"]["rows"]
        if rows:
            state.choose(phenotype=order[rows[0]])

    shares = (state.say("share"), state.say("stability"))
    show_table(
        hundreds(_named(table, opened), shares), alt="Phenotypes, ranked",
        key=key, on_select=picked, selection_mode="single-row",
        selection_default={"selection": {"rows": [order.index(state.current_phenotype())]}},
        column_config={"Name": st.column_config.TextColumn(width=300), **percents(shares, 1)},
    )  # fmt: skip
    download_csv(_named(table, opened), f"phenotypes_{opened.run[:8]}", "Download this table")
    return order


def ranking(opened: OpenFit, by: str) -> pd.DataFrame:
    """One row per phenotype, sorted; columns id, name, share, rows, link, stability, review."""
    judged = phenotype_tables.review_states(opened.reviews)
    table = pd.DataFrame([
        {
            "id": name,
            "name": opened.names[name],
            "share": each.share,
            "carriers": len(each.rows),
            "weight": opened.links[name].weight if name in opened.links else 0.0,
            "link": link_words(opened, name),
            "stability": opened.stability.get(name, float("nan")),
            "review": judged.get(name, "not yet"),
        }
        for name, each in opened.phenotypes.items()
    ])  # fmt: skip
    column = {"rows": "carriers", "link": "weight"}.get(by, by)
    table = table.sort_values(column, ascending=by == "id", kind="stable", ignore_index=True)
    table["rows"] = [hidden(count, opened.limit, opened.card.shape[0])
                     for count in table["carriers"]]  # fmt: skip
    return table


def _named(table: pd.DataFrame, opened: OpenFit) -> pd.DataFrame:
    """The table under the words of the day, without columns that have nothing in them."""
    columns = {"id": "Id", "name": "Name", "share": state.say("share"),
               "rows": f"{capital(plural(opened.row_noun))} carrying it",
               "link": state.say("link"), "stability": state.say("stability"),
               "review": "Makes sense?"}  # fmt: skip
    if not opened.links:
        del columns["link"]
    if not opened.stability:
        del columns["stability"]
    return table[list(columns)].rename(columns=columns)


def _show_detail(opened: OpenFit, chosen: str) -> None:
    st.header(plain(opened.title(chosen), 120), anchor=False)
    phenotype = opened.phenotypes[chosen]
    carriers = hidden(len(phenotype.rows), opened.limit, opened.card.shape[0])
    whole = plain(count_of(opened.card.shape[0], opened.row_noun), 60)
    facts = [f"{phenotype.share:.1%} of the data", f"carried by {carriers} of {whole}"]
    if chosen in opened.links:
        facts.append(f"{state.say('link').lower()}: {plain(link_words(opened, chosen), 80)}")
    if chosen in opened.stability:
        facts.append(f"found again in {opened.stability[chosen]:.0%} of repeated runs")
    st.markdown("; ".join(facts) + ".")
    weight = st.slider(
        state.say("relevance"), 0.0, 1.0, step=0.05, help=state.say("relevance_help"), width=420,
        **state.mirror("relevance", float(state.recall("relevance", 1.0))),
    )  # fmt: skip
    show_profiles(opened, chosen, weight, "phenotypes")
    _show_similar(opened, chosen)


def _show_similar(opened: OpenFit, chosen: str) -> None:
    component = opened.phenotypes[chosen].component
    near = [(name, cosine) for name, cosine in phenotype_tables.most_similar(opened.fit, component)
            if name in opened.phenotypes]  # fmt: skip
    if near:
        listed = "; ".join(f"{plain(opened.title(name), 70)} ({cosine:.2f})"
                           for name, cosine in near)  # fmt: skip
        st.markdown(f"Most similar: {listed}. (1 = same features, 0 = none in common.)")
