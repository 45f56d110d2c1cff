"""A consensus follows from its spec alone: workers and interruptions change no bit of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.evaluation_data import planted_patients

from swiftcore import FittedModel, ModelSpec, fit_dataset
from swiftcore.consensus_fits import FitsStopped
from swiftcore.errors import InvalidSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for
from swiftcore.model_file import ModelContents
from swiftcore.phenotypes.consensus import agreement
from swiftcore.phenotypes.matching import similarity
from swiftcore.progress import FitOutcome, FitsProgress
from swiftcore.swift.checkpoint import FitCheckpoint, finished_fits

SPEC = ModelSpec(rank=3, consensus=3, seed=4)
STEPS = 6  # three fits, the two ways to group them, and exchanges with the two others
DATA = planted_patients()


@pytest.fixture(scope="module")
def undisturbed() -> FittedModel:
    return fit_dataset(DATA, SPEC, n_jobs=1)


def same_bits(one: FittedModel, other: FittedModel) -> bool:
    pairs = zip(one.factors, other.factors, strict=True)
    return all(mine.tobytes() == theirs.tobytes() for mine, theirs in pairs)


def test_workers_change_nothing(undisturbed: FittedModel) -> None:
    assert same_bits(fit_dataset(DATA, SPEC, n_jobs=2), undisturbed)


def test_it_says_in_how_many_of_its_own_fits_a_component_is(undisturbed: FittedModel) -> None:
    assert undisturbed.outcome is FitOutcome.CONVERGED
    found = undisturbed.agreement
    assert found is not None and found.n_fits == 3
    alone = [
        fit_dataset(
            DATA, replace(SPEC, consensus=1, seed=4 + i, tolerance=10 * SPEC.tolerance), n_jobs=1
        )
        for i in range(3)
    ]
    again = agreement(undisturbed.factors[1:], [fit.factors[1:] for fit in alone])
    assert again.found_in == found.found_in
    for one, other in zip(again.spread, found.spread, strict=True):
        np.testing.assert_array_equal(one, other)
    similarities = similarity(undisturbed.factors[1:], undisturbed.factors[1:])
    assert (similarities - np.eye(3)).max() <= 0.8
    assert undisturbed.history[-1].objective <= np.mean([f.history[-1].objective for f in alone])


def test_fits_on_some_of_the_rows_are_other_fits_and_follow_from_the_spec(
    undisturbed: FittedModel,
) -> None:
    spec = replace(SPEC, consensus_rows=0.6)
    resampled = fit_dataset(DATA, spec, n_jobs=1)
    assert same_bits(fit_dataset(DATA, spec, n_jobs=2), resampled)
    assert resampled.outcome is FitOutcome.CONVERGED
    found, usual = resampled.agreement, undisturbed.agreement
    assert found is not None and usual is not None and found.n_fits == 3
    pairs = zip(found.spread, usual.spread, strict=True)
    assert any(not np.array_equal(one, other) for one, other in pairs)
    assert (resampled.memberships.sum(axis=1) > 0).all()  # the last fit sees every row


@pytest.mark.parametrize("share", [0, 1.5, -0.1])
def test_a_share_of_the_rows_must_be_one(share: float) -> None:
    with pytest.raises(InvalidSettings, match="above 0 and at most 1"):
        ModelSpec(rank=3, consensus_rows=share)


def test_stopped_anywhere_it_ends_at_the_same_bits(
    undisturbed: FittedModel, tmp_path: Path
) -> None:
    checkpoint = FitCheckpoint(tmp_path / "fit.npz", every=0.0)
    stands: list[FitsProgress] = []

    def after_two(progress: FitsProgress) -> bool:
        stands.append(progress)
        return progress.done == 2

    with pytest.raises(FitsStopped, match="2 of 6 steps are finished"):
        fit_dataset(DATA, SPEC, n_jobs=1, fits_callback=after_two, checkpoint=checkpoint)
    assert finished_fits(checkpoint.path) == 2 and stands[-1].total == STEPS
    stopped = fit_dataset(
        DATA, SPEC, n_jobs=1, callback=lambda entry: entry.iteration == 1, checkpoint=checkpoint
    )
    assert stopped.outcome is FitOutcome.STOPPED
    finished = finished_fits(checkpoint.path)
    assert finished >= 3 + 2
    stands.clear()
    again = fit_dataset(DATA, SPEC, n_jobs=2, fits_callback=stands.append, checkpoint=checkpoint)
    assert same_bits(again, undisturbed) and again.history[-1].iteration > 1
    assert stands[-1].done == STEPS and stands[-1].begun == 3
    assert finished_fits(checkpoint.path) == finished
    checkpoint.remove()
    assert not list(tmp_path.iterdir())


def test_damaged_fits_are_computed_again(undisturbed: FittedModel, tmp_path: Path) -> None:
    checkpoint = FitCheckpoint(tmp_path / "fit.npz")
    fit_dataset(DATA, SPEC, n_jobs=1, checkpoint=checkpoint)
    part = checkpoint.part(1).path
    part.write_bytes(part.read_bytes()[:-40])
    checkpoint.part(0).path.write_bytes(checkpoint.part(2).path.read_bytes())  # another's
    assert same_bits(fit_dataset(DATA, SPEC, n_jobs=1, checkpoint=checkpoint), undisturbed)


def test_the_file_of_the_model_keeps_it(undisturbed: FittedModel) -> None:
    content = undisturbed.contents().to_bytes()
    found = ModelContents.from_bytes(content, "model.npz").agreement
    assert found is not None and undisturbed.agreement is not None
    assert found.found_in == undisturbed.agreement.found_in
    for one, other in zip(found.spread, undisturbed.agreement.spread, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("key", ["cp_als", "cp_apr", "supervised_cp"])
def test_every_method_without_signs_has_a_consensus(key: str) -> None:
    spec = spec_for(key, rank=2, consensus=2, max_iterations=5)
    if CATALOGUE[key].signed:
        with pytest.raises(InvalidSettings, match="consensus"):
            fit_dataset(DATA, spec, n_jobs=1)
        return
    fitted = fit_dataset(DATA, spec, n_jobs=1)
    assert fitted.agreement is not None and max(fitted.agreement.found_in) <= 2
