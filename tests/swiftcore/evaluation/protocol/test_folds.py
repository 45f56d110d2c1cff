from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData
from swiftcore.evaluation.protocol.folds import make_folds, read_labels, row_groups


def test_five_folds_of_three_to_one_to_one(patients: Dataset) -> None:
    folds = make_folds(patients, read_labels(patients))
    assert len(folds) == 5
    for fold in folds:
        rows = np.concatenate([fold.train, fold.validation, fold.test])
        assert sorted(rows) == list(range(90))
        assert len(fold.train) == 54 and len(fold.test) == 18
    tested = np.concatenate([fold.test for fold in folds])
    assert sorted(tested) == list(range(90))


def test_classes_are_spread_evenly(corpus: Dataset) -> None:
    labels = read_labels(corpus)
    for fold in make_folds(corpus, labels):
        assert np.bincount(labels.codes[fold.test]).tolist() == [4, 4, 4]


def test_repeats_are_other_splits_and_seeds_repeat(patients: Dataset) -> None:
    labels = read_labels(patients)
    first, again = (make_folds(patients, labels, repeats=2) for _ in range(2))
    assert [fold.repeat for fold in first] == [0] * 5 + [1] * 5
    assert not np.array_equal(first[0].test, first[5].test)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(first, again, strict=True))


def test_visits_of_one_person_stay_together(patients: Dataset) -> None:
    persons = tuple(f"person {row // 3}" for row in range(90))
    grouped = replace(patients, row_groups=persons)
    for fold in make_folds(grouped, read_labels(grouped)):
        parts = [
            {persons[row] for row in rows} for rows in (fold.train, fold.validation, fold.test)
        ]
        assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]


def test_a_text_that_stands_twice_is_never_torn_apart(corpus: Dataset) -> None:
    assert corpus.word_counts is not None
    order = [*range(60), *range(0, 60, 3)]  # twenty articles once more
    modes = corpus.tensor.modes
    twice = replace(
        corpus,
        outcome=np.array(corpus.outcome)[order],
        word_counts=corpus.word_counts[order],
        tensor=_stacked(corpus, order),
    )
    assert twice.tensor.modes[1:] == modes[1:]
    groups = row_groups(twice)
    assert len(np.unique(groups)) == 60
    for fold in make_folds(twice, read_labels(twice)):
        assert not set(groups[fold.test]) & set(groups[fold.train])
        assert not set(groups[fold.test]) & set(groups[fold.validation])


def _stacked(data: Dataset, order: list[int]):  # type: ignore[no-untyped-def]
    from swiftcore.tensor import Mode, SparseTensor

    places, values = [], []
    for new, old in enumerate(order):
        mine = data.tensor.coordinates[:, 0] == old
        block = data.tensor.coordinates[mine].copy()
        block[:, 0] = new
        places.append(block)
        values.append(data.tensor.values[mine])
    modes = (Mode.numbered("document", len(order)), *data.tensor.modes[1:])
    return SparseTensor.from_coordinates(np.vstack(places), np.concatenate(values), modes=modes)


def test_what_cannot_be_split_is_refused_in_words(patients: Dataset) -> None:
    with pytest.raises(InvalidData) as caught:
        read_labels(replace(patients, outcome=None))
    assert caught.value.problems[0].code == "no-outcome"
    with pytest.raises(InvalidData) as caught:
        read_labels(replace(patients, outcome=np.zeros(90, dtype=bool)))
    assert caught.value.problems[0].code == "one-class"
    rare = replace(patients, outcome=np.arange(90) < 3)
    with pytest.raises(InvalidData) as caught:
        make_folds(rare, read_labels(rare), 2)
    assert [one.code for one in caught.value.problems] == ["fold-count"]
    with pytest.raises(InvalidData) as caught:
        make_folds(rare, read_labels(rare))
    assert [one.code for one in caught.value.problems] == ["class-too-small"]


def test_rows_without_an_outcome_stay_out(corpus: Dataset) -> None:
    outcome = np.array(corpus.outcome)
    outcome[:6] = ""
    data = replace(corpus, outcome=outcome)
    labels = read_labels(data)
    assert labels.classes == ("film", "money", "sport")
    tested = np.concatenate([fold.test for fold in make_folds(data, labels)])
    assert sorted(tested) == list(range(6, 60))
