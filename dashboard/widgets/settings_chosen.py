"""Which settings the validation rows chose for each method, and how often."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.session import state
from dashboard.text import result_sentences
from dashboard.text.wording import capital
from dashboard.widgets.tables import download_csv, show_table


def show_settings(scores: pd.DataFrame, metric: str) -> None:
    """A table of them, by noise level where there was noise."""
    chosen = result_sentences.settings_chosen(scores).rename(
        columns={
            "title": "Method",
            "rank": "R",
            "level": state.label("noise"),
            "setting": "Setting",
            "folds": "Folds",
            "validation": f"{capital(metric)} on validation rows",
            "score": f"{capital(metric)} on test rows",
        }
    )
    chosen = chosen.round(3)
    show_table(chosen, "Settings chosen for each method on validation rows")
    st.caption(
        "Chosen on the validation rows: of each factorization the setting with the "
        "smallest log loss, of each classifier that with the best score."
    )
    download_csv(chosen, "chosen_settings")
