"""Everything a fold's models may know, made from its training rows alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost import build_costs
from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.data.building.documents import choose_words, word_weights
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.protocol.folds import Fold, Labels
from swiftcore.evaluation.protocol.noise import Noise, add_noise
from swiftcore.spec.row_relation import DENSE_ROWS
from swiftcore.tensor import SparseTensor

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Prepared:
    """One fold, ready for any method.

    Attributes
    ----------
    tensors : dict of SparseTensor
        train, validation and test, and known: the first two together; with the same features.
    codes : dict of ndarray
        The class of each row of each part.
    classes : tuple of str
    counts : sparse array, or None
        For documents: word counts of the training rows, for the row cost.
    recipe : str
        How costs are built.
    seed : int
        For the random recipe.
    outside : OutsideKnowledge
        What is known about the features beyond the rows.
    """

    tensors: Mapping[str, SparseTensor]
    codes: Mapping[str, NDArray[np.int64]]
    classes: tuple[str, ...]
    counts: sparse.csr_array | None
    recipe: str
    seed: int
    outside: OutsideKnowledge = field(default_factory=OutsideKnowledge)

    @property
    def training(self) -> Dataset:
        """The training rows as a data set of their own, without their outcome."""
        return Dataset(
            "training rows",
            self.tensors["train"],
            None,
            "",
            "",
            word_counts=self.counts,
            outside=self.outside,
        )

    @cached_property
    def costs(self) -> list[NDArray[np.float64]]:
        """One cost matrix per mode, for the training rows."""
        train = self.tensors["train"]
        return build_costs(
            train, self.recipe, reference=train, word_counts=self.counts, seed=self.seed
        )

    def digest(self) -> str:
        """Of all that training and choosing may use; nothing of the test rows enters."""
        sha = hashlib.sha256()
        for part in PARTS[:2]:
            sha.update(self.tensors[part].digest().encode())
            sha.update(self.codes[part].tobytes())
        train = self.tensors["train"]
        if train.shape[0] <= DENSE_ROWS:
            for cost in self.costs:
                sha.update(cost.tobytes())
        elif self.counts is not None:  # all that costs follow from besides the rows
            sha.update(self.counts.data.tobytes() + self.counts.indices.tobytes())
        return sha.hexdigest()


def prepare(
    dataset: Dataset,
    labels: Labels,
    fold: Fold,
    *,
    features: int = 0,
    recipe: str = "cosine",
    noise: Noise | None = None,
    seed: int = 0,
) -> Prepared:
    """Choose features and split rows.

    Parameters
    ----------
    features : int
        The most features per mode, the ones that matter most in the training rows
        (largest TF-IDF sum for words, most rows otherwise); 0 keeps all.
    recipe : str
        Of the costs.
    noise : Noise, optional
        Added to all rows after the features are chosen. Documents are then compared by
        their entries, even if none is false: clean word counts would undo the noise.
    """
    tensor = choose_features(dataset, fold.train, features)
    if noise is not None:
        tensor = add_noise(tensor, noise)
    known = np.concatenate([fold.train, fold.validation])
    rows = {"train": fold.train, "validation": fold.validation, "test": fold.test, "known": known}
    counts = dataset.word_counts if noise is None else None
    return Prepared(
        tensors={part: tensor.select(0, index) for part, index in rows.items()},
        codes={part: labels.codes[index] for part, index in rows.items()},
        classes=labels.classes,
        counts=None if counts is None else counts[fold.train],
        recipe=recipe,
        seed=seed,
        outside=dataset.outside,
    )


def choose_features(dataset: Dataset, training: NDArray[np.int64], features: int) -> SparseTensor:
    """The tensor cut to ``features`` per mode, judged by the training rows alone."""
    tensor = dataset.tensor
    for mode in range(1, tensor.n_modes):
        if features and tensor.shape[mode] > features:
            tensor = tensor.select(mode, _best(dataset, tensor, mode, training, features))
    return tensor


def _best(
    dataset: Dataset, tensor: SparseTensor, mode: int, training: NDArray[np.int64], features: int
) -> Sequence[int]:
    labels = tensor.modes[mode].labels
    known = set(dataset.words)
    if dataset.word_counts is not None and known.issuperset(labels):
        place = {word: column for column, word in enumerate(dataset.words)}
        # weighed among all words of the documents: the choice is that among all of them
        # wherever these labels hold it
        weights = word_weights(dataset.word_counts, "tfidf", training)
        total = np.round(weights[[place[label] for label in labels]], 9)
        order = np.lexsort((np.arange(len(total)), -total))[:features]
        return sorted(index for index in order.tolist() if total[index] > 0)
    is_training = np.zeros(tensor.shape[0], dtype=bool)
    is_training[training] = True
    kept = tensor.coordinates[is_training[tensor.coordinates[:, 0]]][:, [0, mode]]
    holding = np.bincount(np.unique(kept, axis=0)[:, 1], minlength=tensor.shape[mode])
    order = np.lexsort((np.arange(len(holding)), -holding))
    return sorted(order[:features].tolist())


def words_missed(dataset: Dataset, training: NDArray[np.int64], features: int) -> int:
    """How many of the words that training documents would choose the data were built without.

    0 where the words of the data, though chosen from all documents, decide nothing.
    """
    if dataset.word_counts is None:
        return 0
    chosen = choose_words(dataset.word_counts, dataset.words, features, "tfidf", training)
    return len(set(chosen) - set(dataset.tensor.modes[-1].labels))
