"""Our lasso and our scores against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve

from swiftcore.evaluation.protocol.intervals import paired_interval
from swiftcore.evaluation.protocol.lasso import lasso_path
from swiftcore.evaluation.protocol.scalings import Scaler
from swiftcore.evaluation.protocol.scores import (
    RECALLS,
    calibration,
    log_loss,
    pr_curve,
    score,
    second_score,
)


def problem(n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, 300)
    rows = rng.normal(size=(300, 8)) + 0.8 * (np.arange(8) == codes[:, None])
    return Scaler.of(rows)(rows), codes


def objective(rows, codes, weights, intercepts, strength, n_classes):  # type: ignore[no-untyped-def]
    scores = rows @ weights + intercepts
    if n_classes == 2:
        scores = np.column_stack([np.zeros(len(rows)), scores[:, 0]])
    top = scores.max(axis=1, keepdims=True)
    loss = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0] - scores[range(len(rows)), codes]
    return loss.mean() + strength * np.abs(weights).sum()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_the_lasso_reaches_the_optimum_of_scikit_learn(n_classes: int, share: float) -> None:
    rows, codes = problem(n_classes)
    model = lasso_path(rows, codes, n_classes, np.array([1.0, share]))[-1]
    rates = np.bincount(codes, minlength=n_classes) / len(codes)
    target = np.eye(n_classes)[codes] - rates
    pull = np.abs(rows.T @ (target[:, 1:] if n_classes == 2 else target)).max() / len(rows)
    strength = share * pull
    theirs = LogisticRegression(
        l1_ratio=1.0, C=1 / (strength * len(rows)), solver="saga", tol=1e-8, max_iter=20_000
    ).fit(rows, codes)
    best = objective(rows, codes, theirs.coef_.T, theirs.intercept_, strength, n_classes)
    ours = objective(rows, codes, model.weights, model.intercepts, strength, n_classes)
    assert ours <= best * (1 + 1e-5)
    assert np.allclose(model.probabilities(rows), theirs.predict_proba(rows), atol=2e-3)


def test_at_full_strength_only_base_rates_remain() -> None:
    rows, codes = problem(3)
    model = lasso_path(rows, codes, 3, np.array([1.0]))[0]
    assert not model.weights.any()
    assert np.allclose(model.probabilities(rows), np.bincount(codes) / len(codes), atol=1e-6)


def test_a_column_without_spread_gets_no_weight() -> None:
    rows, codes = problem(2)
    flat = np.column_stack([rows, np.full(len(rows), 7.0)])
    scaled = Scaler.of(flat)(flat)
    assert not scaled[:, -1].any()
    assert lasso_path(scaled, codes, 2, np.array([0.01]))[0].weights[-1] == 0


def test_separable_rows_stay_finite() -> None:
    codes = np.arange(60) % 3
    models = lasso_path(100.0 * np.eye(3)[codes], codes, 3, np.geomspace(1, 1e-3, 5))
    assert np.isfinite(models[-1].weights).all()
    assert score(codes, models[-1].probabilities(100.0 * np.eye(3)[codes])) == 1.0


def test_the_curve_is_the_envelope_of_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    codes = (rng.random(200) < 0.3).astype(int)
    chance = rng.random(200) + 0.4 * codes
    precision, recall, _ = precision_recall_curve(codes, chance)
    envelope = [precision[recall >= level - 1e-12].max() for level in RECALLS[1:]]
    # scikit-learn adds the point (recall 0, precision 1), which no threshold reaches
    assert np.allclose(pr_curve(codes, chance)[1:], envelope)
    alike = np.array([0.9, 0.9, 0.9, 0.2])  # rows that cannot be told apart come together
    for truth in ([1, 0, 0, 1], [0, 0, 1, 1]):
        assert np.allclose(pr_curve(np.array(truth), alike), 0.5)


def test_scores_of_right_wrong_and_coin() -> None:
    codes = np.array([0, 1, 2, 2])
    right = np.eye(3)[codes]
    assert score(codes, right) == second_score(codes, right) == 1.0
    assert score(codes, np.roll(right, 1, axis=1)) == 0.0
    assert log_loss(codes, np.full((4, 3), 1 / 3)) == pytest.approx(np.log(3))


def test_the_interval_is_nadeau_and_bengios() -> None:
    differences = np.array([0.1, 0.2, 0.0, 0.15, 0.05])
    low, high = paired_interval(differences, 0.2)
    half = t.ppf(0.975, 4) * differences.std(ddof=1) * np.sqrt(1 / 5 + 0.25)
    assert (low, high) == pytest.approx((0.1 - half, 0.1 + half))
    assert np.isnan(paired_interval(differences[:1], 0.2)).all()


def test_folds_of_three_data_sets_say_three_times_as_much_as_those_of_one() -> None:
    differences = np.random.default_rng(0).normal(0.1, 0.05, 15)
    low, high = paired_interval(differences, 0.2, 3)
    variance_of_one = differences.var(ddof=1) * (1 / 5 + 0.25)
    half = t.ppf(0.975, 14) * np.sqrt(variance_of_one / 3)
    assert (low, high) == pytest.approx((differences.mean() - half, differences.mean() + half))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 12),
)
def test_calibration_counts_every_row_once_and_parts_no_equal_chances(
    rows: list[tuple[float, bool]], groups: int
) -> None:
    chances = np.array([chance for chance, _ in rows])
    true = np.array([happened for _, happened in rows])
    table = calibration(chances, true, groups)
    assert table["count"].sum() == len(rows) and table["cases"].sum() == true.sum()
    assert len(table) <= groups and (table["count"] > 0).all()
    assert (table["expected"] * table["count"]).sum() == pytest.approx(chances.sum())
    assert table["expected"].is_monotonic_increasing
    assert len(table) <= len(set(chances))
    if len(set(chances)) == len(chances) >= groups:  # no ties: groups of like size
        assert table["count"].max() - table["count"].min() <= 1
