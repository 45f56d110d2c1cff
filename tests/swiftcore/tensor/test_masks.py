"""What stands behind a mask means nothing: it is refused, and never read as a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from swiftcore import SparseTensor, Swift
from swiftcore.baselines.solvers.checks import class_signs
from swiftcore.cost import build_costs, check_costs
from swiftcore.data.dataset import Dataset
from swiftcore.errors import SwiftError

PLACES = np.array([[0, 0, 0], [1, 1, 1], [2, 0, 1], [2, 1, 0]])
VALUES = np.array([1.0, 2.0, 3.0, 4.0])
TENSOR = SparseTensor.from_coordinates(PLACES, VALUES)
COSTS = build_costs(TENSOR, reference=TENSOR)
FACTORS = [np.ones((size, 2)) for size in TENSOR.shape]
MODEL = Swift(2, random_state=0, n_jobs=1, max_iterations=2)


def masked(array: Any, *, nothing: bool = False) -> Any:
    """The array with its last entry masked, or with a mask that covers nothing."""
    array = np.asarray(array)
    mask = np.zeros(array.shape, dtype=bool)
    mask.flat[-1] = not nothing
    return np.ma.MaskedArray(array, mask)


TAKERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "values": (lambda given: SparseTensor.from_coordinates(PLACES, given), VALUES),
    "coordinates": (lambda given: SparseTensor.from_coordinates(given, VALUES), PLACES),
    "indices": (lambda given: TENSOR.select(0, given), [0, 2]),
    "costs": (lambda given: check_costs([*COSTS[:2], given], TENSOR.shape), COSTS[2]),
    "costs of a fit": (lambda given: MODEL.fit(TENSOR, [given, *COSTS[1:]]), COSTS[0]),
    "cost of new rows": (
        lambda given: MODEL.fit(TENSOR, COSTS).transform(TENSOR, given),
        COSTS[0],
    ),
    "initial_factors": (
        lambda given: MODEL.fit(TENSOR, COSTS, initial_factors=[*FACTORS[:2], given]),
        FACTORS[2],
    ),
    "outcome": (
        lambda given: Dataset("d", TENSOR, given, "o", "made up"),
        np.array([True, False, True]),
    ),
}


@pytest.mark.parametrize(("take", "given"), TAKERS.values(), ids=TAKERS.keys())
def test_masked_entries_are_refused(take: Callable[[Any], Any], given: Any) -> None:
    take(masked(given, nothing=True))
    with pytest.raises(SwiftError, match="masked") as refusal:
        take(masked(given))
    assert refusal.value.problems[0].code == "masked"
    assert "1 of" in refusal.value.problems[0].found


def test_a_masked_label_is_an_unknown_one() -> None:
    signs = class_signs(np.ma.MaskedArray(["a", "b", "a"], [False, False, True]), 3)
    np.testing.assert_array_equal(signs, class_signs(["a", "b", None], 3))
    np.testing.assert_array_equal(signs.ravel(), [-1, 1, 0])
