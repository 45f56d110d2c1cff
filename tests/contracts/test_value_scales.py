"""Values of any size and spread: every method answers in finite numbers or refuses in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from swiftcore import SparseTensor, Swift
from swiftcore.baselines.cp_als import CpAls
from swiftcore.baselines.cp_apr import CpApr
from swiftcore.baselines.cp_binary import CpBinary
from swiftcore.baselines.cp_continuous import CpContinuous
from swiftcore.baselines.cp_nmu import CpNmu
from swiftcore.baselines.direct_wasserstein import DirectWasserstein
from swiftcore.baselines.similarity_cp import SimilarityCp
from swiftcore.baselines.supervised_cp import SupervisedCp
from swiftcore.cost import build_costs
from swiftcore.errors import InvalidData, SwiftError

LARGEST = 300  # as a power of ten, either way
BASELINES = (
    CpAls,
    CpApr,
    CpBinary,
    CpContinuous,
    CpNmu,
    DirectWasserstein,
    SimilarityCp,
    SupervisedCp,
)
ORDINARY = pytest.mark.parametrize("seeds", [range(60)], ids=["60"])
ALL = pytest.mark.parametrize("seeds", [range(60, 360)], ids=["300"])


@dataclass(frozen=True)
class Drawn:
    """A random data set, new rows with its features, and random settings."""

    tensor: SparseTensor
    new: SparseTensor
    rows_move: bool
    settings: dict[str, Any]


def draw(seed: int, largest: float = LARGEST) -> Drawn:
    """Values around any power of ten, alike or spread over up to all of them."""
    rng = np.random.default_rng(seed)
    features = tuple(int(size) for size in rng.integers(2, 6, size=rng.choice([1, 2, 2, 3])))
    spread = float(rng.choice([0, 3, 40, largest, 2 * largest]))
    centre = rng.uniform(-largest, largest)
    elsewhere = rng.choice([centre, rng.uniform(-largest, largest)])

    def values_around(power: float, n_rows: int, n_entries: int) -> SparseTensor:
        shape = (n_rows, *features)
        places = np.column_stack([rng.integers(0, size, n_entries) for size in shape])
        powers = np.clip(power + spread * rng.uniform(-0.5, 0.5, n_entries), -largest, largest)
        return SparseTensor.from_coordinates(places, 10.0**powers, shape)

    return Drawn(
        tensor=values_around(centre, int(rng.integers(2, 7)), int(rng.integers(2, 40))),
        new=values_around(elsewhere, int(rng.integers(1, 5)), int(rng.integers(1, 20))),
        rows_move=bool(rng.random() < 0.7),
        settings={
            "rank": int(rng.integers(1, 4)),
            "sharpness": float(rng.choice([0.1, 1, 10, 100, 1000])),
            "marginal_weight": float(rng.choice([0.01, 0.1, 1, 10, 100])),
            "max_iterations": int(rng.choice([1, 3, 8])),
            "start": str(rng.choice(["kl", "random"])),
            "n_restarts": int(rng.choice([1, 2])),
            "momentum": float(rng.choice([0, 0.8])),
            "value_unit": [1.0, 1.0, "mean"][rng.integers(3)],
            "dtype": str(rng.choice(["float32", "float64"])),
            "random_state": seed,
            "n_jobs": 1,
        },
    )


@contextmanager
def nothing_overflows() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # k-means on two rows
        yield


def faults(seed: int, nonnegative: bool, arrays: list[NDArray[np.float64]]) -> list[str]:
    found = [f"{seed}: not finite" for array in arrays if not np.isfinite(array).all()]
    if nonnegative:
        found += [f"{seed}: negative" for array in arrays if (array < 0).any()]
    return found


def answer(seed: int, needed: bool, ask: Callable[[], list[NDArray[np.float64]]]) -> list[str]:
    """What is wrong with an answer; a refusal is, unless no number could hold the answer."""
    try:
        with nothing_overflows():
            return faults(seed, True, ask())
    except SwiftError as refusal:
        return [f"{seed}: refused needlessly: {refusal}"] if needed else []
    except Exception as error:  # any, so that all seeds are heard
        return [f"{seed}: {error!r}"]


def swift_faults(seed: int) -> list[str]:
    drawn = draw(seed)
    model = Swift(**drawn.settings)
    costs = None if drawn.rows_move else [None] * drawn.tensor.n_modes
    unit = drawn.tensor.values.mean() if model.value_unit == "mean" else model.value_unit

    def in_reach(rows: SparseTensor) -> bool:
        return bool(np.log10(unit) - np.log10(rows.values.min()) <= LARGEST)

    def fit() -> list[NDArray[np.float64]]:
        model.fit(drawn.tensor, costs)
        return [*model.factors_, model.memberships_, np.abs(model.objective_)]

    wrong = answer(seed, in_reach(drawn.tensor), fit)
    for rows, independent in product((drawn.tensor, drawn.new), (False, True)):
        if hasattr(model, "factors_"):
            ask = partial(model.transform, rows, independent=independent)
            wrong += answer(seed, in_reach(rows), lambda ask=ask: [ask()])
    return wrong


def run_swift(seeds: range) -> None:
    wrong = [fault for seed in seeds for fault in swift_faults(seed)]
    assert not wrong, "\n".join(wrong)


@ORDINARY
def test_swift_answers_in_finite_numbers(seeds: range) -> None:
    run_swift(seeds)


@pytest.mark.nightly
@ALL
def test_swift_answers_in_finite_numbers_often(seeds: range) -> None:
    run_swift(seeds)


def run_baseline(method: Any, seeds: range) -> None:
    wrong, answered = [], 0
    for seed in seeds:
        drawn = draw(seed, largest=65 if seed % 2 else LARGEST)
        try:
            with nothing_overflows():
                costs = build_costs(drawn.tensor, reference=drawn.tensor)
                asked = {"max_iterations": drawn.settings["max_iterations"], "random_state": seed}
                model = method(drawn.settings["rank"], **asked)
                model.fit(drawn.tensor, costs, labels=np.arange(drawn.tensor.shape[0]) % 2)
                projected = [model.transform(rows) for rows in (drawn.tensor, drawn.new)]
            wrong += faults(seed, model.nonnegative, [*model.factors_, *projected])
            answered += 1
        except SwiftError:
            continue
        except Exception as error:  # any, so that all seeds are heard
            wrong.append(f"{seed}: {error!r}")
    assert not wrong, "\n".join(wrong)
    assert answered >= 0.4 * len(seeds), "refusing is not answering"


@pytest.mark.parametrize("method", BASELINES, ids=lambda method: method.__name__)
def test_baselines_answer_or_refuse(method: Any) -> None:
    run_baseline(method, range(4, 8))


@pytest.mark.nightly
@pytest.mark.parametrize("method", BASELINES, ids=lambda method: method.__name__)
def test_baselines_answer_or_refuse_often(method: Any) -> None:
    run_baseline(method, range(8, 108))


def ones(value: float) -> SparseTensor:
    """A full tensor of one value."""
    shape = (2, 4, 4)
    return SparseTensor.from_coordinates(np.argwhere(np.ones(shape)), [value] * 32, shape)


def test_a_number_type_that_does_not_reach_gives_way_to_a_wider_one() -> None:
    """What is asked for in float32 is float64's answer, once float32 cannot hold it."""
    settings = {"marginal_weight": 0.1, "sharpness": 0.1, "random_state": 0, "n_jobs": 1}
    tensor = draw(44).tensor
    for size, same in ((1e-60, True), (1.0, False)):
        sized = SparseTensor(tensor.modes, tensor.coordinates, size * np.ones(tensor.n_entries))
        found = [Swift(2, dtype=one, **settings).fit(sized) for one in ("float32", "float64")]
        equal = np.array_equal(found[0].factors_[0], found[1].factors_[0])
        assert equal == same, size


def test_a_unit_far_beyond_the_rows_is_refused() -> None:
    model = Swift(1, value_unit="mean", random_state=0, n_jobs=1).fit(ones(1e200))
    for independent in (False, True):
        with pytest.raises(InvalidData, match="next to nothing") as refusal:
            model.transform(ones(1e-150), independent=independent)
        assert refusal.value.problems[0].code == "value-range"


def test_weights_beyond_all_numbers_are_refused() -> None:
    model = Swift(1, sharpness=10.0, value_unit="mean", random_state=0, n_jobs=1).fit(ones(1e300))
    with pytest.raises(InvalidData, match="more than a number can hold"):
        model.transform(ones(1.7e308), independent=True)


@pytest.mark.parametrize("size", [1e-71, 1e71])
def test_baselines_say_which_values_they_take(size: float) -> None:
    with pytest.raises(InvalidData, match="between 1e-70 and 1e\\+70") as refusal:
        CpNmu(1, random_state=0).fit(ones(size))
    assert refusal.value.problems[0].code == "value-range"
    model = CpNmu(1, random_state=0).fit(ones(1.0))
    with pytest.raises(InvalidData, match="too small or too large"):
        model.transform(ones(size))
