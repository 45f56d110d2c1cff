"""Small data sets whose right answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from swiftcore.data.building.documents import cooccurrence_tensor, read_corpus
from swiftcore.data.dataset import Dataset
from swiftcore.data.reading.findings import Findings
from swiftcore.evaluation.experiments.tuning import candidates, judge, search
from swiftcore.tensor import Mode, SparseTensor


def planted_patients(n_rows: int = 90, seed: int = 0, informative: bool = True) -> Dataset:
    """Three groups of features; the third group goes with the outcome."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % 3
    places = []
    for row in range(n_rows):
        for _ in range(8):
            own = group[row] if rng.random() < 0.85 else rng.integers(3)
            places.append((row, 3 * own + rng.integers(3), 2 * own + rng.integers(2)))
    likely = np.where(group == 2, 0.9, 0.1) if informative else np.full(n_rows, 0.35)
    modes = (
        Mode.numbered("patient", n_rows),
        Mode("diagnosis", tuple(f"dx {k}" for k in range(9))),
        Mode("medication", tuple(f"rx {k}" for k in range(6))),
    )
    return Dataset(
        "planted",
        SparseTensor.from_coordinates(places, np.ones(len(places)), modes=modes),
        rng.random(n_rows) < likely,
        "illness",
        "made for tests",
    )


WORDS = {
    "sport": "goal match team coach league striker",
    "money": "bank profit share market price trade",
    "film": "actor scene award director screen drama",
}


def small_corpus(n_documents: int = 60, seed: int = 0) -> Dataset:
    """Documents of three categories, each with words of its own and some shared ones."""
    rng = np.random.default_rng(seed)
    shared = "week report people year city today".split()  # noqa: SIM905
    texts, categories = [], []
    for number in range(n_documents):
        category = list(WORDS)[number % 3]
        own = WORDS[category].split()
        sentences = [
            " ".join([*rng.choice(own, 3), *rng.choice(shared, 2), f"only{chr(97 + number % 26)}"])
            for _ in range(4)
        ]
        texts.append(". ".join(sentences))
        categories.append(category)
    names = [f"d{number}" for number in range(n_documents)]
    corpus = read_corpus(names, texts, "english", Findings())
    return Dataset(
        "corpus",
        cooccurrence_tensor(corpus, corpus.words),
        np.array(categories),
        "category",
        "made for tests",
        word_counts=corpus.word_counts(),
        words=corpus.words,
    )


def small_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folds drawn once, rounds of one fold, few profiles: the same steps, fewer of them."""
    monkeypatch.setattr(judge, "MAX_REPEATS", 1)
    monkeypatch.setattr(judge, "ROUND_ROWS", 1)
    monkeypatch.setattr(judge, "FOLDS", 3)
    monkeypatch.setattr(search, "SEEDS", 2)
    monkeypatch.setattr(candidates, "PROFILES", candidates.PROFILES[1:2])
    monkeypatch.setattr(candidates, "UNWEIGHTED", candidates.UNWEIGHTED[:1])
