"""Two wordings of the same screen: one for clinicians, one for data scientists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from swiftcore.spec import SETTINGS

WORDINGS = {"clinician": "Clinician", "scientist": "Data scientist"}
PAGES = {  # by the name in the URL; the page of the rows is called what the data call them
    "phenotypes": "Phenotypes",
    "review": "Review",
    "patients": "Rows",
    "prediction": "Prediction",
    "robustness": "Robustness",
    "data": "Data",
    "runs": "Runs",
    "help": "Help",
}
NOT_A_CAUSE = "A link is not a cause."
NOT_A_DIAGNOSIS = "Found by an algorithm; not a diagnosis."


@dataclass(frozen=True)
class Vocabulary:
    """What a data set calls the things that the program's own sentences speak of.

    Sentences are written for phenotypes of patients; :meth:`phrase` gives them the words of the
    data. Never hand user text through it.

    Attributes
    ----------
    finding : str
        What is found: phenotype, topic.
    caution : str
        What must be said of everything that was found.
    words : tuple of pairs of str
        Further words of our sentences, with those that stand for them.
    """

    finding: str
    caution: str
    words: tuple[tuple[str, str], ...] = ()

    def phrase(self, text: str) -> str:
        """One of the program's own sentences in the words of the data."""
        for ours, theirs in (("phenotype", self.finding), *self.words):
            if ours != theirs:
                text = re.sub(rf"\b{ours}", theirs, text)
                text = re.sub(rf"\b{capital(ours)}", capital(theirs), text)
        return text

    def phrase_around(self, text: str, *user_texts: str) -> str:
        """The same for a sentence with user text in it, which stays as it is."""
        known = [re.escape(one) for one in sorted(set(user_texts), key=len, reverse=True) if one]
        if not known:
            return self.phrase(text)
        parts = re.split(f"({'|'.join(known)})", text)
        return "".join(part if place % 2 else self.phrase(part) for place, part in enumerate(parts))


PHENOTYPES = Vocabulary("phenotype", NOT_A_DIAGNOSIS)
TOPICS = Vocabulary(
    "topic",
    "Found by an algorithm; it has understood no text.",
    (
        ("diagnoses and medications", "words"),
        ("clinical name", "name"),
        ("clinical sense", "sense"),
        ("clinically meaningful", "meaningful"),
        ("patient", "document"),
    ),
)


def vocabulary(mode_names: Sequence[str]) -> Vocabulary:
    """The vocabulary of a data set, by what its modes are called."""
    words = [name.split()[-1:] == ["word"] for name in mode_names[1:]]  # word, other word
    documents = bool(mode_names) and mode_names[0].casefold() == "document"
    return TOPICS if documents or (words and all(words)) else PHENOTYPES


# One line per idea: what a clinician reads, what a data scientist reads.
_PAIRS: dict[str, tuple[str, str]] = {
    **{name: (one.clinician, one.scientist) for name, one in SETTINGS.items()},
    "weight": ("Strength", "Factor weight"),
    "signed_weight": ("Strength (below 0: less of it)", "Factor weight, signed"),
    "signs": (
        "This method also says of what a phenotype has less: such features begin with "
        '"less", and a row may have less of a phenotype than nothing.',
        "Factors are signed: shares are by absolute value, signs are kept.",
    ),
    "lift": ("Distinctiveness", "Lift"),
    "share": ("Share of the data", "Share of mass"),
    "link": ("Link to the outcome", "Lasso coefficient"),
    "towards": ("towards", "+"),
    "away": ("away", "-"),
    "no_link": ("none", "0"),
    "cost": ("How similar two features are", "Cosine cost"),
    "folds": ("Parts that are tested in turn", "Folds"),
    "objective": ("Fit error", "Objective"),
    "noise": ("Share of false entries", "Noise level p"),
    "stability": ("Found again", "Stability"),
    "found_in": ("Found by", "Found in"),
    "fits": ("computations", "fits"),
    "found_rarely": (
        "Most of the computations did not find this phenotype: read it with care.",
        "In less than half of the fits: not stable.",
    ),
    "spread": ("Varies by", "Spread over fits (RMS)"),
    "membership": ("Strength in this row", "Membership"),
    "relevance": ("Which features come first", "Relevance weight (lambda)"),
    "relevance_help": (
        "Left: features that are special to this phenotype. Right: features that are frequent "
        "in it.",
        "Ranks by lambda log(weight) + (1 - lambda) log(lift), as pyLDAvis does.",
    ),
    "special": ("special to it", "0: lift"),
    "frequent": ("frequent in it", "1: weight"),
    "loss": ("Error on held-back rows", "Loss on validation rows"),
    "run": ("Result", "Run"),
    "iterations": ("Rounds", "Iterations"),
    "not_converged": (
        "The computation stopped before it had settled: read this result with care.",
        "Not converged: the iteration limit was reached before the tolerance.",
    ),
}

WORDS: dict[str, dict[str, str]] = {
    "clinician": {key: pair[0] for key, pair in _PAIRS.items()},
    "scientist": {key: pair[1] for key, pair in _PAIRS.items()},
}


def label(key: str, wording: str) -> str:
    """The words for an idea in one of the two wordings."""
    return WORDS[wording][key]


def row_name(noun: str, label: str) -> str:
    """How a row is shown wherever phenotypes are: 'patient P0007', never to be taken for P07."""
    return f"{noun} {label}"


# English nouns that get an English plural; what a data set calls its modes may be in any language
_NOUNS = frozenset(
    [
        "admission",
        "allergy",
        "article",
        "box",
        "case",
        "category",
        "code",
        "community",
        "computation",
        "concept",
        "condition",
        "copy",
        "day",
        "diagnosis",
        "disagreement",
        "disease",
        "document",
        "drug",
        "encounter",
        "entry",
        "event",
        "feature",
        "finding",
        "fit",
        "gene",
        "group",
        "ingredient",
        "item",
        "judgement",
        "lab",
        "medication",
        "method",
        "note",
        "part",
        "participant",
        "patient",
        "person",
        "phenotype",
        "procedure",
        "result",
        "reviewer",
        "row",
        "run",
        "sample",
        "stay",
        "subject",
        "symptom",
        "term",
        "test",
        "text",
        "topic",
        "user",
        "visit",
        "ward",
        "word",
    ]
)


def plural(noun: str) -> str:
    """More than one of a thing: patients, diagnoses; a word that is not known stays as it is."""
    last = noun.rsplit(" ", 1)[-1]
    if last.lower() not in _NOUNS:
        return noun
    if noun.endswith("is"):
        return f"{noun[:-2]}es"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def capital(text: str) -> str:
    """The text with a capital first letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def count_of(number: int | str, noun: str) -> str:
    """'1 patient', '12 patients', '<11 patients'."""
    shown = f"{number:,}" if isinstance(number, int) else number
    return f"{shown} {noun if number == 1 else plural(noun)}"
