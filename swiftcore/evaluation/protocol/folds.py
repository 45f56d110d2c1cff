"""Which rows train, which choose, which judge: five folds of 3 : 1 : 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, Problem, refuse, where_list

MIN_FOLDS = 3  # one to test, one to choose, the rest to train
SUBSET_DRAWS = 41  # keeps the draws of subsets apart from others with the same seed


@dataclass(frozen=True, eq=False)
class Labels:
    """What is to be predicted, as numbers.

    Attributes
    ----------
    classes : tuple of str
        Names; for a yes-or-no outcome no comes first.
    codes : ndarray of int64, (rows,)
        The class of each row; -1 where it is not known.
    left_out : mapping of str to int
        Classes that were too small, with their numbers of rows; these have the code -1.
    """

    classes: tuple[str, ...]
    codes: NDArray[np.int64]
    left_out: Mapping[str, int] = field(default_factory=dict)

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

    subset: int
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
            "Give the data an outcome: a column (--set outcome_column=NAME), "
            "codes (--set outcome_codes=...) or a category.",
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


def without_small_classes(dataset: Dataset, labels: Labels, least: int) -> Labels:
    """The labels without the classes that have fewer rows (or groups) than ``least``.

    Raises
    ------
    InvalidData
        If fewer than two classes are left.
    """
    members = class_sizes(dataset, labels)
    kept = [code for code, count in enumerate(members) if count >= least]
    if len(kept) == len(members):
        return labels
    if len(kept) < 2:
        sizes = where_list(
            f"{n} of '{name}'" for name, n in zip(labels.classes, members, strict=True)
        )
        raise refuse(
            "classes-too-small",
            "Without the small classes there is nothing to tell apart",
            dataset.outcome_name,
            sizes,
            f"Give --least-class-size less than {least}.",
        )
    place = np.full(len(members) + 1, -1)  # the last: rows without a class
    place[kept] = np.arange(len(kept))
    counts = np.bincount(labels.codes[labels.codes >= 0], minlength=len(members))
    return Labels(
        tuple(labels.classes[code] for code in kept),
        place[labels.codes],
        {labels.classes[k]: int(n) for k, n in enumerate(counts) if k not in kept},
    )


def class_sizes(dataset: Dataset, labels: Labels) -> list[int]:
    """How many rows each class has; rows of one group count as one."""
    return _members(labels, labels.codes, row_groups(dataset))


def draw_subsets(labels: Labels, subsets: int, size: int, seed: int = 0) -> list[NDArray[np.int64]]:
    """Rows of each random subset, sorted; each class has its share. No subsets: all rows once.

    Every subset has a draw of its own, so that more of them leave the first ones as they are.

    Raises
    ------
    InvalidData
        If there are fewer rows than a subset is to have.
    """
    known = np.flatnonzero(labels.codes >= 0)
    if not subsets:
        return [known]
    if size > len(known):
        raise refuse(
            "subset-too-large",
            "There are fewer rows than a subset is to have",
            "subset size",
            f"{size:,} of {len(known):,} rows",
            "Give a smaller --subset-size.",
        )
    counts = np.bincount(labels.codes[known], minlength=len(labels.classes))
    share = counts * size / len(known)
    quota = np.floor(share).astype(np.int64)
    most_left = np.argsort(quota - share, kind="stable")  # largest remainder first
    quota[most_left[: size - quota.sum()]] += 1
    drawn = []
    for number in range(subsets):
        rng = np.random.default_rng([seed, number, SUBSET_DRAWS])
        rows = [
            rng.permutation(np.flatnonzero(labels.codes == code))[:n]
            for code, n in enumerate(quota)
        ]
        drawn.append(np.sort(np.concatenate(rows)))
    return drawn


def make_folds(
    dataset: Dataset,
    labels: Labels,
    n_folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    subsets: int = 0,
    subset_size: int = 0,
) -> list[Fold]:
    """Stratified folds; rows of one group stay together, rows without an outcome stay out.

    Fold k tests on part k, chooses on part k + 1 and trains on the others. With ``subsets``
    the folds are drawn inside each of these random subsets of ``subset_size`` rows.

    Raises
    ------
    InvalidData
        If a class has fewer rows (or groups) than there are folds.
    """
    groups, known = row_groups(dataset), int((labels.codes >= 0).sum())
    folds = []
    for subset, rows in enumerate(draw_subsets(labels, subsets, subset_size, seed)):
        needed = -(-n_folds * known // len(rows))  # of a class, to have a row in every fold
        _check_counts(labels, labels.codes[rows], groups[rows], n_folds, needed)
        for repeat in range(repeats):
            parts = _parts(rows, labels.codes[rows], groups[rows], n_folds, seed + repeat)
            for number in range(n_folds):
                choose = (number + 1) % n_folds
                rest = [part for k, part in enumerate(parts) if k not in (number, choose)]
                train = np.sort(np.concatenate(rest))
                folds.append(Fold(subset, repeat, number, train, parts[choose], parts[number]))
    return folds


def _parts(
    rows: NDArray[np.int64],
    codes: NDArray[np.int64],
    groups: NDArray[np.int64],
    n_folds: int,
    seed: int,
) -> list[NDArray[np.int64]]:
    grouped = len(np.unique(groups)) < len(groups)
    kind = StratifiedGroupKFold if grouped else StratifiedKFold
    splitter = kind(n_folds, shuffle=True, random_state=seed)
    return [rows[test] for _, test in splitter.split(rows, codes, groups if grouped else None)]


def _members(labels: Labels, codes: NDArray[np.int64], groups: NDArray[np.int64]) -> list[int]:
    return [len(np.unique(groups[codes == code])) for code in range(len(labels.classes))]


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
    labels: Labels,
    codes: NDArray[np.int64],
    groups: NDArray[np.int64],
    n_folds: int,
    needed: int,
) -> None:
    problems = []
    cure = "Use fewer folds, or leave" if n_folds > MIN_FOLDS else "Leave"
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
    for name, members in zip(labels.classes, _members(labels, codes, groups), strict=True):
        if members < n_folds:
            problems.append(
                Problem(
                    "class-too-small",
                    "A class has too few rows for the folds",
                    name,
                    f"{members} rows for {n_folds} folds",
                    f"{cure} such classes out: --least-class-size {needed}.",
                )
            )
    if problems:
        raise InvalidData(problems)
