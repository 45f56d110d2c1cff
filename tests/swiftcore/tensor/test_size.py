"""The size of a tensor is that of its unfoldings."""

from __future__ import annotations

import numpy as np
import pytest
from reference.known_problems import random_problem

from swiftcore.tensor import SparseTensor, TensorSize, unfold

TENSOR, _, _ = random_problem(1, (8, 6, 5), 3, 0.2, True)


def test_columns_and_the_fullest_of_them() -> None:
    size = TensorSize.of(TENSOR)
    parts = [unfold(TENSOR, mode) for mode in range(3)]
    assert (size.shape, size.entries) == (TENSOR.shape, TENSOR.n_entries)
    assert size.columns == tuple(part.n_columns for part in parts)
    assert size.longest == tuple(int(np.diff(part.starts).max()) for part in parts)
    assert str(size) == "8 x 6 x 5"


def test_a_tensor_without_entries_has_no_columns() -> None:
    empty = SparseTensor.from_coordinates(np.empty((0, 2), int), [], (3, 4))
    assert TensorSize.of(empty) == TensorSize((3, 4), 0, (0, 0), (0, 0))


def test_a_part_of_the_rows_is_as_large_as_it_is_said_to_be() -> None:
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.integers(0, size, 20_000) for size in (400, 30, 20)])
    tensor = SparseTensor.from_coordinates(places, np.ones(20_000), (400, 30, 20))
    said = TensorSize.of(tensor).with_rows(100)
    true = TensorSize.of(tensor.select(0, range(100)))
    assert said.shape == true.shape == (100, 30, 20)
    for name in ("entries", "columns"):
        assert getattr(said, name) == pytest.approx(getattr(true, name), rel=0.05)
