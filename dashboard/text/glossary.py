"""Every technical word of the screens in one or two plain sentences; the only place they stand.

Help texts, the box *Words on this page* and the glossary on the page Help are all made from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

EVERYBODY, SCIENTIST = "everybody", "scientist"


@dataclass(frozen=True)
class Term:
    """One word.

    Attributes
    ----------
    name : str
        As the glossary lists it.
    means : str
        What it means, in words that need no further explanation.
    found_by : str
        A pattern of how it appears in texts.
    readers : str
        :data:`EVERYBODY`, or :data:`SCIENTIST` if only that wording may use it.
    """

    name: str
    means: str
    found_by: str
    readers: str = EVERYBODY

    def stands_in(self, text: str) -> bool:
        """Whether a text uses the word."""
        return re.search(self.found_by, text, re.IGNORECASE) is not None


def _term(name: str, means: str, found_by: str = "", readers: str = EVERYBODY) -> Term:
    return Term(name, means, found_by or rf"\b{re.escape(name)}s?\b", readers)


def _technical(name: str, means: str, found_by: str = "") -> Term:
    return _term(name, means, found_by, SCIENTIST)


TERMS: tuple[Term, ...] = (
    _term(
        "Phenotype",
        "A group of features that keep coming back together in the same rows, found by the "
        "program. A row can have several, each to a part.",
        r"\bphenotypes?\b",
    ),
    _term("Row", "One of the things described: a person, a visit, a text.", r"\brows?\b"),
    _term("Feature", "What can be recorded of a row, such as a code or a word."),
    _term("Carrier", "A row of which a phenotype makes up at least one tenth.", r"\bcarr(ier|ies)"),
    _term(
        "Outcome",
        "What is to be predicted. It takes no part in finding phenotypes, unless the page says so.",
    ),
    _term(
        "Link to the outcome",
        "Whether rows with a phenotype have the outcome more often (towards) or less often (away) "
        "when all phenotypes are looked at together. Unclear: these data cannot tell.",
        r"\blinks? (to|towards)\b",
    ),
    _term("Alarm", "A row of which the prediction says that it has the outcome."),
    _term("Case", "A row that has the outcome.", r"\bcases?\b"),
    _term("Guessing", "What a prediction reaches that knows nothing of the row."),
    _term(
        "95% interval",
        "The range in which the true number lies in 95 of 100 such studies. A wide one means: "
        "not sure.",
        r"\b95 ?% interval|\bintervals?\b",
    ),
    _term(
        "Unclear",
        "The 95% interval reaches to both sides, so these data cannot tell which is true.",
    ),
    _term(
        "Chance given",
        "How likely the prediction says the outcome is for a row. Good chances come true as often "
        "as they say: of 10 rows with a chance of 30%, about 3 have the outcome.",
        r"\bchances?\b",
    ),
    _term(
        "Found again",
        "The share of repeated computations in which a phenotype comes back: a partner with a "
        "similarity of 0.8 or more.",
        r"\bfound again\b|\bcomes? back\b",
    ),
    _term("Similarity", "1: the same; 0: nothing in common.", r"\bsimilarit(y|ies)\b"),
    _term(
        "False entries",
        "Entries put into the data at random, to see what errors in the records would do.",
    ),
    _term(
        "Strength",
        "How much of a phenotype a feature makes up, or how much of a row a phenotype makes up.",
    ),
    _term(
        "Distinctiveness",
        "How many times as strong a feature is in this phenotype as in the data as a whole.",
    ),
    _term(
        "Fit error",
        "How far what was found is from the data; it falls while a computation goes on.",
    ),
    _term(
        "Small counts",
        "Counts of few rows could give away who is meant, so they are shown as a bound (<11).",
    ),
    _term(
        "Run",
        "One computation that is stored: phenotypes that were found, or an experiment with them.",
        r"\bruns?\b",
    ),
    _technical("Rank R", "The number of phenotypes.", r"\bR = \d|\brank\b|^R$"),
    _technical(
        "PR-AUC",
        "Area under the curve of precision against recall: the precision averaged over all "
        "recalls. Guessing reaches the share of cases; 1 is perfect.",
        r"\bPR-AUC\b",
    ),
    _technical(
        "ROC AUC",
        "The chance that a case is rated above a row that is none. Guessing reaches 0.5.",
        r"\bROC AUC\b",
    ),
    _technical("Accuracy", "The share of rows that are put into the right class."),
    _technical(
        "Macro F1",
        "Precision and recall of each class in one number, averaged over the classes.",
        r"\bMacro F1\b",
    ),
    _technical("Precision", "The share of alarms that are right.", r"\bprecision\b"),
    _technical("Recall", "The share of the cases that are found.", r"\brecalls?\b"),
    _technical(
        "Calibration", "Whether chances come true as often as they say.", r"\bcalibrat\w+\b"
    ),
    _technical("Confusion matrix", "Which class was taken for which.", r"\bconfusion\b"),
    _technical(
        "Fold",
        "One of several equal parts of the rows: a model learns from the others and is tested on "
        "it, so that no row is tested by a model that saw it.",
        r"\bfolds?\b",
    ),
    _technical("Validation rows", "Rows held back to choose settings by.", r"\bvalidation\b"),
    _technical("Seed", "The number from which random choices follow.", r"\bseeds?\b"),
    _technical("SD", "Standard deviation over the folds.", r"\bSD\b|\bstandard deviations?\b"),
    _technical(
        "Lasso",
        "A regression that sets the weights of what does not help to 0.",
        r"\blasso\b",
    ),
    _technical(
        "Lasso coefficient",
        "The weight of a phenotype in a lasso on standardised memberships. Above 0: towards "
        "the outcome.",
        r"\blasso coefficients?\b",
    ),
    _technical("Membership", "How much of each phenotype a row has."),
    _technical(
        "Jackknife",
        "An interval from leaving out one group of rows after another.",
        r"\bjackknife\b",
    ),
    _technical(
        "Cosine cost",
        "1 minus the cosine of two features' columns: near 0 when the same rows have both.",
        r"\bcosine\b",
    ),
    _technical(
        "(1 - I)", "A cost that knows no similarity: all features are equally far.", r"\(1 - I\)"
    ),
    _technical("Indicators", "For each row, which features it has at all.", r"\bindicators\b"),
    _technical(
        "Unfolded tensor",
        "For each row, all its entries in one long line: one column per pair of features.",
        r"\bunfolded\b|\btensors?\b",
    ),
    _technical("MLP", "Multilayer perceptron, a small neural network.", r"\bMLP\b"),
    _technical("k-NN", "Judges a row by its k most similar rows.", r"\bk-NN\b|k-nearest"),
    _technical("Objective", "What a fit makes as small as it can.", r"\bobjectives?\b"),
    _technical("Noise level p", "The share of entries that are false.", r"\bnoise level\b"),
    _technical(
        "Lift", "Weight of a feature in a phenotype, divided by its share of all data.", r"\blift\b"
    ),
    _technical("Log loss", "Punishes chances that are sure and wrong.", r"\blog loss\b"),
    _technical(
        "Kappa",
        "Agreement of reviewers beyond chance. 1: they always agree; 0: no more than by chance.",
        r"\bkappa\b",
    ),
    _technical("Lambda", "Weight of frequent against distinctive features.", r"\blambda\b"),
    _technical("Spec", "All settings of a fit.", r"\bspecs?\b"),
)
BY_NAME = {term.name: term for term in TERMS}
TECHNICAL = tuple(term for term in TERMS if term.readers == SCIENTIST)


def explain(*names: str) -> str:
    """A help text that tells what these words mean."""
    return "  \n".join(f"**{name}**: {BY_NAME[name].means}" for name in names)


def is_technical(text: str) -> bool:
    """Whether a text uses words that only the data scientist's wording may use."""
    return any(term.stands_in(text) for term in TECHNICAL)
