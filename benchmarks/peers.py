"""Other people's tensor factorizations on the same tensor and rank, timed.

Every function warms its method up first (compilation, caches), starts it from the same random
nonnegative factors and lets it stop by its own rule. What one iteration is differs:

===================  ============================================  =========================
function             one iteration                                 its own stopping rule
===================  ============================================  =========================
``run_cp_als``       all modes once, least squares                 fit changes by < 1e-4
``run_cp_apr``       all modes, up to 10 inner updates each        KKT violation < 1e-4
``run_gcp``          an epoch of 100 stochastic gradient steps     loss rises in two epochs
``run_nn_parafac``   all modes once, dense, multiplicative         error changes by < 1e-4
===================  ============================================  =========================
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyttb.cp_als import cp_als
from pyttb.cp_apr import cp_apr
from pyttb.gcp.handles import Objectives
from pyttb.gcp.optimizers import Adam
from pyttb.gcp_opt import gcp_opt
from pyttb.ktensor import ktensor
from pyttb.sptensor import sptensor
from tensorly.cp_tensor import CPTensor  # type: ignore[import-untyped]
from tensorly.decomposition import non_negative_parafac  # type: ignore[import-untyped]

from swiftcore.tensor import SparseTensor

Array = NDArray[np.float64]
TOLERANCE = 1e-4
STEPS_PER_EPOCH = 100


@dataclass(frozen=True)
class PeerResult:
    """What one method took and reached.

    Attributes
    ----------
    method : str
    iterations : int
    seconds_per_iteration : float
    seconds : float
        Of the whole run: the time to convergence if ``converged``, else to the limit.
    converged : bool
        Whether the method stopped by its own rule.
    stopping_rule : str
    fit : float
    fit_measure : str
        What ``fit`` is; each method is judged by its own loss.
    """

    method: str
    iterations: int
    seconds_per_iteration: float
    seconds: float
    converged: bool
    stopping_rule: str
    fit: float
    fit_measure: str


def run_cp_als(
    tensor: SparseTensor, rank: int, seed: int = 0, max_iterations: int = 200
) -> PeerResult:
    """CP by alternating least squares (pyttb ``cp_als``, sparse)."""
    data, start = _pyttb_tensor(tensor), _start(tensor, rank, seed)

    def run(limit: int) -> Any:
        init = ktensor([factor.copy() for factor in start])
        return cp_als(data, rank, TOLERANCE, limit, init=init, printitn=0)[2]

    output, seconds = _timed(run, max_iterations)
    iterations = int(output["iters"]) + 1  # pyttb gives the index of the last one
    return PeerResult(
        "pyttb cp_als",
        iterations,
        seconds / iterations,
        seconds,
        iterations < max_iterations,
        f"fit changes by less than {TOLERANCE:g}",
        float(output["fit"]),
        "1 - |X - M| / |X|",
    )


def run_cp_apr(
    tensor: SparseTensor,
    rank: int,
    seed: int = 0,
    max_iterations: int = 200,
    max_seconds: float = 60.0,
) -> PeerResult:
    """Poisson CP by multiplicative updates (pyttb ``cp_apr``, sparse)."""
    data, start = _pyttb_tensor(tensor), _start(tensor, rank, seed)

    def run(limit: int) -> Any:
        init = ktensor([factor.copy() for factor in start])
        return cp_apr(data, rank, "mu", TOLERANCE, max_seconds, limit, init=init, printitn=0)[2]

    output, seconds = _timed(run, max_iterations)
    violations = output["kktViolations"]
    return PeerResult(
        "pyttb cp_apr",
        len(violations),
        seconds / len(violations),
        seconds,
        bool(violations[-1] < TOLERANCE),
        f"KKT violation below {TOLERANCE:g}",
        float(output["obj"]),
        "Poisson log-likelihood",
    )


def run_gcp(
    tensor: SparseTensor,
    rank: int,
    seed: int = 0,
    max_epochs: int = 20,
    loss: Objectives = Objectives.POISSON,
) -> PeerResult:
    """Generalized CP by Adam on stratified samples (pyttb ``gcp_opt``, sparse).

    Bernoulli losses take a yes or no per cell: counts are made 1. The Gamma loss has no
    minimum where a cell is 0, so its value only measures how near to 0 the model went.
    """
    binary = loss in (Objectives.BERNOULLI_ODDS, Objectives.BERNOULLI_LOGIT)
    data, start = _pyttb_tensor(tensor, binary), _start(tensor, rank, seed)

    def run(limit: int) -> Any:
        init = ktensor([factor.copy() for factor in start])
        optimizer = Adam(epoch_iters=STEPS_PER_EPOCH, max_iters=limit, printitn=0)
        with _global_seed(seed):
            return gcp_opt(data, rank, loss, optimizer, init, printitn=0)[2]

    output, seconds = _timed(run, max_epochs)
    epochs = int(output["n_epoch"]) + 1
    return PeerResult(
        f"pyttb gcp_opt {loss.name.lower()}",
        epochs,
        seconds / epochs,
        seconds,
        epochs < max_epochs,
        "the estimated loss rises in two epochs",
        float(np.min(output["f_est_trace"])),
        "loss estimated on a sample of cells",
    )


def run_nn_parafac(
    tensor: SparseTensor, rank: int, seed: int = 0, max_iterations: int = 200
) -> PeerResult:
    """Nonnegative CP by multiplicative updates (tensorly ``non_negative_parafac``, dense)."""
    dense, start = tensor.to_dense(), _start(tensor, rank, seed)

    def run(limit: int) -> Any:
        init = CPTensor((np.ones(rank), [factor.copy() for factor in start]))
        return non_negative_parafac(
            dense, rank, n_iter_max=limit, init=init, tol=TOLERANCE, return_errors=True
        )[1]

    errors, seconds = _timed(run, max_iterations)
    return PeerResult(
        "tensorly non_negative_parafac",
        len(errors),
        seconds / len(errors),
        seconds,
        len(errors) < max_iterations,
        f"relative error changes by less than {TOLERANCE:g}",
        1.0 - float(errors[-1]),
        "1 - |X - M| / |X|",
    )


def _timed(run: Callable[[int], Any], limit: int) -> tuple[Any, float]:
    """Warm up with two iterations, then run to the limit; the output and its seconds."""
    run(2)
    started = time.perf_counter()
    output = run(limit)
    return output, time.perf_counter() - started


def _start(tensor: SparseTensor, rank: int, seed: int) -> list[Array]:
    """Uniform random factors whose reconstruction has the mass of the tensor."""
    random = np.random.default_rng(seed)
    factors = [random.random((size, rank)) for size in tensor.shape]
    mass = np.prod([factor.sum(axis=0) for factor in factors], axis=0).sum()
    scale = (tensor.values.sum() / mass) ** (1.0 / tensor.n_modes)
    return [scale * factor for factor in factors]


def _pyttb_tensor(tensor: SparseTensor, binary: bool = False) -> Any:
    values = np.ones_like(tensor.values) if binary else tensor.values
    return sptensor(tensor.coordinates.copy(), values[:, None].copy(), tensor.shape)


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, the only one pyttb's sampler knows; then put it back."""
    state = np.random.get_state()
    np.random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(state)
