"""Where a fit starts: random factors of the data's mass, or a sparse KL factorization."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans

from swiftcore.swift.factor_update import Factors, normalize, update_factors, update_rows
from swiftcore.tensor import Unfolding
from swiftcore.transport.compiled.arguments import Columns, Model, Numerators
from swiftcore.transport.compiled.immobile_mode import sweep_cells
from swiftcore.transport.problem import TransportProblem

# A feature profile is drawn spiky (gamma of shape 0.3): starts near the uniform profile
# sit on a plateau where components merge and do not part again.
SPIKINESS = 0.3
# Share of the uniform profile mixed into a KL start: multiplicative updates never leave 0.
MIXED_IN = 0.02
TRIAL_STEPS, FULL_STEPS = 15, 20
PLAIN_KL = (0.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Restarts:
    """Of several starts, how many were tried, the best of them and its loss."""

    tried: int = 0
    factors: Factors | None = None
    loss: float = np.inf


Attempt = Callable[[Restarts], tuple[Factors, float]]
"""What was tried so far goes in; the factors and the loss of one more start come out."""


def random_start(problem: TransportProblem, rank: int, rng: np.random.Generator) -> Factors:
    """Random factors whose reconstruction has the mass of the data.

    Rows of the first mode start with their own mass, equally on all components; the
    components differ by their feature profiles.
    """
    row_mass = np.zeros(problem.shape[0])
    np.add.at(row_mass, problem.unfoldings[0].rows, np.exp(problem.log_values[0]))
    factors = [np.repeat(row_mass[:, None] + 1e-3 * row_mass.mean(), rank, axis=1) / rank]
    for size in problem.shape[1:]:
        profile = rng.gamma(SPIKINESS, size=(size, rank)) + 1e-2
        factors.append(profile / profile.sum(axis=0))
    factors[0] *= rng.uniform(0.9, 1.1, size=factors[0].shape)
    factors[0] *= problem.mass / factors[0].sum()
    return factors


def cluster_start(problem: TransportProblem, rank: int, rng: np.random.Generator) -> Factors:
    """Components from a k-means clustering of the rows: each starts as a group of like rows.

    Rows are compared by the square roots of their shares of each feature, which keeps a few
    frequent features from deciding everything.
    """
    features = _row_features(problem)
    norms = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
    unit = sparse.diags_array(1 / np.maximum(norms, 1e-300)) @ features
    seed = int(rng.integers(2**31 - 1))
    labels = KMeans(rank, n_init=4, max_iter=20, random_state=seed).fit(unit).labels_
    spread = random_start(problem, rank, rng)
    in_group = np.where(labels[:, None] == np.arange(rank), 1.0, 0.1)
    factors = [spread[0] * in_group]
    squares = features.multiply(features)
    first = 0
    for size in problem.shape[1:]:
        profile = in_group.T @ squares[:, first : first + size]
        factors.append(np.asarray(profile).T + 1e-3 * profile.mean())
        first += size
    factors = normalize(factors, range(problem.n_modes))
    factors[0] *= problem.mass / factors[0].sum()
    return factors


def _row_features(problem: TransportProblem) -> sparse.csr_array:
    """Rows against all features side by side: square roots of the mass each row has of each."""
    unfolding = problem.unfoldings[0]
    columns = np.repeat(np.arange(unfolding.n_columns), np.diff(unfolding.starts))
    mass = np.exp(problem.log_values[0])
    parts = [
        sparse.csr_array(
            (mass, (unfolding.rows, unfolding.column_places[columns, position])),
            shape=(problem.shape[0], size),
        )
        for position, size in enumerate(problem.shape[1:])
    ]
    return sparse.csr_array(sparse.hstack(parts)).sqrt()


def best_start(
    attempt: Attempt, restarts: int, begun: Restarts, keep: Callable[[Restarts], None]
) -> Factors:
    """The best of several starts; ``keep`` is called after each but the last."""
    now = begun
    while now.tried < restarts:
        factors, loss = attempt(now)
        if now.factors is not None and not loss < now.loss:
            factors, loss = now.factors, now.loss
        now = Restarts(now.tried + 1, factors, loss)
        if now.tried < restarts:
            keep(now)
    assert now.factors is not None
    return now.factors


def kl_trial(
    problem: TransportProblem, rank: int, rng: np.random.Generator, number: int
) -> tuple[Factors, float]:
    """A short sparse KL factorization and its loss.

    Every other one starts from a clustering of the rows: random profiles alone often merge
    two components that do not part again.

    A step touches only the nonzeros: a fraction of one of SWIFT.
    """
    clustered = number % 2 == 0 and rank <= np.unique(problem.unfoldings[0].rows).size
    start = (cluster_start if clustered else random_start)(problem, rank, rng)
    return _fit_kl(problem, start, TRIAL_STEPS)


def finish_kl(problem: TransportProblem, best: Factors) -> Factors:
    """The best of the short factorizations, run a little longer and lifted off the zeros."""
    factors, _ = _fit_kl(problem, best, FULL_STEPS)
    mixed = [
        (1 - MIXED_IN) * factor + MIXED_IN * factor.mean(axis=0, keepdims=True)
        for factor in factors
    ]
    return normalize(mixed, range(problem.n_modes))


def kl_memberships(
    problem: TransportProblem, factors: Factors, steps: int = TRIAL_STEPS
) -> NDArray[np.float64]:
    """Memberships for profiles that stay, from a few steps of the sparse KL factorization."""
    now = [np.array(factors[0]), *factors[1:]]
    for _ in range(steps):
        numerators, _ = _kl_numerators(problem, problem.unfoldings[0], now)
        now[0] = update_rows(now, problem.n_modes * numerators[0])
    return now[0]


def _fit_kl(problem: TransportProblem, factors: Factors, steps: int) -> tuple[Factors, float]:
    """EM for KL(X || X^) on the nonzeros; returns the factors and the loss before the last step."""
    unfolding = problem.unfoldings[0]
    loss = np.inf
    for _ in range(steps):
        numerators, column_sums = _kl_numerators(problem, unfolding, factors)
        # KL up to what depends on the data alone: sum Delta log(Delta / X^) - mass + model mass.
        loss = float(column_sums[:, 1].sum() + factors[0].sum())
        n_modes = problem.n_modes
        factors = update_factors(factors, [n_modes * part for part in numerators], range(n_modes))
    return factors, loss


def _kl_numerators(
    problem: TransportProblem, unfolding: Unfolding, factors: Factors
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    stacked = np.concatenate(factors)
    first_rows = problem.first_rows
    own_sum = np.zeros_like(factors[0])
    other_sums = np.zeros_like(stacked)
    column_sums = np.empty((unfolding.n_columns, 4))
    places, shifts = unfolding.column_places + first_rows[1:], np.zeros_like(first_rows[1:])
    sweep_cells(
        Columns(unfolding.starts, unfolding.rows, places, problem.log_values[0]),
        Model(stacked, np.ascontiguousarray(factors[0])),
        PLAIN_KL,
        Numerators(True, own_sum, other_sums, shifts),
        column_sums,
    )
    return [own_sum, *np.split(other_sums, first_rows[1:])[1:]], column_sums
