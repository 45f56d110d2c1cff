from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings
from swiftcore.evaluation.protocol.noise import Noise, add_noise
from swiftcore.tensor import SparseTensor


def tensor_of(seed: int, entries: int, binary: bool) -> SparseTensor:
    rng = np.random.default_rng(seed)
    places = rng.integers(0, [20, 7, 5], size=(entries, 3))
    made = SparseTensor.from_coordinates(places, rng.integers(1, 9, entries), shape=[20, 7, 5])
    if not binary:
        return made
    return SparseTensor(made.modes, made.coordinates, np.ones(made.n_entries))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 999), st.integers(1, 900), st.booleans(), st.floats(0, 1))
def test_noise_only_fills_empty_cells(seed: int, entries: int, binary: bool, level: float) -> None:
    clean = tensor_of(seed, entries, binary)
    dense, noisy = clean.to_dense(), add_noise(clean, Noise(level, seed)).to_dense()
    assert np.array_equal(noisy[dense > 0], dense[dense > 0])
    added = noisy[(dense == 0) & (noisy > 0)]
    assert len(added) <= clean.n_entries
    assert set(np.unique(added)) <= ({1.0} if binary else set(np.arange(1, dense.max() + 1)))


def test_the_expected_number_of_cells_is_filled() -> None:
    clean = tensor_of(0, 250, True)
    counts = [add_noise(clean, Noise(0.3, k)).n_entries - clean.n_entries for k in range(200)]
    expected, spread = 0.3 * clean.n_entries, np.sqrt(0.21 * clean.n_entries)
    assert abs(np.mean(counts) - expected) < 4 * spread / np.sqrt(200)


def test_full_noise_doubles_the_entries_and_none_changes_nothing(patients: Dataset) -> None:
    assert add_noise(patients.tensor, Noise(0.0)) == patients.tensor
    sparse = tensor_of(1, 100, True)
    assert add_noise(sparse, Noise(1.0)).n_entries == 2 * sparse.n_entries


def test_draws_differ_and_repeat() -> None:
    clean = tensor_of(0, 250, False)
    assert add_noise(clean, Noise(0.2, 1)) == add_noise(clean, Noise(0.2, 1))
    assert add_noise(clean, Noise(0.2, 1)) != add_noise(clean, Noise(0.2, 2))


@pytest.mark.parametrize("level", [-0.1, 1.1, float("nan")])
def test_levels_out_of_range_are_refused(level: float) -> None:
    with pytest.raises(InvalidSettings):
        Noise(level)
