"""Raw-data classifiers: what the matrices hold, and that every classifier learns, soon."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from swiftcore.errors import InvalidData
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.methods.classifiers import class_probabilities, make_classifier
from swiftcore.evaluation.methods.row_matrix import RowUnfolding, indicators
from swiftcore.tensor import Mode, SparseTensor

CLASSIFIERS = {key: one.grid for key, one in CATALOGUE.items() if not one.is_factorization}


def groups(seed: int, n_rows: int, n_groups: int, shape: tuple[int, int], n: int) -> SparseTensor:
    """Rows of each group have entries among features of their own, and some anywhere."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n_rows), n)
    own = rng.random(len(rows)) < 0.7
    places = [rows]
    for size in shape:
        block = size // n_groups
        within = (rows % n_groups) * block + rng.integers(0, block, len(rows))
        places.append(np.where(own, within, rng.integers(0, size, len(rows))))
    return SparseTensor.from_coordinates(
        np.column_stack(places), np.ones(len(rows)), (n_rows, *shape)
    )


def test_the_unfolding_is_the_dense_one_without_its_empty_columns() -> None:
    tensor = groups(0, 12, 3, (9, 6), 8)
    dense = tensor.to_dense().reshape(12, -1)
    np.testing.assert_array_equal(
        RowUnfolding.of(tensor)(tensor).toarray(), dense[:, dense.any(axis=0)]
    )


def test_columns_are_those_of_the_training_rows() -> None:
    tensor = groups(0, 20, 2, (8, 6), 6)
    train, test = tensor.select(0, np.arange(12)), tensor.select(0, np.arange(12, 20))
    unfolding = RowUnfolding.of(train)
    seen = train.to_dense().reshape(12, -1).any(axis=0)
    np.testing.assert_array_equal(
        unfolding(test).toarray(), test.to_dense().reshape(8, -1)[:, seen]
    )
    assert test.to_dense().reshape(8, -1)[:, ~seen].any(), "the case must bring new combinations"
    assert unfolding(train).shape == (12, seen.sum())


def test_rows_with_other_features_are_refused() -> None:
    tensor = groups(0, 12, 3, (9, 6), 8)
    modes = (tensor.modes[0], Mode("mode 2", tuple("ABCDEFGHI")), tensor.modes[2])
    renamed = SparseTensor(modes, tensor.coordinates, tensor.values)
    with pytest.raises(InvalidData):
        RowUnfolding.of(tensor)(renamed)
    wide = SparseTensor.from_coordinates(
        [[0] * 9], [1], modes=[Mode.numbered(f"m{mode}", 300) for mode in range(9)]
    )
    with pytest.raises(InvalidData, match="indicators"):
        RowUnfolding.of(wide)(wide)


def test_indicators_say_which_features_a_row_has() -> None:
    tensor = groups(1, 10, 2, (8, 6), 7)
    dense = tensor.to_dense() > 0
    wanted = np.hstack([dense.any(axis=2), dense.any(axis=1)])
    np.testing.assert_array_equal(indicators(tensor).toarray(), wanted.astype(float))


def test_every_classifier_has_a_grid() -> None:
    assert len(CLASSIFIERS) == 8
    assert all(len(grid) > 1 for grid in CLASSIFIERS.values())


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("key", CLASSIFIERS)
def test_each_learns_planted_groups_and_repeats_itself(key: str, n_classes: int) -> None:
    train, test = (groups(seed, 120, n_classes, (12, 12), 12) for seed in (0, 1))
    if key.endswith("indicators"):
        rows, new = indicators(train), indicators(test)
    else:
        form = RowUnfolding.of(train)
        rows, new = form(train), form(test)
    codes = np.arange(120) % n_classes
    best = 0.0
    for setting in CLASSIFIERS[key]:
        found = [
            class_probabilities(
                make_classifier(key, setting, 3, rows.shape[0]).fit(rows, codes), new, n_classes
            )
            for _ in range(2)
        ]
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_allclose(found[0].sum(axis=1), 1)
        best = max(best, float(np.mean(found[0].argmax(axis=1) == codes)))
    assert best > 0.85


def test_a_class_without_training_rows_has_no_probability() -> None:
    rows = indicators(groups(0, 30, 3, (9, 9), 6))
    model = make_classifier("lasso_indicators", {"C": 1.0}, 0, 30).fit(rows, np.arange(30) % 2 * 2)
    found = class_probabilities(model, rows, 4)
    assert found.shape == (30, 4) and not found[:, [1, 3]].any()
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key in CLASSIFIERS if key.endswith("unfolded")])
def test_a_fit_of_the_papers_size_takes_seconds_and_converges(key: str) -> None:
    tensor = groups(0, 1000, 5, (100, 100), 80)
    rows, codes = RowUnfolding.of(tensor)(tensor), np.arange(1000) % 5
    assert rows.shape[1] > 9000
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(1000) < 0.3, rng.integers(0, 5, 1000), codes)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_classifier(key, CLASSIFIERS[key][1], 0, len(codes)).fit(rows, codes).predict_proba(
            rows
        )
    assert time.process_time() - began < 10  # about 2 s alone on one core
