"""Pinned components: their profiles keep every bit, and the objective never rises for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from reference.dense_swift import joint_step, reconstruct
from reference.known_problems import random_problem
from support.settled import settle

from swiftcore import FitOutcome, Swift
from swiftcore.errors import InvalidSettings
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.factor_update import extrapolate, normalize, update_factors
from swiftcore.swift.fit_file import fit_key

few = settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
seeds = some.integers(0, 10_000)
shapes = some.lists(some.integers(2, 5), min_size=2, max_size=4).map(tuple)
pins = some.sets(some.integers(0, 2), min_size=1, max_size=3)


def profiles(factors: list[np.ndarray]) -> list[np.ndarray]:
    return normalize(factors, range(len(factors)))


@few
@given(
    seed=seeds,
    shape=shapes,
    pinned=pins,
    pair=some.sampled_from([(0.1, 10.0), (1.0, 10.0), (10.0, 100.0), (1.0, 1000.0)]),
    dtype=some.sampled_from(["float32", "float64"]),
    momentum=some.sampled_from([0.0, 0.8]),
)
def test_pinned_bits_stay_zeros_stay_and_the_objective_never_rises(
    seed, shape, pinned, pair, dtype, momentum
) -> None:
    tensor, costs, factors = random_problem(seed, shape, 3, 0.3, True)
    random = np.random.default_rng(seed)
    for factor in factors[1:]:
        factor *= random.random(factor.shape) < 0.8
        factor[0] += factor.sum(axis=0) == 0
    start = profiles(factors)
    model = Swift(
        3,
        sharpness=pair[1],
        marginal_weight=pair[0],
        max_iterations=25,
        dtype=dtype,
        momentum=momentum,
        n_jobs=1,
    )
    model.fit(tensor, costs, initial_factors=start, pinned=pinned)
    columns = sorted(pinned)
    for got, given_ in zip(model.factors_[1:], start[1:], strict=True):
        np.testing.assert_array_equal(got[:, columns], given_[:, columns])
        assert not got[given_ == 0].any()
    objective = np.array([entry.objective for entry in model.history_])
    assert (np.diff(objective) <= 0).all()
    assert model.history_[1].accepted  # the loop takes back what is worse: plain steps never are


@pytest.mark.parametrize("pinned", [[0], [1, 2], [0, 1, 2]])
def test_the_step_is_the_referees_but_for_the_pinned_profiles(pinned: list[int]) -> None:
    """EM finds every component and mode by itself: what is not pinned moves as if nothing were."""
    tensor, costs, factors = random_problem(7, (6, 5, 4), 3, 0.3, True)
    factors = profiles(factors)
    settled = settle(tensor, costs, factors, 10.0, 1.0, "float64")
    start = settled.factors
    step = update_factors(start, settled.numerators, range(3), pinned)
    free = [part for part in range(3) if part not in pinned]
    wanted = joint_step(tensor.to_dense(), factors, costs, 10.0, 1.0)
    for mode, got in enumerate(settled.in_units_of_data(step)):
        moved = range(3) if mode == 0 else free  # weights move as if nothing were pinned
        np.testing.assert_allclose(got[:, list(moved)], wanted[mode][:, list(moved)], rtol=1e-8)
        if mode:
            np.testing.assert_array_equal(step[mode][:, pinned], start[mode][:, pinned])


def test_momentum_and_normalizing_leave_pinned_bits_alone() -> None:
    _, _, factors = random_problem(3, (9, 7, 8), 2, 0.3, True)
    now, before = profiles(factors), profiles([factor**1.5 for factor in factors])
    for mode in (1, 2):
        now[mode][:, 0] = before[mode][:, 0] = np.nextafter(now[mode][:, 0], 1)
    on = extrapolate(now, before, 0.7, range(3), [0])
    again = normalize(on, range(3), [0])
    for mode in (1, 2):
        np.testing.assert_array_equal(again[mode][:, 0], now[mode][:, 0])
        assert not np.array_equal(on[mode][:, 1], now[mode][:, 1])
    np.testing.assert_allclose(reconstruct(again), reconstruct(on))


def test_all_pinned_is_a_projection() -> None:
    """With nothing but weights to find, the fit is the convex problem of projecting the rows."""
    tensor, costs, factors = random_problem(4, (8, 6, 5), 2, 0.3, True)
    start = profiles(factors)
    settings = {"dtype": "float64", "tolerance": 1e-9, "max_iterations": 2000, "n_jobs": 1}
    free = Swift(2, **settings).fit(tensor, costs, initial_factors=start)
    held = Swift(2, **settings).fit(tensor, costs, initial_factors=start, pinned=[0, 1])
    assert free.objective_ < held.objective_
    held_again = held.transform(tensor, costs)
    np.testing.assert_allclose(held_again, held.memberships_, rtol=1e-2, atol=1e-3)


def test_a_pinned_fit_goes_on_to_the_same_bits_and_has_a_key_of_its_own(tmp_path: Path) -> None:
    tensor, costs, factors = random_problem(2, (20, 10, 8), 3, 0.1, False)
    start, settings = profiles(factors), {"tolerance": 0, "max_iterations": 15, "n_jobs": 1}

    def fit(stop: int, checkpoint: FitCheckpoint | None) -> Swift:
        return Swift(3, **settings).fit(
            tensor,
            costs,
            initial_factors=start,
            pinned=[1],
            callback=lambda progress: progress.iteration == stop,
            checkpoint=checkpoint,
        )

    whole, file = fit(-1, None), FitCheckpoint(tmp_path / "state.npz")
    assert fit(6, file).outcome_ is FitOutcome.STOPPED
    again = fit(-1, file)
    for one, other in zip(whole.factors_, again.factors_, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.factors_[1][:, 1], start[1][:, 1])
    keys = {fit_key(tensor, costs, start, settings, pinned) for pinned in ((), (1,), (0, 1))}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("pinned", "start", "words"),
    [
        ([0], None, "no start"),
        ([3], "sound", "from 0 to 2"),
        ([-1], "sound", "from 0 to 2"),
        ([1], "unscaled", "sum to 1"),
    ],
)
def test_what_cannot_be_pinned_is_refused(pinned, start, words) -> None:
    tensor, costs, factors = random_problem(2, (6, 5, 4), 3, 0.3, False)
    given_ = {"sound": profiles(factors), "unscaled": factors}.get(start)
    with pytest.raises(InvalidSettings, match=words):
        Swift(3, n_jobs=1).fit(tensor, costs, initial_factors=given_, pinned=pinned)
