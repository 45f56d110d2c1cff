"""Technical words explained where they stand: below every page, the words that it uses."""

from __future__ import annotations

import streamlit as st

from dashboard.session import state
from dashboard.text.glossary import EVERYBODY, TERMS, Term, explain

# by page, the words of the glossary that it uses in either wording
ALWAYS = ("Outcome", "Row", "Small counts", "Run")
USED_ON = {
    "phenotypes": (
        *("Phenotype", "Feature", "Carrier", "Link to the outcome", "Strength", "Distinctiveness"),
        *("Found again", "Similarity", "95% interval", "Unclear", "Rank R", "Lasso coefficient"),
        *("Lift", "Lambda", "Lasso", "Seed", "Membership", "Chance given", "Case"),
    ),
    "review": (
        "Carrier",
        "Found again",
        "Similarity",
        "Case",
        "Guessing",
        "Phenotype",
        "Feature",
        "Link to the outcome",
        "Strength",
        "Distinctiveness",
        "Kappa",
    ),
    "patients": (
        *("Phenotype", "Carrier", "Strength", "Similarity", "Feature", "Membership"),
        *("Link to the outcome", "Lasso coefficient"),
    ),
    "prediction": (
        *("Phenotype", "Link to the outcome", "Alarm", "Case", "Guessing", "95% interval"),
        *("Unclear", "Chance given", "Rank R", "PR-AUC", "ROC AUC", "Accuracy", "Macro F1"),
        *("Precision", "Recall", "Calibration", "Confusion matrix", "Fold", "Validation rows"),
        *("Seed", "SD", "Lasso", "Lasso coefficient", "Membership", "Jackknife", "Indicators"),
        *(
            "Unfolded tensor",
            "MLP",
            "k-NN",
            "Log loss",
            "Spec",
            "Feature",
            "Similarity",
            "Strength",
        ),
    ),
    "robustness": (
        *("Phenotype", "False entries", "Found again", "Similarity", "Feature", "Unclear"),
        *("95% interval", "Alarm", "Rank R", "PR-AUC", "Accuracy", "Fold", "Validation rows"),
        *("Seed", "SD", "Lasso", "Cosine cost", "(1 - I)", "Noise level p", "Objective", "Spec"),
        *("Indicators", "Membership", "Fit error", "Log loss", "Chance given"),
    ),
    "data": (
        "Case",
        "Feature",
        "Similarity",
        "Phenotype",
        "Cosine cost",
        "Fold",
        "Unfolded tensor",
    ),
    "runs": (
        *("Phenotype", "Feature", "Similarity", "False entries", "Fit error", "Found again"),
        *("Rank R", "Objective", "Seed", "Fold", "Validation rows", "Cosine cost", "SD"),
        *("Noise level p", "Lasso", "Spec", "Log loss", "Strength", "95% interval", "Lambda"),
        *("Indicators", "MLP", "k-NN", "Unfolded tensor", "(1 - I)"),
    ),
}


def words_on(page: str, wording: str) -> list[Term]:
    """The words of a page that are explained to readers of a wording."""
    named = {*USED_ON.get(page, ()), *ALWAYS}
    known = [term for term in TERMS if term.name in named]
    return [term for term in known if wording == "scientist" or term.readers == EVERYBODY]


def show_words(page: str) -> None:
    """A closed box with the meaning of every technical word of the page."""
    if page not in USED_ON:
        return
    with st.expander("Words on this page"):
        terms = words_on(page, state.wording())
        st.markdown(state.phrase(explain(*(term.name for term in terms))))
        if (target := state.page("help")) is not None:
            st.page_link(target, label="All words: the glossary")
