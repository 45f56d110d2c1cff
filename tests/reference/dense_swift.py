"""SWIFT with explicit transport plans: slow, dense, double precision, for small cases only.

The problem, for a nonnegative tensor X of N modes, one cost matrix C_n per mode and the
model X^ = [[A_1, ..., A_N]]:

    min  sum_n  <C_n, T_n> - E(T_n) / rho + lambda * (KL(Delta_n || X^_(n)) + KL(Psi_n || X_(n)))

Every column of every unfolding is its own unbalanced transport problem with its own plan T.
Delta holds the row sums of the plans (model side), Psi their column sums (data side).
rho is called ``sharpness``, lambda ``marginal_weight``; E(T) = -sum T log T.

Order of columns: the mode-n unfolding here is ``numpy.moveaxis(X, n, 0).reshape(I_n, -1)``,
so the other modes keep their order and the last of them runs fastest. Nothing outside sees
it: marginals are folded back into tensors of the shape of X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, rel_entr

Array = NDArray[np.float64]
Arrays = Sequence[Array]


@dataclass(frozen=True)
class ObjectiveTerms:
    """The objective and its parts, each summed over the modes.

    ``entropy`` is E itself and the two divergences are bare:
    total = transport - entropy / sharpness + marginal_weight * (kl_model + kl_data).
    """

    transport: float
    entropy: float
    kl_model: float
    kl_data: float
    total: float


def log_kernel(cost: Array, sharpness: float) -> Array:
    """The kernel exponent: log K = -sharpness * C - 1."""
    return -sharpness * cost - 1.0


def relaxation(sharpness: float, marginal_weight: float) -> float:
    """The exponent phi = lambda rho / (lambda rho + 1) of the scaling equations."""
    return marginal_weight * sharpness / (marginal_weight * sharpness + 1.0)


def log_scalings(
    xhat: Array,
    x: Array,
    cost: Array,
    sharpness: float,
    marginal_weight: float,
    sweeps: int = 500,
    tol: float = 1e-13,
) -> tuple[Array, Array]:
    """The scalings log u and log v of one column; ``xhat`` and ``x`` positive, cost rows x support.

    They solve  log u = phi (log xhat - log K v),  log v = phi (log x - log K'u)  to ``tol``
    relative to the largest of them. The sharpness rises in steps, so that each solve starts
    near its answer. ``sweeps`` bounds the Newton steps at each of them.
    """
    level = min(sharpness, 10.0)
    log_v = np.zeros(len(x))
    while level < sharpness:
        _, log_v = _newton(log_v, xhat, x, cost, (level, marginal_weight), sweeps, 1e-4)
        higher = min(4.0 * level, sharpness)
        log_v *= higher / level
        level = higher
    return _newton(log_v, xhat, x, cost, (sharpness, marginal_weight), sweeps, tol)


def _log_shares(exponents: Array) -> tuple[Array, Array]:
    """Log of each entry's share of its row's sum of exponentials, and log of that sum."""
    top = exponents.max(axis=1, keepdims=True)
    log_sum = top + np.log(np.exp(exponents - top).sum(axis=1, keepdims=True))
    return exponents - log_sum, log_sum[:, 0]


def _newton(
    h: Array,
    xhat: Array,
    x: Array,
    cost: Array,
    settings: tuple[float, float],
    sweeps: int,
    tol: float,
) -> tuple[Array, Array]:
    """Minimise the dual of one column, a smooth convex function of h = log v.

    With u at its best for v, the row sums are Delta = xhat^phi (K v)^(1 - phi), the dual is
    ``lambda sum(x exp(-h / (lambda rho))) + (lambda + 1 / rho) sum(Delta)``, and its gradient
    says that the column sums of the plan are ``x exp(-h / (lambda rho))``.
    """
    rho, lam = settings
    phi, rest = relaxation(rho, lam), 1.0 / (lam * rho + 1.0)  # 1 - phi, without cancellation
    log_k, log_xhat, log_x = log_kernel(cost, rho), np.log(xhat), np.log(x)

    def row_sums(h: Array) -> tuple[Array, Array]:
        log_kv = _log_shares(log_k + h)[1]
        return np.exp(phi * log_xhat + rest * log_kv), log_kv

    def dual(h: Array) -> float:
        wanted = x * np.exp(-h / (lam * rho))
        return float(lam * wanted.sum() + (lam + 1.0 / rho) * row_sums(h)[0].sum())

    surplus = np.log((x * np.exp(-h / (lam * rho))).sum()) - np.log(row_sums(h)[0].sum())
    h = h + surplus / (1.0 / (lam * rho) + rest)  # the best common shift, in closed form
    converged = False
    for _ in range(sweeps):
        delta, log_kv = row_sums(h)
        log_u = phi * (log_xhat - log_kv)
        gap = np.abs(phi * (log_x - _log_shares(log_k.T + log_u)[1]) - h).max()
        if converged:
            return log_u, h
        converged = gap <= tol * max(1.0, np.abs(h).max())  # then one more step, to full precision
        goes = np.exp(log_k + h - log_kv[:, None])  # where the mass of each row goes
        plan = delta[:, None] * goes
        psi, wanted = plan.sum(axis=0), x * np.exp(-h / (lam * rho))
        hessian = np.diag(psi + wanted / (lam * rho)) - phi * plan.T @ goes
        step = np.linalg.solve(hessian, wanted - psi)
        slope, here, share = (psi - wanted) @ step / rho, dual(h), 1.0
        while share > 1e-6 and dual(h + share * step) > here + 1e-4 * share * slope + 1e-14 * here:
            share /= 2.0
        h = h + share * step
    raise RuntimeError(f"the scaling equations did not converge in {sweeps} steps (gap {gap:.1e})")


def solve_column(
    xhat: Array,
    x: Array,
    cost: Array,
    sharpness: float,
    marginal_weight: float,
    sweeps: int = 500,
    tol: float = 1e-13,
) -> Array:
    """The optimal plan of one column; mass moves only between places where xhat and x are not 0."""
    plan = np.zeros(cost.shape)
    rows, support = np.flatnonzero(xhat), np.flatnonzero(x)
    if len(rows) and len(support):
        used = cost[np.ix_(rows, support)]
        log_u, log_v = log_scalings(
            xhat[rows], x[support], used, sharpness, marginal_weight, sweeps, tol
        )
        # diag(u) K diag(v), written as row sums times shares: u and v may lie beyond e^(+-1e6),
        # where their logarithms are too coarse to be added up
        row_sums = xhat[rows] * np.exp(-log_u / (marginal_weight * sharpness))
        shares = np.exp(_log_shares(log_kernel(used, sharpness) + log_v)[0])
        plan[np.ix_(rows, support)] = row_sums[:, None] * shares
    return plan


def reconstruct(factors: Arrays) -> Array:
    """The dense tensor [[A_1, ..., A_N]]."""
    dense: Array = _components(factors).sum(axis=-1)
    return dense


def _components(factors: Arrays) -> Array:
    """The rank-one tensors side by side: shape I_1 x ... x I_N x R."""
    product = factors[0]
    for factor in factors[1:]:
        product = product[..., None, :] * factor
    return product


def _unfold(tensor: Array, mode: int) -> Array:
    return np.moveaxis(tensor, mode, 0).reshape(tensor.shape[mode], -1)


def _fold(matrix: Array, mode: int, shape: Sequence[int]) -> Array:
    others = [size for axis, size in enumerate(shape) if axis != mode]
    return np.moveaxis(matrix.reshape(shape[mode], *others), 0, mode)


def _plans(
    tensor: Array, model: Array, cost: Array, mode: int, sharpness: float, marginal_weight: float
) -> Array:
    """The plans of all columns of one unfolding: columns x I_n x I_n."""
    columns = zip(_unfold(model, mode).T, _unfold(tensor, mode).T, strict=True)
    return np.stack(
        [solve_column(xhat, x, cost, sharpness, marginal_weight) for xhat, x in columns]
    )


def marginals(
    tensor: Array, factors: Arrays, costs: Arrays, sharpness: float, marginal_weight: float
) -> tuple[list[Array], list[Array]]:
    """Delta_n and Psi_n of every mode, each folded back to the shape of the tensor."""
    model = reconstruct(factors)
    model_side, data_side = [], []
    for mode, cost in enumerate(costs):
        plans = _plans(tensor, model, cost, mode, sharpness, marginal_weight)
        model_side.append(_fold(plans.sum(axis=2).T, mode, tensor.shape))
        data_side.append(_fold(plans.sum(axis=1).T, mode, tensor.shape))
    return model_side, data_side


def divergence(p: Array, q: Array) -> float:
    """Generalized KL(p || q) = sum p log(p / q) - p + q, with 0 log 0 = 0."""
    return float((rel_entr(p, q) - p + q).sum())


def objective(
    tensor: Array, factors: Arrays, costs: Arrays, sharpness: float, marginal_weight: float
) -> ObjectiveTerms:
    """The objective at these factors and the plans that are optimal for them, term by term."""
    model = reconstruct(factors)
    transport = entropy = kl_model = kl_data = 0.0
    for mode, cost in enumerate(costs):
        plans = _plans(tensor, model, cost, mode, sharpness, marginal_weight)
        transport += float((cost * plans).sum())
        entropy += float(entr(plans).sum())
        kl_model += divergence(plans.sum(axis=2).T, _unfold(model, mode))
        kl_data += divergence(plans.sum(axis=1).T, _unfold(tensor, mode))
    total = transport - entropy / sharpness + marginal_weight * (kl_model + kl_data)
    return ObjectiveTerms(transport, entropy, kl_model, kl_data, total)


def sequential_step(
    tensor: Array,
    factors: Arrays,
    costs: Arrays,
    sharpness: float,
    marginal_weight: float,
    as_printed: bool = False,
) -> list[Array]:
    """One outer iteration of the paper: all plans, then the factors one after another.

    Every update sees the factors already updated, the plans stay. ``as_printed`` leaves out
    the division by N, as the paper's equation does: then the objective rises.
    """
    model_side, _ = marginals(tensor, factors, costs, sharpness, marginal_weight)
    total = np.sum(model_side, axis=0)
    divisor = 1 if as_printed else tensor.ndim
    updated = list(factors)
    for mode in range(tensor.ndim):
        updated[mode] = _multiplied(total, updated, mode, divisor)
    return updated


def projection_step(
    tensor: Array, factors: Arrays, costs: Arrays, sharpness: float, marginal_weight: float
) -> list[Array]:
    """One outer iteration for new rows: all plans, then only the first factor moves."""
    model_side, _ = marginals(tensor, factors, costs, sharpness, marginal_weight)
    return [_multiplied(np.sum(model_side, axis=0), factors, 0, tensor.ndim), *factors[1:]]


def _multiplied(total: Array, factors: Arrays, mode: int, divisor: int) -> Array:
    """A_n * ((sum_i Delta_i / X^) A_kr) / (divisor * 1 A_kr); where the others are 0, A_n stays."""
    others = [factor for axis, factor in enumerate(factors) if axis != mode]
    khatri_rao = _components(others).reshape(-1, factors[mode].shape[1])
    numerator = _unfold(_ratio(total, reconstruct(factors)), mode) @ khatri_rao
    denominator = divisor * khatri_rao.sum(axis=0)
    factor = factors[mode]
    return np.where(denominator > 0, factor * _ratio(numerator, denominator), factor)


def joint_step(
    tensor: Array, factors: Arrays, costs: Arrays, sharpness: float, marginal_weight: float
) -> list[Array]:
    """One outer iteration in which all factors move at once: EM for the Poisson CP model.

    The mean of the Delta_n plays the data. Component r takes its share of every cell; its
    total mass n_r goes into the first factor, and the columns of the others sum to 1. A
    component without mass gets a zero column there and keeps its other columns.
    """
    model_side, _ = marginals(tensor, factors, costs, sharpness, marginal_weight)
    data = np.mean(model_side, axis=0)
    taken = _ratio(data, reconstruct(factors))[..., None] * _components(factors)
    mass = taken.sum(axis=tuple(range(tensor.ndim)))
    updated = []
    for mode, factor in enumerate(factors):
        others = tuple(axis for axis in range(tensor.ndim) if axis != mode)
        share = taken.sum(axis=others)
        updated.append(share if mode == 0 else np.where(mass > 0, _ratio(share, mass), factor))
    return updated


def _ratio(numerator: Array, denominator: Array) -> Array:
    """The quotient, 0 where the denominator is 0: no mass can be there."""
    safe = np.where(denominator > 0, denominator, 1.0)
    return np.where(denominator > 0, numerator / safe, 0.0)
