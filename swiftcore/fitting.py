"""The one door to a fit: a data set and a spec go in, a fitted model comes out.

The command line, the dashboard's worker, evaluation, noise, stability and projection all come
through here, so that the model people see is fitted like the one that was judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.consensus_fits import Watch, fit_consensus
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, refuse
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.factorizations import make_model
from swiftcore.evaluation.methods.fit_peak import fit_peak
from swiftcore.evaluation.methods.guided import needs_labels
from swiftcore.evaluation.methods.memory_need import fit_need
from swiftcore.evaluation.methods.outcome_features import (
    check_method,
    learn_with_outcome,
    take_off_outcome,
    with_outcome,
)
from swiftcore.evaluation.methods.weighting import EntryWeighting
from swiftcore.evaluation.protocol.folds import read_labels
from swiftcore.fit_job import FitJob
from swiftcore.model_costs import Costs, model_costs
from swiftcore.model_file import ModelContents, read_model, write_model
from swiftcore.phenotypes.consensus import Agreement
from swiftcore.phenotypes.guidance import Guidance
from swiftcore.progress import FitOutcome, FitProgress, FitsCallback, ProgressCallback
from swiftcore.runtime.memory import usable_memory
from swiftcore.spec import ModelSpec
from swiftcore.spec.row_relation import RowRelation, explained
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.tensor import Mode, SparseTensor, TensorSize

Stage = Callable[[str], None]
"""Called with what begins now, in words."""
Place = Callable[[FitJob], FitJob]
Begin = Callable[[SparseTensor, Costs | None], dict[str, Any]]
"""Weighed rows and costs go in; where the fit sets out, as arguments of its method, comes out."""


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted factorization that knows what was done to its rows, and does it to new ones.

    Attributes
    ----------
    spec : ModelSpec
    model : Factorizer
        The fitted estimator.
    weighting : EntryWeighting
        What the spec asked for, as learnt from the rows of the fit.
    guidance : Guidance or None
        For a guided refit, what was asked of which result.
    agreement : Agreement, optional
        Of the fits behind a consensus.
    """

    spec: ModelSpec
    model: Any
    weighting: EntryWeighting
    guidance: Guidance | None = None
    agreement: Agreement | None = None

    @property
    def factors(self) -> list[NDArray[np.float64]]:
        """(mode size x rank) each; the first belongs to the rows and carries the weights."""
        return list(self.model.factors_)

    @property
    def memberships(self) -> NDArray[np.float64]:
        """How much of each component each row of the fit holds."""
        return self.factors[0]

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Names and labels of what was fitted."""
        return tuple(self.model.modes_)

    @property
    def digest(self) -> str:
        """SHA-256 of all factors, bit for bit."""
        sha = hashlib.sha256()
        for factor in self.factors:
            sha.update(np.ascontiguousarray(factor).data)
        return sha.hexdigest()

    @property
    def row_relation(self) -> RowRelation:
        """Between which rows mass moved, and why; nothing is said where a method moves none."""
        if not factorization(self.spec.method).uses("row_relation"):
            return RowRelation("none", "")
        kind = getattr(self.model, "row_relation_", "none")
        return explained(kind, self.spec.row_relation, len(self.memberships))

    @property
    def outcome(self) -> FitOutcome:
        """How the fit ended."""
        found: FitOutcome = self.model.outcome_
        return found

    @property
    def history(self) -> tuple[FitProgress, ...]:
        """The objective at every iteration, the start first."""
        return tuple(self.model.history_)

    def transform(
        self, new_rows: SparseTensor, *, max_iterations: int | None = None
    ) -> NDArray[np.float64]:
        """Memberships of new rows, each by itself: (rows x rank).

        Parameters
        ----------
        new_rows : SparseTensor
            With the features of the fit, in its order; weighed as the rows of the fit were.
        max_iterations : int, optional
            For SWIFT; by default 10 times the limit of the fit, at most 500.
        """
        rows = self.weighting.apply(new_rows)
        if factorization(self.spec.method).costs == "all":  # rows that exchange no mass
            found = self.model.transform(rows, independent=True, max_iterations=max_iterations)
        else:
            found = self.model.transform(rows)
        return np.asarray(found)

    def save(self, path: str | Path) -> None:
        """Write the model; a file that is already there stays whole until the new one is."""
        write_model(Path(path), self.contents())

    @classmethod
    def load(cls, path: str | Path) -> FittedModel:
        """Read what :meth:`save` wrote; raises InvalidData if it is no model or damaged."""
        stored = read_model(Path(path))
        model = make_model(stored.spec)
        stored.restore(model)
        return cls(
            stored.spec,
            model,
            EntryWeighting(**stored.weighting),
            stored.guidance,
            stored.agreement,
        )

    def contents(self) -> ModelContents:
        """What a file of the model holds."""
        contents = ModelContents.of(self.model, self.spec, vars(self.weighting))
        return replace(contents, guidance=self.guidance, agreement=self.agreement)


def fit_dataset(
    dataset: Dataset,
    spec: ModelSpec,
    *,
    labels: NDArray[np.int64] | None = None,
    callback: ProgressCallback | None = None,
    fits_callback: FitsCallback | None = None,
    n_jobs: int | None = None,
    stage: Stage | None = None,
    checkpoint: FitCheckpoint | None = None,
) -> FittedModel:
    """Factorize all rows of a data set.

    Parameters
    ----------
    dataset : Dataset
    spec : ModelSpec
    labels : ndarray of int, optional
        The class of each row, -1 where it is not known; by default those of the outcome. Only
        specs that ask for labels look at them.
    callback : callable, optional
        Gets a :class:`FitProgress` after each iteration of the fit, of a consensus after those
        of the last one; returns True to stop and keep what there is.
    fits_callback : callable, optional
        Gets a :class:`FitsProgress` while the fits of a consensus run, from their threads but
        never twice at once; returns True to stop, which raises ``FitsStopped``.
    n_jobs : int, optional
        Workers; None takes all cores. Results do not depend on it.
    stage : callable, optional
        Gets the name of each stage when it begins.
    checkpoint : FitCheckpoint, optional
        Where a fit of SWIFT keeps its state, and a consensus its finished fits, so that it can
        go on after it was stopped or killed. Single fits of other methods begin anew.

    Raises
    ------
    SwiftError
        With everything that is wrong with the spec or the data.
    """
    job, weighting = _prepare(dataset, spec, labels, n_jobs, stage)
    return _fitted(dataset, job, weighting, n_jobs, Watch(fits_callback, callback, checkpoint))


def fit_elsewhere(
    dataset: Dataset,
    spec: ModelSpec,
    place: Place,
    n_jobs: int | None,
    watch: Watch,
    stage: Stage | None = None,
) -> FittedModel:
    """Factorize all rows of a data set in other processes; the result is the same.

    Parameters
    ----------
    place : callable
        Gives a fit that is computed there for one that is not.
    n_jobs : int, optional
        How many fits are computed there at once.
    watch : Watch
        Who follows it, as in :func:`fit_dataset`.
    stage : callable, optional
        Gets the name of each stage when it begins.
    """
    job, weighting = _prepare(dataset, spec, None, n_jobs, stage)
    return _fitted(dataset, place(job), weighting, n_jobs, watch)


def _fitted(
    dataset: Dataset, job: FitJob, weighting: EntryWeighting, n_jobs: int | None, watch: Watch
) -> FittedModel:
    spec, agreed = job.spec, None
    if spec.consensus > 1:
        model, agreed = fit_consensus(job, n_jobs, watch)
    else:
        model = job.run(n_jobs, callback=watch.last, checkpoint=watch.checkpoint)
    if spec.outcome_share:
        take_off_outcome(model, weighting.apply(dataset.tensor))
        agreed = None if agreed is None else _as_fitted(agreed, model)
    return FittedModel(spec, model, weighting, agreement=agreed)


def fit_from(
    dataset: Dataset,
    spec: ModelSpec,
    begin: Begin,
    *,
    callback: ProgressCallback | None = None,
    n_jobs: int | None = None,
    stage: Stage | None = None,
    checkpoint: FitCheckpoint | None = None,
) -> FittedModel:
    """Factorize all rows of a data set once, from a start that is given.

    Parameters
    ----------
    begin : callable
        Where the fit sets out.
    dataset, spec, callback, n_jobs, stage, checkpoint
        As in :func:`fit_dataset`.
    """
    job, weighting = _prepare(dataset, spec, None, n_jobs, stage)
    begun = begin(job.tensor, job.costs)
    model = job.run(n_jobs, begin=begun, callback=callback, checkpoint=checkpoint)
    return FittedModel(spec, model, weighting)


def _prepare(
    dataset: Dataset,
    spec: ModelSpec,
    labels: NDArray[np.int64] | None,
    n_jobs: int | None,
    stage: Stage | None,
) -> tuple[FitJob, EntryWeighting]:
    """All that a fit is made of, and how later rows are weighed."""
    say = stage or (lambda words: None)
    make_model(spec, n_jobs)  # refuses what is wrong before anything is built
    need = fit_need(TensorSize.of(dataset.tensor), spec, n_jobs)
    need.refuse_beyond(usable_memory() + fit_peak(need.size, spec).before_costs)
    codes = _codes(dataset, spec) if labels is None else labels
    say("Comparing features")
    weighting, rows, costs = _weighed(dataset, spec, codes)
    say("Finding a start")
    known = None
    if codes is not None:
        known = [None if code < 0 else code for code in codes.tolist()]
    return FitJob(spec, rows, costs, known), weighting


def _weighed(
    dataset: Dataset, spec: ModelSpec, codes: NDArray[np.int64] | None
) -> tuple[EntryWeighting, SparseTensor, Costs | None]:
    """How later rows are weighed, what is factorized, and its costs."""
    if not spec.outcome_share:
        weighting = EntryWeighting.learn(dataset.tensor, spec, codes)
        return weighting, weighting.apply(dataset.tensor), model_costs(dataset, spec)
    check_method(spec)
    assert codes is not None  # the spec needs labels
    marked = replace(dataset, tensor=with_outcome(dataset.tensor, codes, spec.outcome_share))
    return *learn_with_outcome(dataset.tensor, spec, codes), model_costs(marked, spec)


def _as_fitted(agreed: Agreement, model: Any) -> Agreement:
    """The agreement on the features that are left in a model."""
    spread = [part[: len(own)] for part, own in zip(agreed.spread, model.factors_[1:], strict=True)]
    return replace(agreed, spread=spread)


def _codes(dataset: Dataset, spec: ModelSpec) -> NDArray[np.int64] | None:
    if not needs_labels(spec):
        return None
    if dataset.outcome is None:
        raise refuse(
            "labels-missing",
            "This model learns from an outcome, and the data have none",
            dataset.name,
            "no outcome",
            "Give the data an outcome, or choose a method and a weighting that need none.",
            kind=InvalidData,
        )
    return read_labels(dataset).codes
