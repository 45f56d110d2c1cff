"""The interval of a link holds the link that all rows of the kind would give, nearly always."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.evaluation.experiments.outcome_links import link_outcome
from swiftcore.evaluation.experiments.trial import STRENGTHS
from swiftcore.evaluation.protocol.folds import Labels
from swiftcore.evaluation.protocol.intervals import jackknife_interval
from swiftcore.evaluation.protocol.lasso import lasso_path
from swiftcore.evaluation.protocol.scalings import SCALINGS, Scaler

TRUE = np.array([1.5, -1.0, 0.5, 0.0])
DRAWS, SEED = 30, 15
Array = NDArray[np.float64]


def drawn(n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """Memberships of rows, and an outcome that follows them by a logistic law."""
    rows = rng.gamma(0.7, 1.0, (n, 4))
    towards = (np.log1p(rows) - 0.45) @ TRUE - 0.5
    return rows, (rng.random(n) < 1 / (1 + np.exp(-towards))).astype(np.int64)


def test_intervals_cover_what_very_many_rows_would_say() -> None:
    """Of 95 % intervals from 120 rows; the range of the folds, said before, covered half of it."""
    every_row, every_code = drawn(6_000, np.random.default_rng(SEED))
    known: dict[str, list[Array]] = {}
    inside, too_wide, errors = [], [], []
    for draw in range(DRAWS):
        rows, codes = drawn(120, np.random.default_rng((SEED, draw)))
        found = link_outcome(rows, Labels(("no", "yes"), codes))
        scaling = found.about["scaling"]
        if scaling not in known:
            scaled = SCALINGS[scaling](every_row)
            path = lasso_path(Scaler.of(scaled)(scaled), every_code, 2, STRENGTHS)
            known[scaling] = [model.weights[:, 0] for model in path]
        wanted = known[scaling][STRENGTHS.tolist().index(found.about["strength"])]
        links = found.tables["links"]
        low, high, weight = (links[name].to_numpy() for name in ("low", "high", "weight"))
        inside.append((low <= wanted) & (wanted <= high))
        too_wide.append(high - low)
        errors.append(weight - wanted)
    assert 0.87 <= np.mean(inside) <= 0.99
    usual = 2 * 1.96 * np.sqrt(np.mean(np.square(errors)))  # how wide they would be, known exactly
    assert np.mean(too_wide) < 1.7 * usual


def test_the_interval_is_the_jackknife_of_a_mean() -> None:
    """Of a mean, groups left out give what Student gives for the means of the groups."""
    groups = np.random.default_rng(0).normal(size=(5, 8))
    left_out = np.array([np.delete(groups, k, axis=0).mean() for k in range(5)])
    low, high = jackknife_interval(groups.mean(), left_out)
    error = groups.mean(axis=1).std(ddof=1) / np.sqrt(5)
    np.testing.assert_allclose([low, high], groups.mean() + error * 2.776445 * np.array([-1, 1]))
