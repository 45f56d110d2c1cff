"""Random subsets, small classes, and intervals over all folds of all subsets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData
from swiftcore.evaluation.protocol.folds import (
    Labels,
    draw_subsets,
    make_folds,
    read_labels,
    without_small_classes,
)
from swiftcore.evaluation.protocol.intervals import independent_sets, paired_interval
from swiftcore.evaluation.protocol.scores import (
    compare_with,
    summarise,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1, 3), min_size=8, max_size=60), st.integers(1, 60), st.integers(0, 9))
def test_subsets_are_stratified_repeatable_and_of_the_size_asked(
    codes: list[int], size: int, seed: int
) -> None:
    labels = Labels(("a", "b", "c", "d"), np.array(codes))
    known = int((labels.codes >= 0).sum())
    if size > known:
        with pytest.raises(InvalidData, match="fewer rows"):
            draw_subsets(labels, 2, size, seed)
        return
    drawn = draw_subsets(labels, 3, size, seed)
    again = draw_subsets(labels, 2, size, seed)  # fewer of them are the first ones
    for rows, same in zip(drawn, again, strict=False):
        np.testing.assert_array_equal(rows, same)
    for rows in drawn:
        assert len(rows) == len(np.unique(rows)) == size and (labels.codes[rows] >= 0).all()
        share = np.bincount(labels.codes[labels.codes >= 0], minlength=4) * size / known
        assert (np.abs(np.bincount(labels.codes[rows], minlength=4) - share) < 1).all()


def test_folds_stay_inside_their_subset(patients: Dataset) -> None:
    labels = read_labels(patients)
    folds = make_folds(patients, labels, 3, repeats=2, subsets=4, subset_size=45)
    assert [(f.subset, f.repeat, f.number) for f in folds[:4]] == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 0, 2),
        (0, 1, 0),
    ]
    for number, rows in enumerate(draw_subsets(labels, 4, 45)):
        for fold in (one for one in folds if one.subset == number):
            parts = np.concatenate([fold.train, fold.validation, fold.test])
            np.testing.assert_array_equal(np.sort(parts), rows)
    assert len({tuple(fold.test) for fold in folds}) == len(folds) == 24


def test_small_classes_are_left_out_when_asked(corpus: Dataset) -> None:
    outcome = np.array(corpus.outcome, dtype=object)
    outcome[:3], outcome[3] = "rare", "once"
    data = replace(corpus, outcome=np.array(outcome.tolist()))
    labels = read_labels(data)
    with pytest.raises(InvalidData) as caught:
        make_folds(data, labels)
    assert [one.where for one in caught.value.problems] == ["once", "rare"]
    assert all("--least-class-size 5" in one.cure for one in caught.value.problems)
    kept = without_small_classes(data, labels, 5)
    assert kept.classes == ("film", "money", "sport")
    assert kept.left_out == {"once": 1, "rare": 3} and (kept.codes[:4] == -1).all()
    names = np.array([*kept.classes, ""])[kept.codes[4:]]
    np.testing.assert_array_equal(names, data.outcome[4:])
    assert len(make_folds(data, kept)) == 5
    assert without_small_classes(data, labels, 0) is labels
    with pytest.raises(InvalidData, match="nothing to tell apart"):
        without_small_classes(data, labels, 30)


def test_a_class_too_small_for_a_subset_names_the_size_that_would_do(corpus: Dataset) -> None:
    outcome = np.array(corpus.outcome, dtype=object)
    outcome[:8] = "rare"
    data = replace(corpus, outcome=np.array(outcome.tolist()))
    labels = read_labels(data)
    with pytest.raises(InvalidData, match="--least-class-size 10"):
        make_folds(data, labels, 5, subsets=2, subset_size=30)
    assert make_folds(data, without_small_classes(data, labels, 10), 5, subsets=2, subset_size=30)


def test_subsets_count_for_as_many_data_sets_as_they_share_no_rows() -> None:
    assert independent_sets(0, 0, 100) == 1 == independent_sets(7, 100, 100)
    assert independent_sets(4, 1, 10**9) == pytest.approx(4)
    assert 1 < independent_sets(5, 50, 100) < independent_sets(50, 50, 100) < 2


@pytest.mark.parametrize(("rows", "size"), [(200, 100), (200, 200), (2000, 100)])
def test_the_interval_covers_the_truth_where_a_plain_one_does_not(rows: int, size: int) -> None:
    """Rows differ in what one method gains over the other; a trial sees the mean of its tests."""
    subsets = 8
    rng = np.random.default_rng(0)
    covered = plain = 0
    for _ in range(300):
        gain, seen = rng.normal(size=rows), []
        for _ in range(subsets):
            mine = rng.permutation(rows)[:size]
            for _ in range(3):  # repeats of five folds
                folds = rng.permutation(mine).reshape(5, -1)
                seen += list(gain[folds].mean(axis=1) + rng.normal(size=5, scale=0.02))
        found = np.array(seen)
        low, high = paired_interval(found, 0.2, independent_sets(subsets, size, rows))
        covered += low <= 0 <= high
        half = 1.96 * found.std(ddof=1) / np.sqrt(len(found))
        plain += abs(found.mean()) <= half
    assert covered >= 0.93 * 300
    if size > 0.1 * rows:
        assert plain < 0.8 * 300


def test_draws_of_noise_are_no_further_folds() -> None:
    rng = np.random.default_rng(0)
    lines = [
        ("swift" if ours else "cp_apr", 3, 0.1, draw, 0, 0, fold, 0.5 + 0.1 * ours * rng.random())
        for ours in (1, 0)
        for draw in range(4)
        for fold in range(5)
    ]
    columns = ["method", "rank", "level", "draw", "subset", "repeat", "fold", "score"]
    scores = pd.DataFrame(lines, columns=columns)
    scores.loc[3, "score"] = np.nan  # one draw of one fold failed: the others stand for it
    found = compare_with(scores, "swift", 0.2, within=("level",)).iloc[0]
    wide = scores[scores["method"] == "swift"].groupby("fold")["score"].mean() - 0.5
    low, high = paired_interval(wide.to_numpy(), 0.2)
    assert (found["low"], found["high"]) == pytest.approx((low, high))
    assert found["method"] == "cp_apr" and found["level"] == 0.1
    assert list(summarise(scores, 0.2, within=("level",))["n"]) == [5, 5]
