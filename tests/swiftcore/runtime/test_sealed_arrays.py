"""Arrays in a sealed file: the same bits and the same order come back, without a second copy."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from swiftcore.runtime.sealed_arrays import DamagedArrays, read_about, read_sealed, write_sealed

ABOUT = {"value": 0.1, "far": float("inf"), "large": 2**100, "none": None}


def test_everything_comes_back_as_it_was(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {
        "rows": rng.normal(size=(5, 3)),
        "columns": np.asfortranarray(rng.normal(size=(5, 3))),
        "small": rng.normal(size=4).astype(np.float32),
        "empty": np.zeros(0),
        "gaps": rng.normal(size=(6, 6))[::2, ::3],
        "odd": np.array([np.nan, -0.0, np.inf, 5e-324]),
    }
    path = tmp_path / "a.npz"
    write_sealed(path, ABOUT, arrays)
    about, found = read_sealed(path)
    assert about == ABOUT == read_about(path)
    assert path.stat().st_mode & 0o777 == 0o600
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes()
    assert found["columns"].flags.f_contiguous and not found["columns"].flags.c_contiguous


def test_what_was_changed_is_told_from_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(FileNotFoundError):
        read_sealed(path)
    assert read_about(path) == {}
    write_sealed(path, ABOUT, {"a": np.zeros(3)})
    with np.load(path) as file:
        changed = {name: file[name] for name in file.files}
    changed["a"][1] = 1e-300
    np.savez(path, **changed)  # a sound archive with another number
    with pytest.raises(DamagedArrays, match="digest"):
        read_sealed(path)
    path.write_bytes(b"no archive")
    with pytest.raises(DamagedArrays):
        read_sealed(path)
    assert read_about(path) == {}


def test_writing_makes_no_copy_of_large_arrays(tmp_path: Path) -> None:
    large = {"a": np.ones((2000, 4000)), "b": np.asfortranarray(np.ones((2000, 4000)))}
    size = sum(array.nbytes for array in large.values())
    tracemalloc.start()
    try:
        write_sealed(tmp_path / "a.npz", ABOUT, large)
        written = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        read_sealed(tmp_path / "a.npz")
        read = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 128e6 and written < 0.3 * size and read < 1.3 * size
