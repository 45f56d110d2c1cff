"""What SWIFT may do to a tensor before it factorizes, and what must stay as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.evaluation_data import planted_patients

from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for
from swiftcore.evaluation.methods.method import AS_RECORDED
from swiftcore.evaluation.protocol.folds import make_folds, read_labels
from swiftcore.evaluation.protocol.preparation import PARTS, Prepared, prepare
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.tensor import SparseTensor

OPTIONS = [
    {"row_mass": "equal"},
    {"feature_weighting": "rarity"},
    {"feature_weighting": "outcome", "outcome_power": 2.0},
    {"entry_values": "presence"},
    {"entry_values": "log counts"},
    {
        "row_mass": "equal",
        "feature_weighting": "rarity and outcome",
        "entry_values": "presence",
    },
]


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    data = planted_patients()
    labels = read_labels(data)
    return prepare(data, labels, make_folds(data, labels)[0])


def fitted(prepared: Prepared, changes: dict[str, object], key: str = "swift") -> FittedModel:
    spec = spec_for(key, rank=3, **changes)
    return fit_dataset(prepared.training, spec, labels=prepared.codes["train"], n_jobs=1)


def on_test(prepared: Prepared, changes: dict[str, object]) -> np.ndarray:
    return fitted(prepared, changes).transform(prepared.tensors["test"], max_iterations=50)


def with_test(prepared: Prepared, tensor: SparseTensor, rows: np.ndarray) -> Prepared:
    codes = {**prepared.codes, "test": prepared.codes["test"][rows]}
    return replace(prepared, tensors={**prepared.tensors, "test": tensor}, codes=codes)


@pytest.mark.parametrize("options", OPTIONS, ids=[" ".join(one) for one in OPTIONS])
def test_a_test_row_is_projected_in_the_same_way_whoever_comes_with_it(
    prepared: Prepared, options: dict[str, object]
) -> None:
    setting = {"max_iterations": 6, **options}
    all_of_them = on_test(prepared, setting)
    some = np.array([4, 1])
    alone = with_test(prepared, prepared.tensors["test"].select(0, some), some)
    found = on_test(alone, setting)
    np.testing.assert_allclose(found, all_of_them[some], rtol=1e-5)


@pytest.mark.parametrize("factor", [0.25, 8.0])
def test_with_equal_rows_the_weight_of_a_row_makes_no_difference(
    prepared: Prepared, factor: float
) -> None:
    setting = {"max_iterations": 6, **AS_RECORDED, "row_mass": "equal"}
    tensor = prepared.tensors["test"]
    values = np.where(tensor.coordinates[:, 0] == 2, factor, 1.0) * tensor.values
    heavy = SparseTensor(tensor.modes, tensor.coordinates, values)
    changed = with_test(prepared, heavy, np.arange(tensor.shape[0]))
    first, second = (on_test(one, setting) for one in (prepared, changed))
    np.testing.assert_allclose(first, second, rtol=1e-5)


@pytest.mark.parametrize("key", [key for key in CATALOGUE if CATALOGUE[key].is_factorization])
def test_on_presence_the_size_of_an_entry_makes_no_difference(prepared: Prepared, key: str) -> None:
    rng = np.random.default_rng(3)
    counted, ones = (
        replace(
            prepared,
            tensors={
                part: SparseTensor(tensor.modes, tensor.coordinates, values(tensor.n_entries))
                for part, tensor in prepared.tensors.items()
            },
        )
        for values in (lambda size: rng.integers(1, 30, size).astype(float), np.ones)
    )
    few = {"max_iterations": 3}
    found = fitted(counted, {**few, "entry_values": "presence"}, key)
    expected, other = (fitted(one, few, key) for one in (ones, counted))
    for part in PARTS:
        np.testing.assert_array_equal(
            found.transform(counted.tensors[part], max_iterations=50),
            expected.transform(ones.tensors[part], max_iterations=50),
        )
    same = np.allclose(found.factors[1], other.factors[1], rtol=1e-3)
    assert same == (key == "cp_binary")  # which sees no counts in any case


def test_where_every_entry_is_one_presence_is_no_setting_of_its_own() -> None:
    for method in CATALOGUE.values():
        for quick in (True, False):
            counts, binary = method.settings(quick), method.settings(quick, binary=True)
            assert not any(setting.get("entry_values") == "presence" for setting in binary)
            for setting in counts:
                bare = {name: value for name, value in setting.items() if name != "entry_values"}
                assert binary.count(bare) == 1


def test_rarity_gives_common_features_less_of_the_model(prepared: Prepared) -> None:
    train = prepared.tensors["train"]
    everywhere = np.column_stack(
        [np.arange(train.shape[0]), np.zeros(train.shape[0], int), np.zeros(train.shape[0], int)]
    )
    crowded = SparseTensor.from_coordinates(
        np.vstack([train.coordinates, everywhere]),
        np.concatenate([train.values, np.ones(train.shape[0])]),
        modes=train.modes,
    )
    given = replace(prepared, tensors={**prepared.tensors, "train": crowded})
    shares = []
    for weighting in ("none", "rarity"):
        setting = {"max_iterations": 6, **AS_RECORDED, "feature_weighting": weighting}
        rows, first, _ = fitted(given, setting).factors
        shares.append(float((rows.sum(axis=0) * first[0]).sum() / rows.sum()))
    assert shares[1] < 0.5 * shares[0]
