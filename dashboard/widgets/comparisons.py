"""All phenotypes together: at a glance, where they overlap, two side by side, two runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.fit_view import phenotype_tables
from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, selection, state
from dashboard.session.fit_summary import summary_of
from dashboard.session.shown_from import drawn_from, found_by
from dashboard.session.state import Key
from dashboard.store.results import FittedRun
from dashboard.text.display import clipped
from dashboard.text.wording import capital, plural
from dashboard.widgets.figure import show_figure
from dashboard.widgets.origin import say_origin
from dashboard.widgets.phenotype_map import show_map
from dashboard.widgets.profiles import weight_label
from dashboard.widgets.ranking import show_ranking
from dashboard.widgets.sidebar import run_name
from dashboard.widgets.text import plain
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.phenotypes.matching import FOUND_FROM, similarity
from swiftcore.phenotypes.shares import profiles

GLANCE_FEATURES = 30
TABS = ("Map", "Table", "All at a glance", "Overlap", "Compare two", "Compare with another run")


def show_comparisons(summary: FitSummary) -> None:
    """Tabs; only the open one is computed."""
    st.header(state.phrase("All phenotypes"), anchor=False)
    draw = (show_map, show_ranking, _show_glance, _show_overlap, _show_two, _show_two_runs)
    tabs = st.tabs(TABS, key="tabs.phenotypes", on_change="rerun")
    for tab, show in zip(tabs, draw, strict=True):
        if tab.open:
            with tab:
                show(summary)


def _show_glance(summary: FitSummary) -> None:
    from dashboard.charts.phenotypes import glance  # plotly: only once the table is drawn

    names, components = _side_by_side(summary)
    for axis, mode in summary.feature_modes():
        weights = profiles(summary.fit.factors[axis][:, components])
        size, common = np.abs(weights), summary.common(axis)
        strongest = np.where(common, size.max(axis=1), -1.0)
        rows = np.argsort(-strongest, kind="stable")[:GLANCE_FEATURES]
        rows = rows[strongest[rows] > 0]
        rows = rows[np.lexsort((-size[rows].max(axis=1), size[rows].argmax(axis=1)))]
        labels = [summary.fit.modes[axis].labels[row] for row in rows]
        st.markdown(f"**{plain(capital(plural(mode)), 40)}**")
        show_figure(
            glance(
                weights[rows],
                labels,
                [summary.title(name) for name in names],
                weight_label(weights[rows]),
            ),
            f"Heatmap: how strong each of {len(rows)} {plural(mode)} is in each {_finding()}",
            pd.DataFrame(weights[rows], columns=names).assign(**{mode: labels})[[mode, *names]],
            f"glance_mode_{axis}",
        )
        left_out = len(common) - len(rows)
        if left_out > 0:
            st.caption(f"The {len(rows)} strongest are shown, {left_out} are left out.")


def _finding() -> str:
    return state.vocabulary().finding


def _show_overlap(summary: FitSummary) -> None:
    from dashboard.charts.phenotypes import overlap  # plotly: only once the table is drawn

    names, components = _side_by_side(summary)
    titles = [summary.title(name) for name in names]
    found = similarity(summary.fit.factors[1:], summary.fit.factors[1:])
    found = found[np.ix_(components, components)]
    show_figure(
        overlap(found, titles),
        state.phrase("Heatmap: how similar any two phenotypes are; similar ones side by side"),
        pd.DataFrame(found, columns=names).assign(Name=titles)[["Name", *names]],
        "overlap",
    )
    said = "Coloured squares off the diagonal are pairs that may be one phenotype."
    st.caption(state.phrase(said))


def _side_by_side(summary: FitSummary) -> tuple[list[str], list[int]]:
    """Identifiers and components in an order in which similar phenotypes are neighbours."""
    from dashboard.charts.style import clustered

    names = list(summary.phenotypes)
    components = [each.component for each in summary.phenotypes.values()]
    found = similarity(summary.fit.factors[1:], summary.fit.factors[1:])
    order = clustered(1 - np.abs(found[np.ix_(components, components)]))
    return [names[place] for place in order], [components[place] for place in order]


def _show_two(summary: FitSummary) -> None:
    names = list(summary.phenotypes)
    if len(names) < 2:
        st.info(state.phrase("There is only one phenotype."))
        return
    now = state.current_phenotype()
    kept = state.get(Key.OTHER, "")
    near = phenotype_tables.most_similar(summary.fit, summary.phenotypes[now].component, 1)
    others = [name for name in names if name != now]
    other = st.selectbox(
        f"Compare {now} with",
        others,
        format_func=lambda each: clipped(summary.title(each), 80),
        **state.bind_widget(Key.OTHER, kept if kept in others else near[0][0]),
    )
    components = [summary.phenotypes[name].component for name in (now, other)]
    _show_pair(summary, (summary.fit, summary.fit), components, (now, other), "two")


def _show_two_runs(summary: FitSummary) -> None:
    sound = [fit for fit in selection.finished_fits() if not fit.damaged]
    fits = {fit.id: fit for fit in sound if fit.id != summary.run}
    if not fits:
        st.info("There is no other finished run of this data set to compare with.")
        return
    kept = state.get(Key.OTHER_RUN, "")
    names = {each: run_name(fit) for each, fit in fits.items()}
    other = st.selectbox(
        "The other run",
        list(fits),
        format_func=names.__getitem__,
        **state.bind_widget(Key.OTHER_RUN, kept if kept in fits else next(iter(fits))),
    )
    there = cache.fit(other)
    if not phenotype_tables.same_features(summary.fit.modes, there.modes):
        st.info("These two runs know different features and cannot be compared.")
        return
    say_origin(there.imported)
    with drawn_from(summary.fit.imported, there.imported), found_by(""):
        st.markdown(
            f"Here: **{plain(title_of(summary.fit.method))}**, "
            f"there: **{plain(title_of(there.method))}**."
        )
        _show_matches(summary, summary_of(other, summary.card.id))


def _show_matches(summary: FitSummary, other: FitSummary) -> None:
    now, there = state.current_phenotype(), other.fit
    table = show_partners(summary, other)
    pairs = table.dropna(subset="similarity")
    partner = dict(zip(pairs["here"], pairs["there"], strict=True)).get(now)
    if partner:
        components = [summary.phenotypes[now].component, there.identifiers.index(partner)]
        names = (f"{summary.title(now)} (here)", f"{other.title(partner)} (there)")
        _show_pair(summary, (summary.fit, there), components, names, "runs")


def show_partners(here: FitSummary, there: FitSummary) -> pd.DataFrame:
    """Which phenotypes of two runs are the same, by name; those without a partner listed.

    Returns
    -------
    DataFrame
        From :func:`dashboard.fit_view.phenotype_tables.match_runs`.
    """
    from dashboard.charts.phenotypes import matched  # plotly: only once the table is drawn

    table = phenotype_tables.match_runs(here.fit, there.fit)
    named = table.assign(
        here=[here.title(one) if one else "" for one in table["here"]],
        there=[there.title(one) if one else "" for one in table["there"]],
    )
    pairs = named.dropna(subset="similarity")
    good = int((pairs["similarity"] >= FOUND_FROM).sum())
    limit = f"similarity {FOUND_FROM:g} or more"
    st.markdown(
        f"{good} of {len(pairs)} pairs are nearly the same ({limit}). Of each pair the upper "
        "name is of the first result, the lower of the other."
    )
    if pairs["turned"].any():
        st.caption(
            "Turned round: what one has more of, the other has less of; rows have the opposite "
            "sign in them."
        )
    show_figure(
        matched(pairs),
        f"Bars: {good} of {len(pairs)} matched pairs have a {limit}",
        _partner_table(pairs),
        f"matches_{there.run[:8]}",
    )
    for side, where in (("here", "first"), ("there", "other")):
        alone = named.loc[named["similarity"].isna() & (named[side] != ""), side].tolist()
        if alone:
            listed = plain("; ".join(alone), 1000)
            st.markdown(f"Without a partner, in the {where} result: {listed}.")
    return table


def _partner_table(pairs: pd.DataFrame) -> pd.DataFrame:
    signs = ["opposite" if turned else "the same" for turned in pairs["turned"]]
    return pd.DataFrame(
        {
            "First": pairs["here"],
            "Other": pairs["there"],
            "Similarity": pairs["similarity"].round(3),
            "Signs": signs,
        }
    )


def _show_pair(
    summary: FitSummary,
    fits: tuple[FittedRun, FittedRun],
    components: list[int],
    names: tuple[str, str],
    place: str,
) -> None:
    from dashboard.charts.phenotypes import back_to_back  # plotly: only once the table is drawn

    shown = summary.feature_modes()
    columns = st.columns(min(2, len(shown)))
    for axis, mode in shown:
        common = summary.common(axis)
        table = phenotype_tables.pair_table(fits, components, axis, common)
        with columns[(axis - 1) % len(columns)]:
            st.markdown(f"**{plain(capital(plural(mode)), 40)}**")
            show_figure(
                back_to_back(table, *names, weight_label(table[["left", "right"]])),
                f"Bars back to back: the {plural(mode)} of {names[0]} and {names[1]}",
                table.rename(columns={"left": names[0], "right": names[1]}),
                f"pair_{place}_{axis}",
            )
