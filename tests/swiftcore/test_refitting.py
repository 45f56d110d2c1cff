"""Guided refits through the one door: the laws hold for every spec, and the file says how."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from support.evaluation_data import planted_patients

from swiftcore import (
    Drop,
    FitOutcome,
    FittedModel,
    InvalidData,
    InvalidSettings,
    Merge,
    ModelSpec,
    Pin,
    Seed,
    Split,
    fit_dataset,
    refit,
)
from swiftcore.evaluation.methods.catalogue import spec_for
from swiftcore.phenotypes.guidance_checks import find_changes
from swiftcore.refitting import model_digest
from swiftcore.swift.checkpoint import FitCheckpoint

DATA = planted_patients(60)
SPECS = (
    {},
    {"entry_values": "presence", "row_mass": "equal", "feature_weighting": "rarity"},
    {
        "entry_values": "log counts",
        "feature_weighting": "rarity and outcome",
        "row_relation": "none",
    },
    {"sharpness": 200.0, "dtype": "float64", "value_unit": "mean", "momentum": 0.0},
)
STEPS = (
    Pin("P01"),
    Merge("P02", "P03"),
    Split("P04"),
    Drop("P02", "dx 3"),
    Drop("P04", "rx 0"),
    Seed((("diagnosis", "dx 8"), ("medication", "rx 5"))),
)
some_steps = some.sets(some.sampled_from(STEPS), min_size=1).map(
    lambda chosen: tuple(sorted(chosen, key=STEPS.index))
)


@cache
def parent(which: int) -> FittedModel:
    spec = ModelSpec.of({"rank": 4, "max_iterations": 40, **SPECS[which]})
    return fit_dataset(DATA, spec, n_jobs=1)


@settings(max_examples=16, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(which=some.integers(0, len(SPECS) - 1), steps=some_steps)
def test_the_laws_of_a_guided_refit(which: int, steps: tuple[object, ...]) -> None:
    before = parent(which)
    changes = find_changes(steps, before.modes, before.factors)  # type: ignore[arg-type]
    after = refit(DATA, before, steps, n_jobs=1)  # type: ignore[arg-type]
    assert after.spec == replace(before.spec, rank=changes.new_rank)
    for got, profile in zip(after.factors[1:], before.factors[1:], strict=True):
        for at in changes.pinned():  # bit for bit
            (old,) = changes.origins()[at]
            np.testing.assert_array_equal(got[:, at], profile[:, old])
    for part, (axis, index) in changes.drops:
        for at, origin in enumerate(changes.origins()):
            if part in origin:
                assert after.factors[axis][index, at] == 0.0
    objective = np.array([entry.objective for entry in after.history])
    assert (np.diff(objective) <= 0).all() and objective[-1] < objective[0]
    assert after.history[1].accepted
    assert after.guidance is not None
    assert after.guidance.steps == changes.steps(before.modes)
    assert after.guidance.parent == model_digest(before)


def test_pinned_memberships_move() -> None:
    before = parent(0)
    after = refit(DATA, before, [Pin("P01"), Drop("P02", "dx 3")], n_jobs=1)
    assert np.abs(after.memberships[:, 0] - before.memberships[:, 0]).max() > 1e-6


def test_a_refit_without_a_change_of_shape_is_no_worse_than_its_parent() -> None:
    """All that a pin does is to hold: from a converged fit the refit cannot go up."""
    spec = ModelSpec(rank=3, max_iterations=500)
    before = fit_dataset(DATA, spec, n_jobs=1)
    after = refit(DATA, before, [Pin("P01")], n_jobs=1)
    assert after.outcome is FitOutcome.CONVERGED
    reached = before.history[-1].objective
    assert after.history[-1].objective <= reached + 1e-6 * abs(reached)


def test_the_file_says_how_it_came_about(tmp_path: Path) -> None:
    after = refit(DATA, parent(1), STEPS[:3], n_jobs=1)
    after.save(tmp_path / "model.npz")
    again = FittedModel.load(tmp_path / "model.npz")
    assert again.guidance == after.guidance and again.guidance is not None
    parent(0).save(tmp_path / "plain.npz")
    assert FittedModel.load(tmp_path / "plain.npz").guidance is None
    deeper = refit(DATA, again, [Pin("P01")], n_jobs=1)
    assert deeper.guidance is not None and deeper.guidance.parent == model_digest(after)


def test_a_refit_that_was_stopped_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    file = FitCheckpoint(tmp_path / "state.npz")
    whole = refit(DATA, parent(0), STEPS, n_jobs=1)
    stopped = refit(
        DATA,
        parent(0),
        STEPS,
        n_jobs=1,
        checkpoint=file,
        callback=lambda progress: progress.iteration == 3,
    )
    assert stopped.outcome is FitOutcome.STOPPED
    again = refit(DATA, parent(0), STEPS, n_jobs=1, checkpoint=file)
    for one, other in zip(whole.factors, again.factors, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_cannot_be_refitted_is_refused() -> None:
    other = fit_dataset(DATA, spec_for("cp_apr", rank=3, max_iterations=3), n_jobs=1)
    with pytest.raises(InvalidSettings, match="Only a result of SWIFT"):
        refit(DATA, other, [Pin("P01")])
    with pytest.raises(InvalidData, match="not the data of the result"):
        refit(planted_patients(30), parent(0), [Pin("P01")])
    with pytest.raises(InvalidSettings, match="Choose one from P01 to P04"):
        refit(DATA, parent(0), [Pin("P05")])
