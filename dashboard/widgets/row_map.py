"""All rows on a plane, coloured by what is known of them; what is selected becomes a list."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard.fit_view.row_map import Colouring, RowMap, by_class, by_covariate, within
from dashboard.fit_view.row_tables import outcome_words
from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.text.display import clipped
from dashboard.text.wording import capital, plural, row_name, vocabulary
from dashboard.widgets.figure import CONFIG
from swiftcore.data.dataset import Dataset

STRONGEST, OUTCOME, PHENOTYPE, COVARIATE = "strongest", "outcome", "phenotype ", "covariate "
KEPT_BUTTONS = [one for one in CONFIG["modeBarButtonsToRemove"] if one == "autoScale2d"]


def show_map(summary: FitSummary, shared: np.ndarray, *, outcome_shown: bool) -> np.ndarray:
    """The chart with its ways to select; the rows selected, by number, none at first."""
    from dashboard.charts.patients import plane  # plotly: only when the map is shown

    noun, chart = plural(summary.row_noun), cache.plane(summary.run)
    colouring = _colouring(summary, shared, chart, outcome_shown=outcome_shown)
    labels = summary.fit.modes[0].labels
    texts = [row_name(summary.row_noun, labels[row]) for row in chart.rows]
    key = f"map.{summary.run}"
    event = st.plotly_chart(
        plane(chart, colouring, texts),
        config={**CONFIG, "modeBarButtonsToRemove": KEPT_BUTTONS},
        alt=f"Points: {noun} on a plane, similar ones side by side, coloured by {colouring.title}",
        theme=None,
        key=key,
        on_select="rerun",
        selection_mode=("lasso", "box"),
    )
    kind = plural(vocabulary(summary.card.mode_names).finding)
    sampled = (
        f" {len(chart.rows):,} of {len(labels):,}, evenly drawn, are shown."
        if len(chart.rows) < len(labels)
        else ""
    )
    st.caption(
        f"The nearer two points, the more alike their mix of {kind}; the two directions show "
        f"{chart.kept:.0%} of all differences.{sampled}"
    )
    lassoed = {int(point["customdata"]) for point in event["selection"]["points"]}
    return _selected(chart, lassoed)


def _selected(chart: RowMap, lassoed: set[int]) -> np.ndarray:
    """What is inside the lasso and inside the two ranges, which need no mouse."""
    st.markdown("**Select:** draw around points with the mouse, or narrow the two ranges.")
    sides = []
    for column, name, values in zip(
        st.columns(2), ("From left to right", "From bottom to top"), chart.places.T, strict=True
    ):
        low = float(np.floor(100 * values.min()) / 100)
        high = max(float(np.ceil(100 * values.max()) / 100), low + 0.01)
        with column:
            sides.append(st.slider(name, low, high, (low, high), 0.01))
    inside = within(chart, *sides)
    if lassoed:
        inside &= np.isin(chart.rows, list(lassoed))
    elif inside.all():
        return np.zeros(0, dtype=np.int64)
    return chart.rows[inside]


def _colouring(
    summary: FitSummary, shared: np.ndarray, chart: RowMap, *, outcome_shown: bool
) -> Colouring:
    data = cache.dataset(summary.card.id)
    kind = vocabulary(summary.card.mode_names).finding
    ways: dict[str, str] = {STRONGEST: f"Strongest {kind}"}
    if outcome_shown and data.outcome is not None:
        ways[OUTCOME] = capital(summary.card.outcome_name or "outcome")
    ways |= {f"{COVARIATE}{one.name}": capital(one.name) for one in data.side.covariates}
    for name in summary.phenotypes:
        ways[f"{PHENOTYPE}{name}"] = f"How much of {summary.title(name)}"
    kept = state.get(Key.COLOUR, STRONGEST)
    chosen = st.selectbox(
        "Colour by",
        list(ways),
        width=420,
        format_func=lambda each: clipped(ways[each], 70),
        **state.bind_widget(Key.COLOUR, kept if kept in ways else STRONGEST),
    )
    return _made(summary, shared, chart, data, chosen, ways[chosen])


def _made(
    summary: FitSummary,
    shared: np.ndarray,
    chart: RowMap,
    data: Dataset,
    chosen: str,
    title: str,
) -> Colouring:
    rows = chart.rows
    if chosen == STRONGEST:
        best = np.abs(shared[rows]).argmax(axis=1)
        titles = [clipped(summary.title(name), 40) for name in summary.fit.identifiers]
        return by_class(title, [titles[part] for part in best])
    if chosen == OUTCOME:
        assert data.outcome is not None
        return by_class(title, outcome_words(data.outcome[rows]).tolist())
    if chosen.startswith(COVARIATE):
        named = {one.name: one for one in data.side.covariates}
        return by_covariate(named[chosen.removeprefix(COVARIATE)], rows)
    component = summary.phenotypes[chosen.removeprefix(PHENOTYPE)].component
    return Colouring(title, shared[rows, component])
