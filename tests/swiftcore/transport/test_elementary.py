"""The compiled logarithm and exponential against NumPy in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from swiftcore.transport.compiled.elementary import COMPILED, exp, log

UNITS = 2.5  # in the last place: "about two" is promised, 2.002 is the worst found


@njit(**COMPILED)
def logs(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = log(x[i])


@njit(**COMPILED)
def exps(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = exp(x[i])


def worst(got: np.ndarray, right: np.ndarray) -> float:
    """Largest error in units in the last place of the right answer."""
    unit = np.spacing(np.abs(right).astype(got.dtype)).astype(np.longdouble)
    return float((np.abs(got.astype(np.longdouble) - right) / unit).max())


def run(function: Any, x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    function(x, out)
    return out


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_log_over_the_whole_range(real: type) -> None:
    info, random = np.finfo(real), np.random.default_rng(0)
    spread = np.exp(
        random.uniform(np.log(float(info.tiny)) + 1, np.log(float(info.max)) - 1, 10**6)
    )
    x = np.r_[spread, info.tiny, info.max, 1.0].astype(real)
    assert worst(run(logs, x), np.log(x.astype(np.longdouble))) <= UNITS


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_log_near_one(real: type) -> None:
    """Where most of the answer cancels; also around the ends of the reduced range."""
    random = np.random.default_rng(1)
    near = 1 + random.uniform(-1, 1, 10**6) * 10.0 ** random.uniform(-7, 0, 10**6)
    ends = np.sqrt(0.5) * (1 + random.uniform(-1e-5, 1e-5, 10**5))
    x = np.abs(np.r_[near, ends, 2 * ends]).astype(real)
    x = x[x > np.finfo(real).tiny]
    x = x[x != 1]
    assert worst(run(logs, x), np.log(x.astype(np.longdouble))) <= UNITS
    assert run(logs, np.ones(1, dtype=real))[0] == 0


@pytest.mark.parametrize(
    ("real", "low", "high"), [(np.float32, -87.0, 88.0), (np.float64, -708.0, 709.0)]
)
def test_exp_over_the_whole_range(real: type, low: float, high: float) -> None:
    random = np.random.default_rng(2)
    x = np.r_[
        random.uniform(low, high, 10**6),
        random.uniform(-1, 1, 10**6),
        low,
        high,
        0.0,
        np.arange(-80, 80) * np.log(2) / 2,
    ].astype(real)
    assert worst(run(exps, x), np.exp(x.astype(np.longdouble))) <= UNITS
    assert run(exps, np.zeros(1, dtype=real))[0] == 1


@pytest.mark.parametrize(
    ("real", "low", "high"), [(np.float32, -87.0, 88.0), (np.float64, -708.0, 709.0)]
)
def test_exp_is_held_at_the_ends(real: type, low: float, high: float) -> None:
    x = np.array([low - 1, -1e30, -np.inf, high + 1, 1e30, np.inf], dtype=real)
    ends = run(exps, np.array([low, high], dtype=real))
    np.testing.assert_array_equal(run(exps, x), np.repeat(ends, 3))
    assert np.isfinite(ends).all()
    assert 0 < ends[0] < 1 < ends[1]


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_both_are_monotone_on_neighbours(real: type) -> None:
    """A line search compares neighbours: a dip of more than rounding would mislead it."""
    x = np.linspace(0.3, 3.0, 200_001).astype(real)
    for function in (logs, exps):
        y = run(function, x)
        assert np.all(np.diff(y) >= -2 * np.spacing(np.abs(y[:-1])))


def test_outside_compiled_code_they_are_numpys() -> None:
    assert log(2.0) == np.log(2.0)
    assert exp(2.0) == np.exp(2.0)
