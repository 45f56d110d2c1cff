"""Fits whose mass moves within neighbourhoods keep every promise of those with a dense kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from golden.made_data import patients
from reference.dense_swift import joint_step, objective
from reference.known_problems import random_problem

from swiftcore import FittedModel, ModelSpec, Swift, fit_dataset
from swiftcore.cli import main
from swiftcore.cost.neighbourhoods import GivenRows, Neighbourhoods
from swiftcore.spec import key_values, row_relation
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.fit_file import FitFile

TENSOR, COSTS, START = random_problem(2, (40, 10, 8), 3, 0.1, True)
HUGE = 1e4
SETTINGS = {"rank": 3, "random_state": 0, "tolerance": 0, "max_iterations": 12, "n_jobs": 1}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbourhoods of 3 rows, so that there are several parts; auto is dense up to 20 rows."""
    monkeypatch.setattr(row_relation, "NEIGHBOURHOOD", 3)
    monkeypatch.setattr(row_relation, "DENSE_ROWS", 20)


def fitted(**settings: object) -> Swift:
    return Swift(**{**SETTINGS, "row_relation": "neighbourhoods", **settings}).fit(TENSOR)


def bits(model: Swift) -> tuple[object, ...]:
    history = [replace(entry, seconds=0.0) for entry in model.history_]
    return [factor.tobytes() for factor in model.factors_], history, model.outcome_


@pytest.mark.parametrize("sharpness", [2.0, 1000.0])
def test_workers_change_no_bit_and_the_objective_never_rises(sharpness: float) -> None:
    one = fitted(sharpness=sharpness)
    assert one.row_relation_ == "neighbourhoods"
    falls = np.diff([entry.objective for entry in one.history_])
    assert (falls <= 0).all() and falls.min() < 0
    for jobs in (2, 3):
        assert bits(fitted(sharpness=sharpness, n_jobs=jobs)) == bits(one)


def test_a_step_is_the_referees_with_a_huge_cost_between() -> None:
    order, starts = np.random.default_rng(1).permutation(40), np.array([0, 15, 30, 40])
    rows = Neighbourhoods(order, starts, GivenRows(COSTS[0]))
    walled = np.full((40, 40), HUGE)
    for part in np.split(order, starts[1:-1]):
        walled[np.ix_(part, part)] = COSTS[0][np.ix_(part, part)]
    costs, dense = [walled, *COSTS[1:]], TENSOR.to_dense()
    model = Swift(3, sharpness=5.0, dtype="float64", tolerance=0, max_iterations=1, n_jobs=1)
    model.fit(TENSOR, [rows, *COSTS[1:]], initial_factors=START)
    step = joint_step(dense, START, costs, 5.0, 1.0)
    assert model.history_[0].objective == pytest.approx(
        objective(dense, START, costs, 5.0, 1.0).total, rel=1e-4
    )
    for got, wanted in zip(model.factors_, step, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0.02, atol=1e-3 * wanted.max())


def test_one_neighbourhood_of_all_rows_is_the_dense_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_relation, "NEIGHBOURHOOD", 40)
    near, dense = fitted(), fitted(row_relation="dense")
    assert near.objective_ == dense.objective_
    for one, other in zip(near.factors_, dense.factors_, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("start", ["kl", "random"])
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    writes, real = [0], FitFile.write

    class Died(Exception):
        pass

    def write(self: FitFile, state: object) -> None:
        real(self, state)
        writes[0] += 1
        if writes[0] % 3 == 0:
            raise Died

    monkeypatch.setattr(FitFile, "write", write)
    checkpoint = FitCheckpoint(tmp_path / "state.npz", every=0.0)
    for _ in range(40):
        try:
            model = Swift(**SETTINGS, row_relation="neighbourhoods", start=start)
            model.fit(TENSOR, checkpoint=checkpoint)
            break
        except Died:
            continue
    assert writes[0] > 6
    assert bits(model) == bits(fitted(start=start))


def test_rows_come_back_in_the_order_of_the_data() -> None:
    """Rows of one component only: who has which can be told from the data."""
    kind = np.random.default_rng(0).integers(0, 3, 40)
    places = [
        (row, 2 * k + a, 2 * k + b) for row, k in enumerate(kind) for a in (0, 1) for b in (0, 1)
    ]
    tensor = type(TENSOR).from_coordinates(places, np.ones(len(places)), shape=(40, 6, 6))
    model = Swift(3, row_relation="neighbourhoods", random_state=0, n_jobs=1).fit(tensor)
    feature = model.factors_[1].argmax(axis=0) // 2
    assert (feature[model.memberships_.argmax(axis=1)] == kind).all()
    together = model.transform(tensor)
    assert (feature[together.argmax(axis=1)] == kind).all()
    assert (feature[model.transform(tensor, independent=True).argmax(axis=1)] == kind).all()


def test_pinned_profiles_stay_bit_for_bit() -> None:
    model = Swift(**SETTINGS, row_relation="neighbourhoods")
    start = [START[0], *(factor / factor.sum(axis=0) for factor in START[1:])]
    model.fit(TENSOR, initial_factors=start, pinned=[1])
    for kept, factor in zip(start[1:], model.factors_[1:], strict=True):
        np.testing.assert_array_equal(factor[:, 1], kept[:, 1])


@pytest.mark.parametrize(
    ("asked", "rows", "kind", "words"),
    [
        ("auto", 20, "dense", "there are 20 rows, at most 20 (auto)"),
        ("auto", 21, "neighbourhoods", "there are 21 rows, more than 20 (auto)"),
        ("dense", 21, "dense", "as chosen"),
        ("neighbourhoods", 20, "neighbourhoods", "as chosen"),
        ("none", 21, "none", "as chosen"),
    ],
)
def test_auto_hangs_on_the_number_of_rows_alone_and_says_so(
    asked: str, rows: int, kind: str, words: str
) -> None:
    found = row_relation.resolved(asked, rows)
    assert found.kind == kind and words in found.why


def test_new_rows_follow_the_relation_by_their_own_number() -> None:
    model = fitted(row_relation="auto")
    assert model.row_relation_ == "neighbourhoods"
    few = TENSOR.select(0, range(15))
    explicit = model.transform(few, costs=model._row_cost(few))
    assert isinstance(model._row_cost(few), np.ndarray)  # 15 rows: dense
    np.testing.assert_array_equal(model.transform(few), explicit)
    assert isinstance(model._row_cost(TENSOR), Neighbourhoods)


@pytest.mark.parametrize(("asked", "kind"), [("auto", "neighbourhoods"), ("dense", "dense")])
def test_a_model_file_and_a_consensus_know_the_relation(
    tmp_path: Path, asked: str, kind: str
) -> None:
    data = patients()
    assert data.tensor.shape[0] > 20
    spec = ModelSpec(rank=2, max_iterations=4, row_relation=asked, consensus=2)
    model = fit_dataset(data, spec, n_jobs=1)
    model.save(tmp_path / "model.npz")
    read = FittedModel.load(tmp_path / "model.npz")
    assert read.row_relation == model.row_relation and read.row_relation.kind == kind
    assert read.digest == model.digest


def test_earlier_settings_are_understood_and_keep_their_keys() -> None:
    earlier = {"auto": "as costs", "none": "none"}
    for today, before in earlier.items():
        spec = ModelSpec.of({"row_cost": before})
        assert spec == ModelSpec(row_relation=today)
        named = key_values(spec.plain())
        assert named["row_cost"] == before and "row_relation" not in named
    assert key_values(ModelSpec(row_relation="dense").plain())["row_relation"] == "dense"
    with pytest.raises(ValueError, match="row_cost"):
        ModelSpec.of({"row_cost": "often"})


def test_the_command_reports_what_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = ["--rank", "2", "--iterations", "2", "--jobs", "1", "--restarts", "1"]
    words = ["fit", "heart_failure", *limits, "--json"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    stored = FittedModel.load(tmp_path / "model.npz")
    assert found["row_relation"] == "neighbourhoods" and "(auto)" in found["row_relation_why"]
    assert found["model_digest"] == stored.digest and found["workers"] == 1
    assert found["from_store"] is False and found["iterations"] == 2
    assert found["cpu_seconds"] > 0 and found["seconds"] > 0
    assert 10**7 < found["peak_memory_bytes"] < 10**10
