"""Saved and loaded models are the same models; damaged files are refused."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from reference.known_problems import random_problem

from swiftcore import InvalidData, Mode, SparseTensor, Swift, SwiftError, load_model, save_model

TENSOR, COSTS, _ = random_problem(1, (8, 6, 5), 3, 0.2, True)


@pytest.fixture
def model() -> Swift:
    return Swift(3, random_state=0, n_jobs=1, max_iterations=5).fit(TENSOR, COSTS)


@pytest.fixture
def file(model: Swift, tmp_path: Path) -> Path:
    save_model(model, tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_everything_comes_back(model: Swift, file: Path) -> None:
    again = load_model(file)
    assert again.get_params() == model.get_params()
    for name in (
        "history_",
        "outcome_",
        "n_iterations_",
        "objective_",
        "dead_components_",
        "modes_",
    ):
        assert getattr(again, name) == getattr(model, name)
    for one, other in zip(model.factors_, again.factors_, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.memberships_, model.memberships_)


@pytest.mark.parametrize("independent", [False, True])
def test_projection_is_bit_for_bit_the_same(model: Swift, file: Path, independent: bool) -> None:
    again = load_model(file)
    np.testing.assert_array_equal(
        again.transform(TENSOR, independent=independent),
        model.transform(TENSOR, independent=independent),
    )


def test_a_mode_without_cost_comes_back_without(tmp_path: Path) -> None:
    model = Swift(3, random_state=0, n_jobs=1).fit(TENSOR, [COSTS[0], None, COSTS[2]])
    save_model(model, tmp_path / "m.npz")
    again = load_model(tmp_path / "m.npz")
    assert again.feature_costs_[0] is None
    np.testing.assert_array_equal(again.feature_costs_[1], COSTS[2])


def test_labels_of_any_kind_come_back(tmp_path: Path) -> None:
    labels = ("Ödem", 'a "quote"', "new\nline", "", "\u202e", "\x00")
    modes = (TENSOR.modes[0], Mode("díagnosis", labels), TENSOR.modes[2])
    tensor = SparseTensor(modes, TENSOR.coordinates, TENSOR.values)
    save_model(Swift(2, random_state=0, n_jobs=1).fit(tensor, COSTS), tmp_path / "m.npz")
    assert load_model(tmp_path / "m.npz").modes_ == modes


def test_there_is_no_pickle_in_it(file: Path) -> None:
    with np.load(file, allow_pickle=False) as content:
        for name in content.files:
            assert content[name].dtype.kind in "uf"


def test_numbers_of_numpy_as_settings_can_be_saved(tmp_path: Path) -> None:
    model = Swift(np.int64(3), random_state=np.int64(0), sharpness=np.float64(10), n_jobs=1)
    save_model(model.fit(TENSOR, COSTS), tmp_path / "m.npz")
    assert load_model(tmp_path / "m.npz").rank == 3


def test_a_model_that_was_not_fitted_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SwiftError):
        save_model(Swift(3), tmp_path / "m.npz")
    assert not (tmp_path / "m.npz").exists()


def refused(path: Path) -> None:
    with pytest.raises(InvalidData) as error:
        load_model(path)
    assert error.value.problems[0].code == "model-file"
    assert path.name in error.value.problems[0].where


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidData) as error:
        load_model(tmp_path / "nothing.npz")
    assert error.value.problems[0].code == "model-missing"


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_file_cut_short(file: Path, share: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    refused(file)


def test_flipped_bytes_are_refused_or_harmless(file: Path, model: Swift) -> None:
    content, refused = file.read_bytes(), 0
    random = np.random.default_rng(0)
    for place in random.integers(0, len(content), 150):
        bad = bytearray(content)
        bad[place] ^= 0x55
        file.write_bytes(bytes(bad))
        try:
            again = load_model(file)
        except SwiftError:
            refused += 1
            continue
        for one, other in zip(model.factors_, again.factors_, strict=True):
            np.testing.assert_array_equal(one, other)
    assert refused > 75


@pytest.mark.parametrize("content", [b"", b"not a model", b"PK\x03\x04 nor this", b"\x93NUMPY\x01"])
def test_other_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.npz").write_bytes(content)
    refused(tmp_path / "other.npz")


def test_an_array_and_an_archive_of_other_things(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.ones(3))
    refused(tmp_path / "array.npy")
    np.savez(tmp_path / "arrays.npz", about=np.ones(3), factor_0=np.ones(3))
    refused(tmp_path / "arrays.npz")
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as archive:
        archive.writestr("about", "hello")
    refused(tmp_path / "text.npz")


def test_a_setting_that_no_longer_exists_is_left_out(model: Swift, file: Path) -> None:
    old = rewritten(file, parameters={**model.get_params(), "paper_schedule": False})
    again = load_model(old)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.memberships_, model.memberships_)


def rewritten(file: Path, **changes: object) -> Path:
    with np.load(file) as content:
        arrays = {name: content[name] for name in content.files}
    about = json.loads(bytes(arrays["about"]).decode())
    for name, value in changes.items():
        if name in arrays:
            arrays[name] = np.asarray(value)
        elif value is None:
            del about[name]
        else:
            about[name] = value
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    file.write_bytes(buffer.getvalue())
    return file


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "swift-model 0"},
        {"format": None},
        {"modes": []},
        {"modes": 3},
        {"parameters": {"rank": 3, "unknown": 1}},
        {"outcome": "FINE"},
        {"history": []},
        {"factor_1": np.ones((6, 2))},
        {"factor_1": np.ones((7, 3))},
        {"factor_1": -np.ones((6, 3))},
        {"factor_1": np.full((6, 3), np.nan)},
        {"cost_1": np.ones((2, 2))},
        {"cost_1": np.full((6, 6), np.nan)},
    ],
)
def test_contents_that_do_not_fit_together(file: Path, changes: dict) -> None:
    refused(rewritten(file, **changes))
