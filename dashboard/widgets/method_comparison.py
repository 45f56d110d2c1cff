"""How well other methods predict the same outcome on the same rows."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.charts import prediction as charts
from dashboard.session import state
from dashboard.text import result_sentences
from dashboard.text.glossary import explain
from dashboard.text.method_words import SECOND, method_words, metric_words
from dashboard.text.wording import capital
from dashboard.widgets.figure import show_figure
from dashboard.widgets.settings_chosen import show_settings
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.evaluation.experiments.result import Experiment


def show_comparison(found: Experiment, rank: int, own: bool) -> None:
    """A sentence, and closed below it the table, the differences and the chosen settings.

    Parameters
    ----------
    rank : int
        The number of phenotypes that is shown first.
    own : bool
        Whether our row is the result that is shown.
    """
    technical = state.wording() == "scientist"
    metric = metric_words(found.about, state.wording())
    ours = result_sentences.title(found.ours)
    with st.expander("Beside other methods", expanded=False):
        rank = _choose_rank(found, rank)
        here = {
            name: table[table["rank"].isin([0, rank])]
            for name, table in found.tables.items()
            if "rank" in table
        }
        compared = here["comparison"]
        said = result_sentences.comparison(compared, metric, ours, state.wording())
        st.markdown(plain(said, 2000))
        table = _scores(here["summary"], found, metric, own)
        show_table(table, f"Scores of {len(table)} methods, best first")
        chance = found.about.get("chance")
        guess = f"; guessing reaches {chance:.3f}" if isinstance(chance, float) else ""
        st.caption(f"Mean over rows that took no part in the fit{guess}.")
        download_csv(table, "scores")
        if len(compared):
            _show_differences(compared, metric, ours)
    if technical:
        with st.expander("Settings that were chosen"):
            show_settings(here["scores"], metric)


def _choose_rank(found: Experiment, first: int) -> int:
    ranks = sorted(int(rank) for rank in found.tables["summary"]["rank"].unique() if rank)
    if len(ranks) < 2:
        return ranks[0] if ranks else 0
    start = ranks.index(first) if first in ranks else 0
    return int(st.selectbox(state.label("rank"), ranks, index=start, key="evaluation.rank"))


def _scores(summary: pd.DataFrame, found: Experiment, metric: str, own: bool) -> pd.DataFrame:
    """Best first; how spread the folds are only for those who know folds."""
    order = summary.sort_values("mean", ascending=False)
    titles = [
        f"{method_words(row.method, state.wording())}"
        f"{' (this result)' if own and row.method == found.ours else ''}"
        for row in order.itertuples()
    ]
    table = pd.DataFrame({"Method": titles, capital(metric): order["mean"].round(3).tolist()})
    if state.wording() != "scientist":
        kinds = {"classifier": "no, predicts directly", "factorization": "yes"}
        heading = state.phrase("Finds phenotypes")
        return table.assign(**{heading: order["kind"].map(kinds).fillna("").tolist()})
    second = SECOND.get(str(found.about.get("metric")), "Second score")
    return table.assign(
        **{
            "± SD": order["sd"].round(3).tolist(),
            second: order["second_mean"].round(3).tolist(),
            "Kind": order["kind"].tolist(),
            "R": [str(rank) if rank else "" for rank in order["rank"]],
            "Folds": order["n"].tolist(),
        }
    )


def _show_differences(table: pd.DataFrame, metric: str, ours: str) -> None:
    technical = state.wording() == "scientist"
    st.subheader(
        "Differences, fold by fold" if technical else "Differences on the same rows",
        help=explain("95% interval", "Unclear"),
        anchor=False,
    )
    st.caption(
        f"{ours} minus the other, on the same rows, with a 95% interval. Filled: clear. "
        "Open: unclear."
    )
    names = [method_words(method, state.wording()) for method in table["method"]]
    shown = table.assign(method=names).drop(columns="rank").round(3)
    show_figure(
        charts.difference_dots(table, metric, ours, state.wording()),
        f"Dots with intervals: difference in {metric} between {ours} and {len(table)} others.",
        shown.rename(columns=capital),
        "differences",
    )
