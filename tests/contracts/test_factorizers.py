"""One contract for all factorizers: SWIFT and every baseline go through the same tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from swiftcore import Mode, SparseTensor, Swift
from swiftcore.baselines.cp_als import CpAls
from swiftcore.baselines.cp_apr import CpApr
from swiftcore.baselines.cp_binary import CpBinary
from swiftcore.baselines.cp_continuous import CpContinuous
from swiftcore.baselines.cp_nmu import CpNmu
from swiftcore.baselines.direct_wasserstein import DirectWasserstein
from swiftcore.baselines.similarity_cp import SimilarityCp
from swiftcore.baselines.supervised_cp import SupervisedCp
from swiftcore.cost import build_costs
from swiftcore.errors import InvalidCost, InvalidData, InvalidSettings, NotEnoughMemory, SwiftError
from swiftcore.factorizer import Factorizer
from swiftcore.progress import FitOutcome, FitProgress

RANK, SHAPE = 3, (40, 12, 10)


def planted(seed: int, n_rows: int, full: bool = False) -> SparseTensor:
    """Three groups of rows, each with features of its own: Poisson counts or, full, amounts."""
    rng = np.random.default_rng(seed)
    own_group = np.arange(n_rows)[:, None] % RANK == np.arange(RANK)
    factors = [0.2 + 6.0 * own_group * rng.uniform(0.5, 2, (n_rows, 1))]
    profiles = np.random.default_rng(7)  # the same features for every seed
    for size in SHAPE[1:]:
        own = np.arange(size)[:, None] % RANK == np.arange(RANK)
        profile = profiles.uniform(0.5, 1.5, (size, RANK)) * (own + 0.02)
        factors.append(profile / profile.sum(axis=0))
    mean = 4 * np.einsum("ir,jr,kr->ijk", *factors)
    drawn = mean * rng.gamma(5.0, 0.2, mean.shape) if full else rng.poisson(mean)
    places = np.argwhere(drawn)
    return SparseTensor.from_coordinates(places, drawn[tuple(places.T)], mean.shape)


TENSOR, NEW = planted(0, SHAPE[0]), planted(1, 15)
FULL, NEW_FULL = planted(0, SHAPE[0], full=True), planted(1, 15, full=True)
LABELS = np.array(["others", "first"])[(np.arange(SHAPE[0]) % RANK == 0).astype(int)]
COSTS = build_costs(TENSOR, reference=TENSOR)


@dataclass(frozen=True)
class Case:
    """A method, the settings with which it comes to rest, and data that its loss is meant for."""

    method: Any
    still: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    tensor: SparseTensor = TENSOR
    new: SparseTensor = NEW
    alone: dict[str, Any] = field(default_factory=dict)  # asks for rows projected by themselves

    def fitted(self, costs: Sequence[Any] = COSTS, **settings: Any) -> Any:
        model = self.method(RANK, **{"random_state": 0, **self.settings, **settings})
        return model.fit(self.tensor, costs, labels=LABELS)


STILL = {"growth": 1.0}  # weights that grow for ever never come to rest
CASES = {
    "Swift": Case(Swift, {"dtype": "float64"}, {"n_jobs": 1}, alone={"independent": True}),
    "CP-ALS": Case(CpAls),
    "CP-NMU": Case(CpNmu),
    "CP-APR": Case(CpApr),
    "Similarity CP": Case(SimilarityCp, STILL),
    "Supervised CP": Case(SupervisedCp, STILL),
    "CP-Binary": Case(CpBinary),
    "CP-Continuous": Case(CpContinuous, tensor=FULL, new=NEW_FULL),  # no empty cells: see its notes
    "Direct Wasserstein": Case(DirectWasserstein, {"tolerance": 1e-6, "max_iterations": 120}),
}
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@EVERY
def test_it_is_a_factorizer(case: Case) -> None:
    model = case.fitted(max_iterations=3)
    assert isinstance(model, Factorizer)
    assert [factor.shape for factor in model.factors_] == [(size, RANK) for size in SHAPE]
    assert model.memberships_ is model.factors_[0]
    assert model.modes_ == case.tensor.modes
    assert model.transform(case.new).shape == (15, RANK)
    assert clone(model).get_params() == model.get_params()


@EVERY
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(case: Case) -> None:
    one, two, other = (case.fitted(random_state=seed, max_iterations=5) for seed in (3, 3, 4))
    for mine, same in zip(one.factors_, two.factors_, strict=True):
        np.testing.assert_array_equal(mine, same)
    np.testing.assert_array_equal(one.transform(case.new), two.transform(case.new))
    assert not np.array_equal(one.factors_[1], other.factors_[1])


@EVERY
def test_training_rows_are_projected_to_where_the_fit_left_them(case: Case) -> None:
    model = case.fitted(**{"tolerance": 1e-10, "max_iterations": 1000, **case.still})
    back = model.transform(case.tensor)
    assert np.abs(back - model.memberships_).max() <= 0.02 * np.abs(model.memberships_).max()


@EVERY
def test_a_projection_moves_no_factor(case: Case) -> None:
    model = case.fitted(max_iterations=5)
    before = [factor.copy() for factor in model.factors_]
    model.transform(case.new)
    for factor, old in zip(model.factors_, before, strict=True):
        np.testing.assert_array_equal(factor, old)


@EVERY
def test_nonnegative_factors_and_feature_columns_that_sum_to_one(case: Case) -> None:
    model = case.fitted()
    if model.nonnegative:
        assert min(factor.min() for factor in model.factors_) >= 0
        assert model.transform(case.new).min() >= 0
        for factor in model.factors_[1:]:
            np.testing.assert_allclose(factor.sum(axis=0), 1, atol=1e-9)
    else:
        for factor in model.factors_[1:]:
            np.testing.assert_allclose(np.linalg.norm(factor, axis=0), 1, atol=1e-9)


@EVERY
def test_the_loss_never_rises_where_that_is_promised(case: Case) -> None:
    model = case.fitted(**{**case.still, "tolerance": 0.0, "max_iterations": 60})
    losses = np.array([progress.objective for progress in model.history_])
    assert np.isfinite(losses).all() and losses[-1] < losses[0]
    if model.loss_never_rises:
        assert np.diff(losses).max() <= 1e-9 * np.abs(losses).max()


@EVERY
def test_it_finds_the_planted_groups(case: Case) -> None:
    rows = np.abs(case.fitted().memberships_)
    groups = np.arange(SHAPE[0]) % RANK
    means = np.array([rows[groups == group].mean(axis=0) for group in range(RANK)])
    assert len(set(means.argmax(axis=0))) == RANK


@EVERY
def test_new_rows_fall_into_their_groups(case: Case) -> None:
    model = case.fitted()
    nearest = np.abs(model.transform(case.new)).argmax(axis=1)
    own = np.abs(model.memberships_).argmax(axis=1)[:RANK]
    assert np.mean(nearest == own[np.arange(15) % RANK]) >= 0.8


@EVERY
def test_a_callback_follows_and_stops(case: Case) -> None:
    seen: list[FitProgress] = []

    def stop_at_two(progress: FitProgress) -> bool:
        seen.append(progress)
        return progress.iteration == 2

    model = case.method(RANK, **{"random_state": 0, "tolerance": 0.0, **case.settings})
    model.fit(case.tensor, COSTS, labels=LABELS, callback=stop_at_two)
    assert seen[-1].iteration == 2
    assert model.outcome_ is FitOutcome.STOPPED
    assert model.n_iterations_ == 2 and model.objective_ == seen[-1].objective


BAD_SETTINGS: list[dict[str, Any]] = [
    {"rank": 0},
    {"rank": 2.5},
    {"rank": True},
    {"max_iterations": -1},
    {"tolerance": float("nan")},
    {"tolerance": -1.0},
    {"random_state": -1},
    {"random_state": "a"},
]


@EVERY
@pytest.mark.parametrize("bad", BAD_SETTINGS, ids=str)
def test_settings_out_of_range_are_refused_by_name(case: Case, bad: dict[str, Any]) -> None:
    model = case.method(**{"rank": RANK, **case.settings, **bad})
    with pytest.raises(InvalidSettings) as caught:
        model.fit(TENSOR, COSTS, labels=LABELS)
    assert [problem.where for problem in caught.value.problems] == list(bad)


@EVERY
def test_what_is_no_tensor_or_holds_nothing_is_refused(case: Case) -> None:
    empty = SparseTensor.from_coordinates(np.empty((0, 3), dtype=int), [], SHAPE)
    for bad in (np.ones(SHAPE), None, empty):
        with pytest.raises(InvalidData):
            case.method(RANK, **case.settings).fit(bad, COSTS, labels=LABELS)


@EVERY
def test_rows_that_do_not_fit_the_model_are_refused(case: Case) -> None:
    with pytest.raises(SwiftError):
        case.method(RANK, **case.settings).transform(NEW)
    model = case.fitted(max_iterations=2)
    renamed = (case.new.modes[0], Mode("mode 2", tuple("abcdefghijkl")), case.new.modes[2])
    order = np.arange(SHAPE[1])[::-1]
    others: list[Callable[[], Any]] = [
        lambda: case.new.select(1, np.arange(5)),
        lambda: SparseTensor(renamed, case.new.coordinates, case.new.values),
        lambda: case.new.select(1, order),
        case.new.to_dense,
    ]
    for make in others:
        with pytest.raises(InvalidData):
            model.transform(make())


@EVERY
def test_a_row_is_projected_by_itself(case: Case) -> None:
    """Where mass may move between rows, as in SWIFT, that is: when the fit had no row cost."""
    model = case.fitted(costs=[None, *COSTS[1:]])
    batch = model.transform(case.new, **case.alone)
    for row in (0, 7, 14):
        alone = model.transform(case.new.select(0, [row]), **case.alone)
        np.testing.assert_allclose(alone[0], batch[row], rtol=1e-6, atol=1e-9 * batch.max())


@EVERY
def test_an_empty_row_has_no_membership(case: Case) -> None:
    model = case.fitted(max_iterations=5)
    wider = SparseTensor.from_coordinates(case.new.coordinates, case.new.values, (16, *SHAPE[1:]))
    np.testing.assert_array_equal(model.transform(wider)[15], 0)


@EVERY
@pytest.mark.parametrize("n_modes", [2, 4])
def test_matrices_and_tensors_of_four_modes(case: Case, n_modes: int) -> None:
    rng = np.random.default_rng(n_modes)
    shape = (9, 6, 5, 4)[:n_modes]
    places = np.argwhere(rng.random(shape) < 0.4)
    tensor = SparseTensor.from_coordinates(places, rng.integers(1, 5, len(places)), shape)
    settings = {**case.settings, **case.still, "max_iterations": 20}
    model = case.method(2, random_state=0, **settings)
    model.fit(tensor, build_costs(tensor, reference=tensor), labels=np.arange(9) % 2)
    assert model.history_[-1].objective < model.history_[0].objective
    assert model.transform(tensor).shape == (9, 2)


@EVERY
def test_more_components_than_features_stay_finite(case: Case) -> None:
    model = case.method(15, random_state=0, **case.settings, max_iterations=20)
    model.fit(case.tensor, COSTS, labels=LABELS)
    assert all(np.isfinite(factor).all() for factor in model.factors_)
    assert np.isfinite(model.transform(case.new)).all()


@EVERY
def test_costs_may_be_left_out(case: Case) -> None:
    model = case.method(RANK, **{"random_state": 0, **case.settings, "max_iterations": 5})
    model.fit(case.tensor, labels=LABELS)
    assert model.transform(case.new).shape == (15, RANK)


@pytest.mark.parametrize("method", [Swift, DirectWasserstein])
def test_costs_left_out_are_cosine_where_mass_is_moved(method: Any) -> None:
    left_out = method(RANK, random_state=0, max_iterations=5).fit(TENSOR)
    given = method(RANK, random_state=0, max_iterations=5).fit(TENSOR, COSTS)
    fixed = method(RANK, random_state=0, max_iterations=5).fit(TENSOR, [None, *COSTS[1:]])
    for one, same, other in zip(left_out.factors_, given.factors_, fixed.factors_, strict=True):
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


@EVERY
def test_labels_change_nothing_but_what_is_supervised(case: Case) -> None:
    with_labels = case.fitted(max_iterations=5)
    settings = {"random_state": 0, **case.settings, "max_iterations": 5}
    if case.method is SupervisedCp:
        other = SupervisedCp(RANK, **settings).fit(case.tensor, COSTS, labels=np.roll(LABELS, 1))
        assert not np.array_equal(other.memberships_, with_labels.memberships_)
        return
    without = case.method(RANK, **settings).fit(case.tensor, COSTS)
    np.testing.assert_array_equal(without.memberships_, with_labels.memberships_)


def some_start(seed: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.1, 1.0, (size, RANK)) for size in SHAPE]


@EVERY
def test_it_starts_from_the_factors_given_and_leaves_them_alone(case: Case) -> None:
    given = some_start()

    def factors(iterations: int, seed: int) -> list[np.ndarray]:
        settings = {**case.settings, "max_iterations": iterations, "random_state": seed}
        model = case.method(RANK, **settings)
        return model.fit(case.tensor, COSTS, labels=LABELS, initial_factors=given).factors_

    model, wanted = (np.einsum("ir,jr,kr->ijk", *one) for one in (factors(0, 1), some_start()))
    np.testing.assert_allclose(model, wanted, rtol=1e-9)
    for one, other in zip(factors(3, 1), factors(3, 2), strict=True):
        np.testing.assert_array_equal(one, other)  # chance has no part in it
    for one, other in zip(given, some_start(), strict=True):
        np.testing.assert_array_equal(one, other)


BAD_STARTS: dict[str, tuple[Any, str]] = {
    "a mode too few": (some_start()[:2], "start-shape"),
    "another rank": ([factor[:, :2] for factor in some_start()], "start-shape"),
    "no number": ([some_start()[0] * np.nan, *some_start()[1:]], "start-values"),
    "huge": ([some_start()[0] + 1e200, *some_start()[1:]], "start-values"),
    "words": ([factor.astype(str) for factor in some_start()], "start-type"),
    "no list": (3, "start-type"),
}


@EVERY
@pytest.mark.parametrize(("start", "code"), BAD_STARTS.values(), ids=BAD_STARTS.keys())
def test_a_start_that_does_not_fit_is_refused(case: Case, start: Any, code: str) -> None:
    model = case.method(RANK, **case.settings)
    with pytest.raises(InvalidData) as error:
        model.fit(case.tensor, COSTS, labels=LABELS, initial_factors=start)
    assert error.value.problems[0].code == code


@EVERY
def test_a_negative_start_is_refused_where_factors_are_nonnegative(case: Case) -> None:
    model = case.method(RANK, **{"random_state": 0, **case.settings, "max_iterations": 2})
    start = [-factor for factor in some_start()]
    if model.nonnegative:
        with pytest.raises(InvalidData, match="negative"):
            model.fit(case.tensor, COSTS, labels=LABELS, initial_factors=start)
    else:
        model.fit(case.tensor, COSTS, labels=LABELS, initial_factors=start)
        assert np.isfinite(model.objective_)


@pytest.mark.parametrize("method", [SimilarityCp, SupervisedCp])
def test_costs_that_are_none_or_wrong(method: Any) -> None:
    method(RANK, max_iterations=2).fit(TENSOR, labels=LABELS)
    with pytest.raises(InvalidCost):
        method(RANK).fit(TENSOR, [None, np.ones((3, 3)), None], labels=LABELS)
    with pytest.raises(InvalidCost):
        method(RANK).fit(TENSOR, COSTS[:2], labels=LABELS)


@pytest.mark.parametrize("bad", [None, [1, 0], np.ones(SHAPE[0]), [None] * SHAPE[0], 3], ids=str)
def test_labels_that_teach_nothing_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidData, match="label"):
        SupervisedCp(RANK).fit(TENSOR, COSTS, labels=bad)


@pytest.mark.parametrize("method", [CpBinary, CpContinuous])
def test_a_loss_over_all_cells_is_refused_when_it_cannot_fit(method: Any) -> None:
    huge = SparseTensor.from_coordinates([[0, 0, 0], [1, 9, 9]], [1, 2], (2, 200_000, 200_000))
    with pytest.raises(NotEnoughMemory):
        method(RANK).fit(huge)
