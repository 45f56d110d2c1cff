"""Large arrays on the disk: the same numbers, nobody can write them, and no file is left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.made_runs import fitted
from support.tiny_store import tiny_dataset

from dashboard.store import mapped
from dashboard.store.results import LAST_STATE
from dashboard.store.store import Store
from dashboard.store.verified_folder import ChecksumMismatch, read_sealed, seal
from swiftcore.data.samples import load_sample


def test_an_array_on_the_disk_holds_the_same_numbers_and_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "LARGE", 1)
    given = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = mapped.mapped_array(given, tmp_path)
    assert np.array_equal(found, given) and found.dtype == given.dtype
    assert found is not given and not found.flags.writeable
    assert list(tmp_path.iterdir()) == []
    turned = mapped.mapped_array(given.T, tmp_path)  # not in the order of its memory
    assert np.array_equal(turned, given.T)


def test_small_arrays_stay_and_so_do_those_for_which_the_disk_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = np.zeros(8)
    assert mapped.mapped_array(given, tmp_path) is given
    monkeypatch.setattr(mapped, "LARGE", 1)
    assert mapped.mapped_array(given, tmp_path / "not there") is given
    assert mapped.mapped_array(np.zeros(0), tmp_path).shape == (0,)


def test_a_data_set_and_a_fit_are_the_same_when_read_from_the_disk(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "LARGE", 1)
    data = load_sample("heart_failure")
    found = mapped.mapped_dataset(data, tmp_path)
    assert found.tensor.digest() == data.tensor.digest()
    assert found.side.events is not None and data.side.events is not None
    for part in ("row", "mode", "feature", "date"):
        assert np.array_equal(getattr(found.side.events, part), getattr(data.side.events, part))
    fit = store.fit(fitted(store, tiny_dataset(), synthetic=True, max_iterations=2))
    same = mapped.mapped_fit(fit, tmp_path)
    assert np.array_equal(same.factors[0], fit.factors[0])
    assert same.identifiers == fit.identifiers


def test_a_file_that_is_not_needed_is_checked_and_not_kept(tmp_path: Path) -> None:
    folder = tmp_path / "sealed"
    folder.mkdir()
    (folder / "model.npz").write_bytes(b"small")
    (folder / LAST_STATE).write_bytes(b"large")
    seal(folder)
    assert read_sealed(folder, unread=(LAST_STATE,)) == {"model.npz": b"small", LAST_STATE: b""}
    (folder / LAST_STATE).write_bytes(b"other")
    with pytest.raises(ChecksumMismatch, match="was changed"):
        read_sealed(folder, unread=(LAST_STATE,))
