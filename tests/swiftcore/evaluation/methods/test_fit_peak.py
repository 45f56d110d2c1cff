"""One estimate of the memory of a whole fit: true, used by the fit, and with a way out."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from swiftcore.data.dataset import Dataset
from swiftcore.errors import NotEnoughMemory
from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for
from swiftcore.evaluation.methods.fit_peak import BASE, fit_peak, projection_peak, team_peak
from swiftcore.evaluation.methods.memory_need import fit_need
from swiftcore.fitting import fit_dataset
from swiftcore.runtime.memory import LIMIT_SETTING
from swiftcore.spec import ModelSpec
from swiftcore.tensor import SparseTensor, TensorSize

LARGE = TensorSize((13_000, 25, 15), 97_000, (375, 80_000, 82_000), (380, 12, 10))
BRIEF = {"max_iterations": 1, "tolerance": 0.0}


def made_up(shape: tuple[int, ...], entries: int) -> Dataset:
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.integers(0, size, entries) for size in shape])
    tensor = SparseTensor.from_coordinates(places, np.ones(entries), shape)
    return Dataset("made up", tensor, None, "", "")


@pytest.mark.parametrize(
    ("shape", "entries", "settings"),
    [
        ((1500, 20, 15), 20_000, {}),
        ((1500, 20, 15), 20_000, {"dtype": "float64", "costs": "random"}),
        ((2000, 60, 50), 40_000, {"row_relation": "none", "rank": 30}),
        ((2600, 40, 30), 40_000, {"row_relation": "neighbourhoods", "rank": 5}),
        ((900, 700), 40_000, {"costs": "one-minus-identity"}),
        ((500, 12, 10, 8), 20_000, {}),
    ],
)
def test_a_fit_takes_what_it_is_said_to(
    shape: tuple[int, ...], entries: int, settings: dict[str, object]
) -> None:
    """Beyond program and data, to a quarter; ``benchmarks.memory`` measures whole processes."""
    data, spec = made_up(shape, entries), ModelSpec.of({**BRIEF, **settings})
    said = fit_peak(TensorSize.of(data.tensor), spec, 1)
    fit_dataset(made_up((20, *shape[1:]), 50), replace(spec, rank=2))  # load the loops
    tracemalloc.start()
    fit_dataset(data, spec, n_jobs=1)
    took = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said.total - said.before_costs == pytest.approx(took, rel=0.25)


def test_the_fit_goes_by_it_before_it_builds_a_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    data, spec = made_up((900, 30, 20), 9_000), ModelSpec()
    need = fit_peak(TensorSize.of(data.tensor), spec)
    monkeypatch.setenv(LIMIT_SETTING, "5")
    stages: list[str] = []
    with pytest.raises(NotEnoughMemory) as refused:
        fit_dataset(data, spec, stage=stages.append)
    assert stages == []
    (problem,) = refused.value.problems
    assert problem.where == "a fit of 900 x 30 x 20 at rank 10"
    assert problem.found.startswith(f"{round(need.total / 1e7) * 10} MB needed")
    assert "row relation" not in problem.cure  # it would not be enough


def test_only_what_helps_is_advised() -> None:
    spec = ModelSpec(dtype="float64", rank=8)
    full = fit_need(LARGE, spec, 2)
    small, single = (
        fit_need(LARGE, replace(spec, **change), 2).bytes
        for change in ({"row_relation": "none"}, {"dtype": "float32"})
    )
    assert small < single < full.bytes
    said = full.ways_out(single + 1)
    assert "(row relation) to none" in said and "float32" in said and "(rank)" not in said
    assert "float32" not in full.ways_out(single - 1)
    assert full.ways_out(BASE / 2).startswith("Close other programs")
    fixed = fit_need(LARGE, replace(spec, row_relation="none"), 2)
    assert "row relation" not in fixed.ways_out(fixed.bytes - 1)
    half = fit_need(LARGE, replace(spec, rank=200), 2).bytes
    assert "(rank) to 200, which takes" in fit_need(LARGE, replace(spec, rank=400), 2).ways_out(
        half
    )


@pytest.mark.parametrize("had", [6e8, 1e9, 2e9])
def test_as_many_rows_as_advised_fit_and_many_more_do_not(had: float) -> None:
    need = fit_need(LARGE, ModelSpec(row_relation="dense"), 2)
    with pytest.raises(NotEnoughMemory) as refused:
        need.refuse_beyond(had)
    rows = int(re.search(r"at most ([\d,]+) rows", str(refused.value))[1].replace(",", ""))
    assert fit_peak(LARGE.with_rows(rows), need.spec, 2).total <= had
    assert fit_peak(LARGE.with_rows(int(1.15 * rows)), need.spec, 2).total > had
    need.refuse_beyond(need.bytes)  # exactly enough is enough


def test_neighbourhoods_take_memory_in_proportion_to_the_rows() -> None:
    """Of auto, too: no fit of many rows is refused for the sake of a cost between them all."""
    for relation in ("auto", "neighbourhoods"):
        spec = ModelSpec(row_relation=relation)
        ten, hundred = (fit_need(LARGE.with_rows(rows), spec, 2).bytes for rows in (10**4, 10**5))
        assert 5 * (ten - BASE) < hundred - BASE < 10.5 * (ten - BASE)
        assert hundred < 1.5e9
    dense = fit_need(LARGE, ModelSpec(row_relation="dense"), 2)
    assert "(row relation) to neighbourhoods, which takes" in dense.ways_out(8e8)


def test_every_factorization_has_an_estimate() -> None:
    for key, method in CATALOGUE.items():
        if method.is_factorization:
            peak = fit_peak(LARGE, spec_for(key, row_relation="dense"), 1)
            assert peak.total > BASE + peak.data, key
            assert (peak.costs > 1e9) == (method.costs == "all"), key


def test_fits_side_by_side_and_projections_are_said_too() -> None:
    spec = ModelSpec()
    one = fit_peak(LARGE, spec, 1).total
    assert one < team_peak(LARGE, spec, 1) < team_peak(LARGE, spec, 2) < 3 * one
    # rows described by themselves need no cost between them, however many they are
    assert BASE < projection_peak(LARGE, spec, 500) < 1.2 * BASE
