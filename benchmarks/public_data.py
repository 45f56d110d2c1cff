"""Public data of the paper's kind, cut as the paper cuts it: BBC News and the eICU demo.

They are looked for beside the project, or in SWIFT_SHARED_DATA.

``bbc``         400 articles, 80 of each category: the ones SWIFT's grid was developed on
``bbc_fresh``   three further draws of 400, without any text of the first or of each other
``bbc_all``     all 2,225 articles
``bbc_unique``  all, each text once
``eicu``        heart failure in the eICU demo, its own diagnosis (CCS 108) dropped
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from swiftcore.data.building.documents import cooccurrence_tensor, read_corpus
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SWIFT_SHARED_DATA", ROOT.parent / "shared" / "data"))
NAMES = ("bbc", "bbc_fresh", "bbc_all", "bbc_unique", "eicu")
PER_CATEGORY = 80
FRESH_DRAWS = 3  # the smallest category has articles for no more

Texts = dict[Path, str]


def load(name: str) -> list[Dataset]:
    """One data set, or three for ``bbc_fresh``."""
    if name == "eicu":
        return [_eicu()]
    articles = sorted((SHARED / "bbc" / "bbc").glob("*/*.txt"))
    texts = {path: path.read_text(encoding="latin-1") for path in articles}
    if name == "bbc_all":
        return [_dataset(name, texts)]
    if name == "bbc_unique":
        return [_dataset(name, _each_once(texts))]
    developed_on = _first_draw(texts)
    if name == "bbc":
        return [_dataset(name, developed_on)]
    return [
        _dataset(f"bbc_fresh_{number}", draw)
        for number, draw in enumerate(_fresh_draws(texts, developed_on), 1)
    ]


def _eicu() -> Dataset:
    options = BuildOptions(
        outcome_column="hf_dx, hf_history",
        outcome_name="heart failure",
        drop_codes=("108",),
        values="binary",
        name="eicu",
    )
    return build_path(SHARED / "eicu_demo", options)


def _dataset(name: str, texts: Texts) -> Dataset:
    names = [f"{path.parent.name}/{path.stem}" for path in texts]
    corpus = read_corpus(names, list(texts.values()), "english", Findings())
    return Dataset(
        name,
        cooccurrence_tensor(corpus, corpus.words),
        np.array([path.parent.name for path in texts]),
        "category",
        "BBC News articles; words that meet in a sentence, counted",
        word_counts=corpus.word_counts(),
        words=corpus.words,
    )


def _each_once(texts: Texts) -> Texts:
    first: dict[str, Path] = {}
    for path, text in texts.items():
        first.setdefault(_plain(text), path)
    return {path: texts[path] for path in sorted(first.values())}


def _first_draw(texts: Texts) -> Texts:
    rng = np.random.default_rng(0)
    chosen: list[Path] = []
    for own in _by_category(texts).values():
        kept = rng.choice(len(own), PER_CATEGORY, replace=False)
        chosen += [own[index] for index in sorted(kept)]
    return {path: texts[path] for path in chosen}


def _fresh_draws(texts: Texts, seen: Texts) -> list[Texts]:
    known = {_plain(text) for text in seen.values()}
    unseen = {path: text for path, text in _each_once(texts).items() if _plain(text) not in known}
    rng = np.random.default_rng(1)
    shuffled = {
        category: [own[index] for index in rng.permutation(len(own))]
        for category, own in _by_category(unseen).items()
    }
    return [
        {
            path: texts[path]
            for own in shuffled.values()
            for path in sorted(own[draw * PER_CATEGORY : (draw + 1) * PER_CATEGORY])
        }
        for draw in range(FRESH_DRAWS)
    ]


def _by_category(texts: Texts) -> dict[str, list[Path]]:
    groups: dict[str, list[Path]] = {}
    for path in texts:
        groups.setdefault(path.parent.name, []).append(path)
    return dict(sorted(groups.items()))


def _plain(text: str) -> str:
    return " ".join(text.split())
