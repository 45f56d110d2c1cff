"""Which rows train, which choose, which judge: five folds of 3 : 1 : 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, Problem, refuse

MIN_FOLDS = 3  # one to test, one to choose, the rest to train


@dataclass(frozen=True, eq=False)
class Labels:
    """What is to be predicted, as numbers.

    Attributes
    ----------
    classes : tuple of str
        Names; for a yes-or-no outcome no comes first.
    codes : ndarray of int64, (rows,)
        The class of each row; -1 where it is not known.
    """

    classes: tuple[str, ...]
    codes: NDArray[np.int64]

    @property
    def binary(self) -> bool:
        return len(self.classes) == 2

    @property
    def chance(self) -> float:
        """Score of a guess: the prevalence of yes, or the share of the largest class."""
        known = self.codes[self.codes >= 0]
        counts = np.bincount(known, minlength=len(self.classes))
        return float((counts[1] if self.binary else counts.max()) / len(known))


@dataclass(frozen=True, eq=False)
class Fold:
    """Row numbers of one split; no row is in two parts, no group is torn apart."""

    repeat: int
    number: int
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def read_labels(dataset: Dataset) -> Labels:
    """The outcome of a data set as class numbers.

    Raises
    ------
    InvalidData
        If there is no outcome, or only one class.
    """
    if dataset.outcome is None:
        raise refuse(
            "no-outcome",
            "There is nothing to predict",
            dataset.name,
            "no outcome",
            "Give the data an outcome (a column, codes or a category).",
        )
    if dataset.outcome.dtype == bool:
        name = dataset.outcome_name or "outcome"
        labels = Labels((f"no {name}", name), dataset.outcome.astype(np.int64))
    else:
        texts = [str(value) for value in dataset.outcome]
        classes = tuple(sorted(set(texts) - {""}))
        place = {text: code for code, text in enumerate(classes)} | {"": -1}
        labels = Labels(classes, np.array([place[text] for text in texts], dtype=np.int64))
    present = set(labels.codes[labels.codes >= 0].tolist())
    if len(present) < 2:
        raise refuse(
            "one-class",
            "All rows have the same outcome",
            dataset.outcome_name,
            f"{len(present)} class",
            "Choose an outcome that some rows have.",
        )
    return labels


def make_folds(
    dataset: Dataset, labels: Labels, n_folds: int = 5, repeats: int = 1, seed: int = 0
) -> list[Fold]:
    """Stratified folds; rows of one group stay together, rows without an outcome stay out.

    Fold k tests on part k, chooses on part k + 1 and trains on the others.

    Raises
    ------
    InvalidData
        If a class has fewer rows (or groups) than there are folds.
    """
    rows = np.flatnonzero(labels.codes >= 0)
    codes, groups = labels.codes[rows], row_groups(dataset)[rows]
    _check_counts(labels, codes, groups, n_folds)
    grouped = len(np.unique(groups)) < len(groups)
    folds = []
    for repeat in range(repeats):
        kind = StratifiedGroupKFold if grouped else StratifiedKFold
        splitter = kind(n_folds, shuffle=True, random_state=seed + repeat)
        split = splitter.split(rows, codes, groups if grouped else None)
        parts = [rows[test] for _, test in split]
        for number in range(n_folds):
            choose = (number + 1) % n_folds
            rest = [part for k, part in enumerate(parts) if k not in (number, choose)]
            folds.append(
                Fold(repeat, number, np.sort(np.concatenate(rest)), parts[choose], parts[number])
            )
    return folds


def row_groups(dataset: Dataset) -> NDArray[np.int64]:
    """A number per row; rows of one person, or the same text twice, have the same one."""
    if dataset.row_groups:
        return np.unique(np.array(dataset.row_groups), return_inverse=True)[1]
    if dataset.word_counts is None:
        return np.arange(dataset.tensor.shape[0])
    counts = dataset.word_counts.tocsr().sorted_indices()
    texts = [
        counts.indices[start:end].tobytes() + counts.data[start:end].tobytes()
        for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(text, row) for row, text in enumerate(texts)], dtype=np.int64)


def _check_counts(
    labels: Labels, codes: NDArray[np.int64], groups: NDArray[np.int64], n_folds: int
) -> None:
    problems = []
    if n_folds < MIN_FOLDS:
        problems.append(
            Problem(
                "fold-count",
                "Too few folds to train, choose and test",
                "folds",
                str(n_folds),
                f"Use {MIN_FOLDS} or more.",
            )
        )
    for code, name in enumerate(labels.classes):
        members = len(np.unique(groups[codes == code]))
        if members < n_folds:
            problems.append(
                Problem(
                    "class-too-small",
                    "A class has too few rows for the folds",
                    name,
                    f"{members} rows for {n_folds} folds",
                    "Use fewer folds, or leave the class out.",
                )
            )
    if problems:
        raise InvalidData(problems)
