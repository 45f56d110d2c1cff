"""joblib runs the column blocks; BLAS is held to one thread while it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import joblib.parallel
import scipy.linalg.cython_blas  # noqa: F401  the BLAS that compiled code calls: load it before it is held
from joblib import Parallel, delayed, effective_n_jobs
from joblib._parallel_backends import ThreadingBackend
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController


class PromptThreads(ThreadingBackend):  # type: ignore[misc]
    """joblib's threads, but results are waited for and not asked for every 10 ms.

    A sweep takes some tens of milliseconds: polling would cost a tenth of it.
    """

    supports_retrieve_callback = False

    def retrieve_result(self, out: Any, timeout: float | None = None) -> Any:
        """Wait for a task; what it raised is raised here."""
        return self.retrieve_result_callback(out.get(timeout))


class Workers:
    """A team that works through lists of tasks, for the length of a ``with`` block.

    Threads by default: the compiled loops and BLAS release the interpreter lock. A
    surrounding ``joblib.parallel_config(backend=...)`` moves the same tasks to processes or
    to a cluster. Results come back in task order and no task knows how many workers there
    are, so every number is the same for any ``n_jobs``.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib; ``None`` takes all cores, or what a surrounding ``parallel_config`` says.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        everything = n_jobs is None and not _config_is_active()
        self.n_jobs = effective_n_jobs(-1 if everything else n_jobs)
        active, _ = get_active_backend(prefer="threads")
        chosen = PromptThreads() if type(active) is ThreadingBackend else None
        self._parallel = Parallel(n_jobs=self.n_jobs, backend=chosen, batch_size=1)

    def __enter__(self) -> Workers:
        # BLAS, and the OpenMP of the clustering that may make the start
        self._blas = ThreadpoolController().limit(limits=1)
        self._parallel.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._parallel.__exit__(kind, error, trace)
        self._blas.restore_original_limits()

    def run(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], work: Sequence[float]
    ) -> list[Any]:
        """``[function(*task) for task in tasks]``; ``work`` is what each is expected to cost."""
        if self.n_jobs == 1 or len(tasks) == 1:
            return [function(*task) for task in tasks]
        bundles = _even_bundles(work, self.n_jobs)
        done = self._parallel(
            delayed(_run_bundle)(function, [tasks[index] for index in bundle], os.getpid())
            for bundle in bundles
        )
        results: list[Any] = [None] * len(tasks)
        for bundle, values in zip(bundles, done, strict=True):
            for index, value in zip(bundle, values, strict=True):
                results[index] = value
        return results


def _config_is_active() -> bool:
    """Whether the caller stands inside ``joblib.parallel_config``, which then decides."""
    config = getattr(joblib.parallel._backend, "config", None)
    return config is not None and config is not joblib.parallel.default_parallel_config


def _even_bundles(work: Sequence[float], n_bundles: int) -> list[list[int]]:
    """Deal tasks out, the costliest first, each to the bundle with the least work so far."""
    bundles: list[list[int]] = [[] for _ in range(n_bundles)]
    loads = [0.0] * n_bundles
    for index in sorted(range(len(work)), key=lambda index: -work[index]):
        lightest = loads.index(min(loads))
        bundles[lightest].append(index)
        loads[lightest] += work[index]
    return [bundle for bundle in bundles if bundle]


def _run_bundle(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], owner: int
) -> list[Any]:
    if os.getpid() != owner:  # a process of its own: hold its BLAS too
        ThreadpoolController().limit(limits=1, user_api="blas")
    return [function(*task) for task in tasks]
