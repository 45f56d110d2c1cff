"""Unfolding against NumPy, for 2 to 5 modes."""

from __future__ import annotations

import numpy as np
import pytest
from reference.known_problems import random_problem

from swiftcore import InvalidData, SparseTensor, unfold


@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 3), (4, 3, 3, 2), (3, 2, 2, 3, 2)])
def test_columns_are_numpys_without_the_empty_ones(shape: tuple[int, ...]) -> None:
    tensor, _, _ = random_problem(1, shape, 1, 0.2, True)
    dense = tensor.to_dense()
    for mode in range(len(shape)):
        wanted = np.moveaxis(dense, mode, 0).reshape(shape[mode], -1)
        wanted = wanted[:, wanted.any(axis=0)]
        part = unfold(tensor, mode)
        got = np.zeros((part.n_rows, part.n_columns))
        for j in range(part.n_columns):
            entries = slice(part.starts[j], part.starts[j + 1])
            got[part.rows[entries], j] = part.values[entries]
            assert np.all(np.diff(part.rows[entries]) > 0)
            place = np.insert(part.column_places[j], mode, part.rows[entries.start])
            assert dense[tuple(place)] == part.values[entries.start]
        np.testing.assert_array_equal(got, wanted)
        assert part.n_entries == tensor.n_entries
        assert part.other_modes == tuple(axis for axis in range(len(shape)) if axis != mode)


def test_a_tensor_without_entries_has_no_columns() -> None:
    tensor = SparseTensor.from_coordinates(np.empty((0, 3), dtype=int), [], shape=(2, 2, 2))
    part = unfold(tensor, 1)
    assert (part.n_columns, part.n_entries) == (0, 0)
    assert part.starts.tolist() == [0]


@pytest.mark.parametrize("mode", [-1, 3])
def test_a_mode_that_is_not_there_is_refused(mode: int) -> None:
    tensor, _, _ = random_problem(1, (4, 3, 2), 1, 0.5, True)
    with pytest.raises(InvalidData, match="Choose one from 0 to 2"):
        unfold(tensor, mode)
