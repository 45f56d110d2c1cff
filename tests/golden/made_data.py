"""Small data sets for golden results; they must never change."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swiftcore.data.building.documents import cooccurrence_tensor, read_corpus
from swiftcore.data.dataset import Dataset
from swiftcore.data.reading.findings import Findings
from swiftcore.tensor import Mode, SparseTensor

GROUPS = 3
WORDS = {
    "sport": "goal match team coach league striker",
    "money": "bank profit share market price trade",
    "film": "actor scene award director screen drama",
}
SHARED = "week report people year city today"


def counts(shape: tuple[int, ...], seed: int = 0) -> SparseTensor:
    """Poisson counts around three planted groups, in any number of modes."""
    rng = np.random.default_rng(seed)
    profiles = np.random.default_rng(7)  # the same features for every seed
    rows = np.arange(shape[0])[:, None] % GROUPS == np.arange(GROUPS)
    factors = [0.2 + 6.0 * rows * rng.uniform(0.5, 2, (shape[0], 1))]
    for size in shape[1:]:
        own = np.arange(size)[:, None] % GROUPS == np.arange(GROUPS)
        profile = profiles.uniform(0.5, 1.5, (size, GROUPS)) * (own + 0.02)
        factors.append(profile / profile.sum(axis=0))
    letters = "ijkl"[: len(shape)]
    terms = ",".join(f"{letter}r" for letter in letters)
    drawn = rng.poisson(4 * np.einsum(f"{terms}->{letters}", *factors))
    places = np.argwhere(drawn)
    return SparseTensor.from_coordinates(places, drawn[tuple(places.T)], drawn.shape)


def labels_of(tensor: SparseTensor) -> np.ndarray:
    """Whether a row belongs to the first group."""
    return np.array(["others", "first"])[(np.arange(tensor.shape[0]) % GROUPS == 0).astype(int)]


def patients(n_rows: int = 60, seed: int = 0, *, outcome: bool = True) -> Dataset:
    """Patients with features of their group; the third group goes with the outcome."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % GROUPS
    places = []
    for row in range(n_rows):
        for _ in range(8):
            own = group[row] if rng.random() < 0.85 else rng.integers(GROUPS)
            places.append((row, 3 * own + rng.integers(3), 2 * own + rng.integers(2)))
    ill = rng.random(n_rows) < np.where(group == 2, 0.9, 0.1)
    modes = (
        Mode("patient", tuple(f"row {row}" for row in range(n_rows))),
        Mode("diagnosis", tuple(f"dx {number}" for number in range(9))),
        Mode("medication", tuple(f"rx {number}" for number in range(6))),
    )
    tensor = SparseTensor.from_coordinates(places, np.ones(len(places)), modes=modes)
    name = "illness" if outcome else ""
    return Dataset("planted", tensor, ill if outcome else None, name, "made for golden results")


def corpus(n_documents: int = 45, seed: int = 0) -> Dataset:
    """Documents of three categories, each with words of its own and some shared ones."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(n_documents):
        own = WORDS[list(WORDS)[number % GROUPS]].split()
        texts.append(". ".join(_sentence(rng, own, number) for _ in range(4)))
    names = [f"d{number}" for number in range(n_documents)]
    categories = np.array([list(WORDS)[number % GROUPS] for number in range(n_documents)])
    found = read_corpus(names, texts, "english", Findings())
    tensor = cooccurrence_tensor(found, found.words)
    return Dataset(
        "corpus",
        tensor,
        categories,
        "category",
        "made for golden results",
        word_counts=found.word_counts(),
        words=found.words,
    )


def _sentence(rng: np.random.Generator, own: list[str], number: int) -> str:
    only = f"only{chr(97 + number % 26)}"
    return " ".join([*rng.choice(own, 3), *rng.choice(SHARED.split(), 2), only])


def write_events(path: Path, *, outcome: bool = True) -> Path:
    """A long table of 60 patients, in whole numbers only."""
    rng = np.random.default_rng(0)
    lines = ["patient,diagnosis,medication" + (",outcome" if outcome else "")]
    for row in range(60):
        group = row % GROUPS
        ill = int(rng.random() < (0.9 if group == 2 else 0.1))
        for _ in range(6):
            cells = [str(row), f"d{group}{rng.integers(3)}", f"m{group}{rng.integers(2)}"]
            lines.append(",".join([*cells, str(ill)] if outcome else cells))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def write_documents(path: Path) -> Path:
    """A table of documents with a category each."""
    rng = np.random.default_rng(0)
    lines = ["id,category,text"]
    for number in range(30):
        category = list(WORDS)[number % GROUPS]
        own = WORDS[category].split()
        text = ". ".join(_sentence(rng, own, number) for _ in range(3))
        lines.append(f"d{number},{category},{text}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def write_tns(path: Path) -> Path:
    """Coordinates and values, counted from 1."""
    tensor = counts((12, 6, 5))
    lines = [
        " ".join([*(str(place + 1) for place in places), f"{value:g}"])
        for places, value in zip(tensor.coordinates.tolist(), tensor.values.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
