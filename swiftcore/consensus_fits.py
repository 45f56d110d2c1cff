"""A consensus: many fits with other seeds, what they agree on, and one fit from there.

Fit i of N has the seed of the spec plus i, and sees all rows or a share of them. Their components
are grouped in two ways: all of them by average linkage, and around those of the fit with the lowest
objective. From the medians of both a fit goes on, and the better one is kept: that without two
components that are one, and of the lower objective. Then it takes over from the next best fits,
place by place, what makes it better still, and is fitted to the end. Everything follows from the
spec: neither workers nor interruptions change a bit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, SwiftError, refuse
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.fit_peak import fit_peak
from swiftcore.finished_fit import FinishedFit, kept_or_made
from swiftcore.fit_job import Factors, FitJob
from swiftcore.phenotypes.consensus import Agreement, agreement, around, clustered, twins
from swiftcore.phenotypes.exchange import exchanges
from swiftcore.progress import FitOutcome, FitProgress, FitsCallback, FitsProgress, ProgressCallback
from swiftcore.runtime.memory import usable_memory
from swiftcore.runtime.workers import Workers
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.tensor import SparseTensor, TensorSize

PARTNERS = 6  # fits from which the best one takes over what makes it better
LOOSER = 10.0  # by this factor the tolerance of the fits that are only compared
MIXED_IN = 0.02  # share of the uniform profile in a start: a weight of 0 would stay 0


class FitsStopped(SwiftError):
    """Somebody asked to stop before the fits were there; the finished ones are kept."""


@dataclass(frozen=True, eq=False)
class Watch:
    """Who follows a consensus, and where its state is kept.

    Attributes
    ----------
    fits : callable, optional
        Told about the fits that are compared; returns True to stop.
    last : callable, optional
        Told about every iteration of the last fit.
    checkpoint : FitCheckpoint, optional
    """

    fits: FitsCallback | None = None
    last: ProgressCallback | None = None
    checkpoint: FitCheckpoint | None = None


def fit_consensus(job: FitJob, n_jobs: int | None, watch: Watch) -> tuple[Any, Agreement]:
    """The model on which the fits of a spec agree, and how far they do.

    Raises
    ------
    FitsStopped
        When somebody asked to stop before the last fit began.
    """
    spec = job.spec
    _refuse_signed(spec.method)
    jobs, usual = Workers(n_jobs).n_jobs, replace(spec, consensus=1, consensus_rows=1.0)
    one = replace(job, spec=replace(usual, tolerance=LOOSER * spec.tolerance))
    seeds = range(spec.seed, spec.seed + spec.consensus)
    others = min(PARTNERS, spec.consensus - 1)
    team = _Team(spec.consensus + 1 + others, jobs, watch)
    fits = team.run([(_with_seed(one, seed, spec.consensus_rows), None) for seed in seeds])
    features = [fit.features for fit in fits]
    lowest, *next_best = sorted(fits, key=lambda fit: fit.objective)
    best = min(
        team.step(one, [clustered(features), around(lowest.features, features)]), key=_rating
    )
    for other in next_best[:others]:
        tried = team.step(one, exchanges(best.features, other.features))
        best = min([best, *tried], key=_rating)
    assert best.memberships is not None
    start, last = [best.memberships, *best.features], replace(job, spec=usual)
    while True:
        model = last.run(
            n_jobs,
            begin={"initial_factors": start},
            callback=watch.last,
            checkpoint=watch.checkpoint,
        )
        same = twins(model.factors_[1:])
        if not same or model.outcome_ is FitOutcome.STOPPED:
            return model, agreement(model.factors_[1:], features)
        start = _merged(model.factors_, *same[0])


def _with_seed(job: FitJob, seed: int, share: float) -> FitJob:
    """A fit with its own seed, which also draws its rows; the others stay without entries."""
    chosen = replace(job, spec=replace(job.spec, seed=seed))
    rows = job.tensor.shape[0]
    kept = max(1, round(share * rows))
    if kept == rows:
        return chosen
    drawn = np.zeros(rows, dtype=bool)
    rng = np.random.default_rng([seed, rows])
    drawn[rng.choice(rows, kept, replace=False)] = True
    inside = drawn[job.tensor.coordinates[:, 0]]
    tensor = job.tensor
    narrowed = SparseTensor(tensor.modes, tensor.coordinates[inside], tensor.values[inside])
    return replace(chosen, tensor=narrowed)


def _rating(fit: FinishedFit) -> tuple[bool, float]:
    """Less is better."""
    return bool(twins(fit.features)), fit.objective


def _refuse_signed(method: str) -> None:
    if factorization(method).signed:
        raise refuse(
            "consensus-signed",
            "Components whose weights have signs cannot be averaged over fits",
            "consensus",
            f"the method {method}",
            "Make one fit (consensus 1), or choose another method.",
            kind=InvalidSettings,
        )


def _start(tensor: SparseTensor, profiles: Factors) -> list[NDArray[np.float64]]:
    """Profiles lifted off their zeros; every row's own mass, equally on all components."""
    mass = np.bincount(tensor.coordinates[:, 0], tensor.values, minlength=tensor.shape[0])
    rank = profiles[0].shape[1]
    mixed = [
        (1 - MIXED_IN) * profile + MIXED_IN * profile.mean(axis=0, keepdims=True)
        for profile in profiles
    ]
    return [np.repeat(mass[:, None] / rank, rank, axis=1), *mixed]


def _merged(factors: Factors, first: int, second: int) -> list[NDArray[np.float64]]:
    """Two components as one, by their mass; the place of the second is left empty."""
    mass = factors[0][:, [first, second]].sum(axis=0)
    merged = [np.array(factor) for factor in factors]
    merged[0][:, first] += merged[0][:, second]
    for factor in merged[1:]:
        factor[:, first] = factor[:, [first, second]] @ (mass / mass.sum())
    for factor in merged:
        factor[:, second] = 0.0
    return merged


Asked = tuple[FitJob, Factors | None]


class _Team:
    """Runs fits side by side in threads, one worker each, as far as the memory goes."""

    def __init__(self, total: int, jobs: int, watch: Watch) -> None:
        self._total, self._jobs, self._watch = total, jobs, watch
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._began = time.perf_counter()
        self._begun = self._done = self._numbered = 0

    def step(self, job: FitJob, profiles: Sequence[Factors]) -> list[FinishedFit]:
        """Fits from such profiles; all of them count as one."""
        asked = [(job, _start(job.tensor, each)) for each in profiles]
        fits = self.run(asked, counted=0) if asked else []
        self._done += 1
        self._tell()
        return fits

    def run(self, asked: Sequence[Asked], counted: int = 1) -> list[FinishedFit]:
        """All of them, in their order."""
        jobs = _at_once(asked[0][0], min(self._jobs, len(asked)))
        inside = 1 if jobs > 1 else self._jobs
        numbers = range(self._numbered, self._numbered + len(asked))
        self._numbered += len(asked)
        # the BLAS is held here: the fits begin and end while others run
        with Workers(1), ThreadPoolExecutor(jobs) as pool:
            waiting = [
                pool.submit(self._one, number, each, inside, counted)
                for number, each in zip(numbers, asked, strict=True)
            ]
            try:
                return [one.result() for one in waiting]
            except BaseException:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _one(self, number: int, asked: Asked, n_jobs: int, counted: int) -> FinishedFit:
        (job, start), checkpoint = asked, self._watch.checkpoint

        def make() -> Any:
            part = None if checkpoint is None else checkpoint.part(number)
            model = job.run(
                n_jobs,
                begin={"initial_factors": start},
                callback=self._asked_to_stop,
                checkpoint=part,
            )
            if model.outcome_ is FitOutcome.STOPPED:
                raise _stopped(self._done, self._total)
            return model

        if self._stop.is_set():
            raise _stopped(self._done, self._total)
        place = None if checkpoint is None else checkpoint.part(number).path
        fit, kept = kept_or_made(place, job, start, make)
        with self._lock:
            self._done += counted
            self._begun += counted * kept
        self._tell()
        return fit

    def _asked_to_stop(self, _: FitProgress) -> bool:
        self._tell()
        return self._stop.is_set()

    def _tell(self) -> None:
        if self._watch.fits is None:
            return
        with self._lock:
            seconds = time.perf_counter() - self._began
            stand = FitsProgress(self._done, self._total, self._begun, seconds)
            if self._watch.fits(stand):
                self._stop.set()


def _at_once(job: FitJob, most: int) -> int:
    """How many fits run side by side: all, or one if the memory would not do."""
    one = fit_peak(TensorSize.of(job.tensor), job.spec, 1).fit
    return most if most * one <= usable_memory() else 1


def _stopped(done: int, total: int) -> FitsStopped:
    return refuse(
        "fits-stopped",
        "Stopped on request before the fits were compared",
        "consensus",
        f"{done} of {total} steps are finished and kept",
        "Start it again: it goes on from there.",
        kind=FitsStopped,
    )
