"""One door to a fit: what it gives is what the estimator gives, for old rows and new."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.evaluation_data import planted_patients, small_corpus

from swiftcore import FittedModel, ModelSpec, Swift, build_costs, fit_dataset, load_model
from swiftcore.errors import InvalidData, InvalidSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for
from swiftcore.evaluation.methods.method import AS_RECORDED
from swiftcore.model_file import ModelContents

FACTORIZATIONS = [key for key, method in CATALOGUE.items() if method.is_factorization]
SHORT = {"rank": 3, "max_iterations": 6}


@pytest.mark.parametrize("make", [planted_patients, small_corpus])
@pytest.mark.parametrize("relation", ["auto", "none"])
def test_the_door_adds_nothing_to_the_estimator(make: object, relation: str) -> None:
    data = make()  # type: ignore[operator]
    spec = ModelSpec(**SHORT, **AS_RECORDED, row_relation=relation, seed=5)
    fitted = fit_dataset(data, spec, n_jobs=1)
    costs: list[object] = list(
        build_costs(data.tensor, reference=data.tensor, word_counts=data.word_counts)
    )
    model = Swift(3, max_iterations=6, random_state=5, n_jobs=1)
    model.fit(data.tensor, costs if relation == "auto" else [None, *costs[1:]])
    for one, other in zip(fitted.factors, model.factors_, strict=True):
        np.testing.assert_array_equal(one, other)
    rows = data.tensor.select(0, range(5))
    np.testing.assert_array_equal(fitted.transform(rows), model.transform(rows, independent=True))


@pytest.mark.parametrize("key", FACTORIZATIONS)
def test_every_method_comes_back_from_its_file_and_projects_the_same(
    key: str, tmp_path: Path
) -> None:
    data = planted_patients()
    weighed = {"row_mass": "equal", "feature_weighting": "rarity"}
    fitted = fit_dataset(data, spec_for(key, **SHORT, **weighed), n_jobs=1)
    fitted.save(tmp_path / "model.npz")
    again = FittedModel.load(tmp_path / "model.npz")
    assert again.spec == fitted.spec and again.outcome == fitted.outcome
    assert again.modes == fitted.modes and len(again.history) == len(fitted.history)
    new = planted_patients(30, seed=9).tensor
    np.testing.assert_array_equal(again.transform(new), fitted.transform(new))
    stored = ModelContents.from_bytes((tmp_path / "model.npz").read_bytes(), "model.npz")
    for one, other in zip(stored.factors, fitted.factors, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_component_with_memberships_below_zero_has_not_died() -> None:
    fitted = fit_dataset(planted_patients(), spec_for("cp_als", rank=8, seed=1))
    sums = fitted.memberships.sum(axis=0)
    assert (sums < 0).any()
    assert fitted.contents().dead_components == ()


def test_weights_are_learnt_from_the_rows_of_the_fit_and_given_to_new_ones() -> None:
    data = planted_patients()
    spec = ModelSpec(
        **SHORT, feature_weighting="outcome", row_mass="equal", entry_values="presence"
    )
    fitted = fit_dataset(data, spec, n_jobs=1)
    assert fitted.weighting.features is not None and fitted.weighting.row_mass is not None
    weighed = fitted.weighting.apply(data.tensor)
    masses = np.bincount(weighed.coordinates[:, 0], weights=weighed.values)
    np.testing.assert_allclose(masses, fitted.weighting.row_mass)
    heavy = replace(
        data,
        tensor=type(data.tensor)(
            data.tensor.modes, data.tensor.coordinates, 7 * data.tensor.values
        ),
    )
    np.testing.assert_array_equal(fitted.transform(heavy.tensor), fitted.transform(data.tensor))


@pytest.mark.parametrize("changes", [{"method": "supervised_cp"}, {"feature_weighting": "outcome"}])
def test_a_model_that_learns_from_labels_wants_some(changes: dict[str, object]) -> None:
    bare = replace(planted_patients(), outcome=None, outcome_name="")
    with pytest.raises(InvalidData, match="no outcome"):
        fit_dataset(bare, ModelSpec.of({**SHORT, **changes}))


def test_options_belong_to_a_method() -> None:
    data = planted_patients()
    with pytest.raises(InvalidSettings, match="floor"):
        fit_dataset(data, spec_for("cp_continuous", rank=3, options={"flor": 1.0}))
    with pytest.raises(InvalidSettings, match="Leave the options out"):
        fit_dataset(data, ModelSpec(options={"floor": 1.0}))
    with pytest.raises(InvalidSettings, match="no such factorization"):
        fit_dataset(data, ModelSpec(method="magic"))
    found = fit_dataset(data, spec_for("cp_continuous", rank=3, floor=0.5))
    assert found.model.floor == 0.5


def test_files_of_before_are_read(tmp_path: Path) -> None:
    """Models stored by 0.1 have no spec, and name a parameter that is gone."""
    fitted = fit_dataset(planted_patients(), ModelSpec(**SHORT, **AS_RECORDED), n_jobs=1)
    contents = replace(
        fitted.contents(), parameters={**fitted.contents().parameters, "paper_schedule": False}
    )
    (tmp_path / "old.npz").write_bytes(_without_spec(contents.to_bytes()))
    model = load_model(tmp_path / "old.npz")
    np.testing.assert_array_equal(model.factors_[1], fitted.factors[1])
    assert FittedModel.load(tmp_path / "old.npz").spec == replace(fitted.spec, seed=0)


def _without_spec(content: bytes) -> bytes:
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(bytes(arrays["about"]).decode())
    del about["spec"], about["weighting"]
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()
