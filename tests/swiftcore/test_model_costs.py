"""Costs from outside on their way: with the data, through folds and files, into the fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.evaluation_data import planted_patients

from swiftcore import (
    CostTable,
    FittedModel,
    InvalidCost,
    InvalidSettings,
    ModelSpec,
    Swift,
    attach_costs,
    build_costs,
    fit_dataset,
)
from swiftcore.cost.outside.table_folder import read_tables, write_tables
from swiftcore.data.bundle import bundle_bytes, bundle_from_bytes
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import build_path, read_costs
from swiftcore.data.options import Limits
from swiftcore.data.reading.source import Budget
from swiftcore.errors import InvalidData
from swiftcore.evaluation.methods.fit_peak import fit_peak
from swiftcore.evaluation.methods.method import AS_RECORDED
from swiftcore.evaluation.protocol.folds import make_folds, read_labels
from swiftcore.evaluation.protocol.preparation import prepare
from swiftcore.model_costs import costs_by_mode, missing_features, model_costs
from swiftcore.tensor import Mode, SparseTensor, TensorSize

SHORT = {"rank": 3, "max_iterations": 5}
ROWS, FIRST, SECOND = (mode.name for mode in planted_patients().tensor.modes)


def table_for(data: Dataset, mode: int = 1, seed: int = 0, without: int = 1) -> CostTable:
    """Drawn distances between all but the last features of a mode."""
    labels = data.tensor.modes[mode].labels
    labels = labels[: len(labels) - without]
    drawn = np.triu(np.random.default_rng(seed).uniform(0.1, 1, [len(labels)] * 2), 1)
    return CostTable("matrix", (*labels, "elsewhere"), np.pad(drawn + drawn.T, (0, 1)), "mine.csv")


def with_table(data: Dataset, text: str = "{}") -> tuple[Dataset, ModelSpec]:
    table = table_for(data)
    spec = ModelSpec(**SHORT, **AS_RECORDED, mode_costs={FIRST: text.format(table.text)})
    return attach_costs(data, spec, [table])


def test_a_fit_takes_the_cost_of_the_table_and_keeps_it_for_new_rows(tmp_path: Path) -> None:
    data, spec = with_table(planted_patients())
    costs = build_costs(data.tensor, reference=data.tensor)
    known = table_for(data).values[:-1, :-1]
    own = np.pad(known, (0, 1), constant_values=known.max())
    own[-1, -1] = 0.0
    model = Swift(3, max_iterations=5, random_state=0, n_jobs=1).fit(
        data.tensor, [costs[0], own, costs[2]]
    )
    fitted = fit_dataset(data, spec, n_jobs=1)
    for one, other in zip(fitted.factors, model.factors_, strict=True):
        np.testing.assert_array_equal(one, other)
    fitted.save(tmp_path / "model.npz")
    rows = planted_patients(20, seed=4).tensor
    found = FittedModel.load(tmp_path / "model.npz").transform(rows)
    np.testing.assert_array_equal(found, model.transform(rows, independent=True))


def test_only_what_the_features_need_is_kept_of_a_table() -> None:
    data, spec = with_table(planted_patients())
    (kept,) = data.outside.tables.values()
    assert "elsewhere" not in kept.labels and spec.mode_costs[FIRST] == kept.text
    again = attach_costs(data, spec, [kept])
    assert again[1] == spec and list(again[0].outside.tables) == [kept.digest]
    last = data.tensor.modes[1].labels[-1]
    assert missing_features(data, spec) == {(FIRST, kept.text): (last,)}


def test_modes_of_the_same_features_share_a_cost_unless_each_has_its_own() -> None:
    words = Mode("word", tuple("abcd"))
    places = [[0, 0, 1], [0, 1, 2], [1, 2, 3], [1, 3, 0], [2, 0, 3]]
    modes = (Mode("document", tuple("xyz")), words, Mode("other word", words.labels))
    tensor = SparseTensor.from_coordinates(places, np.ones(5), modes=modes)
    data = Dataset("texts", tensor, None, "", "Made by a test.")
    table = table_for(data)
    spec = ModelSpec(rank=2, mode_costs={"word": table.text})
    carrying, both = attach_costs(data, spec, [table])
    assert both.mode_costs["other word"] == both.mode_costs["word"]
    costs = model_costs(carrying, both)
    assert costs is not None
    np.testing.assert_array_equal(costs[1], costs[2])
    own = replace(spec, mode_costs={"word": table.text, "other word": "cosine"})
    assert attach_costs(data, own, [table])[1].mode_costs["other word"] == "cosine"
    patients, one = with_table(planted_patients())
    assert list(one.mode_costs) == [FIRST] and patients.tensor.modes[1].name == FIRST


def test_a_blend_with_cosine_is_the_weighted_sum() -> None:
    data, spec = with_table(planted_patients(), "0.25*{}+0.75*cosine")
    alone = replace(spec, mode_costs={FIRST: next(iter(data.outside.tables.values())).text})
    found, own, usual = (model_costs(data, one) for one in (spec, alone, ModelSpec(**SHORT)))
    assert found is not None and own is not None and usual is not None
    np.testing.assert_allclose(found[1], 0.25 * own[1] + 0.75 * usual[1])  # type: ignore[operator]
    np.testing.assert_array_equal(found[0], usual[0])  # type: ignore[arg-type]
    np.testing.assert_array_equal(found[2], usual[2])  # type: ignore[arg-type]


def test_texts_of_recipes_are_the_recipes() -> None:
    data = planted_patients()
    for recipe in ("cosine", "one-minus-identity"):
        names = {mode.name: recipe for mode in data.tensor.modes}
        found = model_costs(data, ModelSpec(mode_costs=names))
        usual = model_costs(data, ModelSpec(costs=recipe))
        assert found is not None and usual is not None
        for one, other in zip(found, usual, strict=True):
            np.testing.assert_array_equal(one, other)  # type: ignore[arg-type]
    fixed = model_costs(data, ModelSpec(mode_costs={ROWS: "none"}))
    assert fixed is not None and fixed[0] is None and fixed[1] is not None
    drawn = [
        model_costs(data, ModelSpec(seed=seed, mode_costs={FIRST: "random", SECOND: "random"}))
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(drawn[0][1], drawn[1][1])  # type: ignore[index]
    assert not np.array_equal(drawn[0][1], drawn[2][1])  # type: ignore[index]


def test_rows_may_have_a_cost_of_their_own() -> None:
    data = planted_patients()
    table = table_for(data, mode=0, without=3)
    data, spec = attach_costs(data, ModelSpec(**SHORT, mode_costs={ROWS: table.text}), [table])
    rows = costs_by_mode(data, spec)[0]
    assert rows.matrix is not None and rows.matrix.shape == (data.tensor.shape[0],) * 2
    assert len(next(iter(rows.missing.values()))) == 3


def test_a_method_that_uses_features_only_builds_no_row_cost() -> None:
    data, spec = with_table(planted_patients())
    found = model_costs(data, replace(spec, method="similarity_cp"))
    assert found is not None and found[0] is None and found[1] is not None


def test_wrong_modes_and_lost_tables_are_refused() -> None:
    data = planted_patients()
    with pytest.raises(InvalidSettings, match=r"'disease'.*Choose from"):
        fit_dataset(data, ModelSpec(mode_costs={"disease": "icd"}))
    with pytest.raises(InvalidCost, match="no such table"):
        fit_dataset(data, ModelSpec(mode_costs={FIRST: table_for(data).text}))
    with pytest.raises(InvalidSettings, match=f"the cost of {FIRST}.*'magic'"):
        ModelSpec(mode_costs={FIRST: "magic"})


def test_bundles_keep_tables_and_codes_and_those_of_before_are_read() -> None:
    bare = planted_patients()
    data, _ = with_table(bare)
    label = data.tensor.modes[1].labels[2]
    known = replace(data, outside=replace(data.outside, codes={FIRST: {label: "icd9:4280"}}))
    again = bundle_from_bytes(bundle_bytes(known), "b", Budget(Limits()))
    assert dict(again.outside.codes) == {FIRST: {label: "icd9:4280"}}
    assert again.outside.tables == known.outside.tables
    assert next(iter(again.outside.tables.values())).source == "mine.csv"
    before = bundle_from_bytes(bundle_bytes(bare), "b", Budget(Limits()))
    assert not before.outside.tables and not before.outside.codes


def test_a_fold_with_fewer_features_finds_its_own() -> None:
    data, spec = with_table(planted_patients())
    labels = read_labels(data)
    fold = next(iter(make_folds(data, labels)))
    training = prepare(data, labels, fold, features=5).training
    assert training.tensor.shape[1] == 5
    costs = model_costs(training, spec)
    assert costs is not None and costs[1] is not None
    places = [data.tensor.modes[1].labels.index(one) for one in training.tensor.modes[1].labels]
    whole = model_costs(data, spec)
    assert whole is not None and whole[1] is not None
    np.testing.assert_array_equal(costs[1], whole[1][np.ix_(places, places)])


def test_memory_follows_the_costs_that_are_built() -> None:
    size = TensorSize.of(planted_patients(400).tensor)
    usual, none = ModelSpec(), ModelSpec(row_relation="none")
    assert fit_peak(size, ModelSpec(mode_costs={ROWS: "none"})) == fit_peak(size, none)
    blend = fit_peak(size, ModelSpec(mode_costs={FIRST: "0.5*icd+0.5*cosine"}))
    plain = fit_peak(size, usual)
    assert blend.making == plain.making + 8 * size.shape[1] ** 2 and blend.costs == plain.costs
    assert fit_peak(size, ModelSpec(mode_costs={FIRST: "none"})).costs < plain.costs


def test_tables_in_a_folder_are_named_by_their_content(tmp_path: Path) -> None:
    table = table_for(planted_patients())
    write_tables(tmp_path / "costs", [table])
    assert read_tables(tmp_path / "costs") == [table]
    assert read_tables(tmp_path / "nowhere") == []
    (path,) = (tmp_path / "costs").iterdir()
    path.write_bytes(table.cut_to([0, 1]).to_bytes())
    with pytest.raises(InvalidData, match="changed after it was written"):
        read_tables(tmp_path / "costs")


def test_a_cost_file_is_read_in_the_guarded_process(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("a,b,distance\nx,y,3\ny,z,1\nx,z,2\n")
    bad.write_text("child,parent\na,b\nb,a\n")
    table, notes = read_costs(good)
    assert table.labels == ("x", "y", "z") and any("divided by the largest" in one for one in notes)
    with pytest.raises(InvalidData, match=r"circle \(bad\.csv, line 2\)"):
        read_costs(bad)
    bad.write_bytes(b"x,y,1\n" * 200_000)
    with pytest.raises(InvalidData, match="grow too large"):
        read_costs(bad, Limits(decoded_mb=1))
    with pytest.raises(InvalidData, match="no such file"):
        read_costs(tmp_path / "nothing.csv")


EXPORT = {
    "PATIENTS.csv": "row_id,subject_id,gender\n1,1,F\n2,2,M\n",
    "ADMISSIONS.csv": "row_id,subject_id,hadm_id,admittime,deathtime,"
    "hospital_expire_flag\n1,1,11,2100-01-01,,0\n2,2,12,2100-02-01,,0\n",
    "DIAGNOSES_ICD.csv": "row_id,subject_id,hadm_id,seq_num,icd9_code\n"
    "1,1,11,1,4280\n2,1,11,2,42731\n3,2,12,1,486\n4,2,12,2,9999\n",
    "D_ICD_DIAGNOSES.csv": "row_id,icd9_code,short_title,long_title\n"
    "1,4280,CHF NOS,Heart failure\n2,42731,AF,Atrial fibrillation\n3,486,Pneumonia,Pneumonia\n",
    "PRESCRIPTIONS.csv": "row_id,subject_id,hadm_id,drug,startdate\n"
    "1,1,11,Furosemide,2100-01-01\n2,2,12,Ceftriaxone,2100-02-01\n",
}


def test_codes_behind_descriptions_come_with_the_data(tmp_path: Path) -> None:
    for name, content in EXPORT.items():
        (tmp_path / name).write_text(content)
    data = build_path(tmp_path)
    assert "Heart failure" in data.tensor.modes[1].labels
    assert data.outside.of_mode("diagnosis")["Heart failure"].endswith("4280")
    spec = ModelSpec(mode_costs={"diagnosis": "icd"})
    cost = costs_by_mode(data, spec)[1].matrix
    assert cost is not None
    heart, beat, lung = (
        data.tensor.modes[1].labels.index(one)
        for one in ("Heart failure", "Atrial fibrillation", "Pneumonia")
    )
    assert cost[heart, beat] < cost[heart, lung] == 1
