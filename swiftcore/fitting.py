"""The one door to a fit: a data set and a spec go in, a fitted model comes out.

The command line, the dashboard's worker, evaluation, noise, stability and projection all come
through here, so that the model people see is fitted like the one that was judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost import build_costs
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, refuse
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.factorizations import make_model
from swiftcore.evaluation.methods.fit_peak import fit_peak
from swiftcore.evaluation.methods.memory_need import fit_need
from swiftcore.evaluation.methods.weighting import EntryWeighting
from swiftcore.evaluation.protocol.folds import read_labels
from swiftcore.model_file import ModelContents, read_model, write_model
from swiftcore.progress import FitOutcome, FitProgress, ProgressCallback
from swiftcore.runtime.memory import usable_memory
from swiftcore.spec import ModelSpec
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.tensor import Mode, SparseTensor, TensorSize

Stage = Callable[[str], None]
"""Called with what begins now, in words."""


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
    """

    spec: ModelSpec
    model: Any
    weighting: EntryWeighting

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
            For SWIFT; by default 10 times the limit of the fit.
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
        return cls(stored.spec, model, EntryWeighting(**stored.weighting))

    def contents(self) -> ModelContents:
        """What a file of the model holds."""
        return ModelContents.of(self.model, self.spec, vars(self.weighting))


def fit_dataset(
    dataset: Dataset,
    spec: ModelSpec,
    *,
    labels: NDArray[np.int64] | None = None,
    callback: ProgressCallback | None = None,
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
        Gets a :class:`FitProgress` after each iteration; returns True to stop.
    n_jobs : int, optional
        Workers; None takes all cores. Results do not depend on it.
    stage : callable, optional
        Gets the name of each stage when it begins.
    checkpoint : FitCheckpoint, optional
        Where a fit of SWIFT keeps its state, so that it can go on after it was stopped or
        killed. The other methods take no notice of it: they begin anew.

    Raises
    ------
    SwiftError
        With everything that is wrong with the spec or the data.
    """
    say = stage or (lambda words: None)
    model = make_model(spec, n_jobs)
    need = fit_need(TensorSize.of(dataset.tensor), spec, n_jobs)
    need.refuse_beyond(usable_memory() + fit_peak(need.size, spec).before_costs)
    codes = _codes(dataset, spec) if labels is None else labels
    weighting = EntryWeighting.learn(dataset.tensor, spec, codes)
    say("Comparing features")
    costs = model_costs(dataset, spec)
    say("Finding a start")
    known: Any = None
    if codes is not None:
        known = [None if code < 0 else code for code in codes.tolist()]
    kept: dict[str, Any] = {}
    if checkpoint is not None and "checkpoint" in signature(model.fit).parameters:
        kept["checkpoint"] = checkpoint
    model.fit(weighting.apply(dataset.tensor), costs, labels=known, callback=callback, **kept)
    return FittedModel(spec, model, weighting)


def needs_labels(spec: ModelSpec) -> bool:
    """Whether a fit of this spec looks at the outcome."""
    return factorization(spec.method).needs_labels or spec.label_weighting > 0


def _codes(dataset: Dataset, spec: ModelSpec) -> NDArray[np.int64] | None:
    if not needs_labels(spec):
        return None
    if dataset.outcome is None:
        raise refuse(
            "labels-missing",
            "This model learns from an outcome, and the data have none",
            dataset.name,
            "no outcome",
            "Give the data an outcome, or choose another method or no label weighting.",
            kind=InvalidData,
        )
    return read_labels(dataset).codes


def model_costs(dataset: Dataset, spec: ModelSpec) -> list[NDArray[np.float64] | None] | None:
    """One cost per mode, None where no mass moves; None for a method that uses none.

    Without a row cost the largest matrix is never built.
    """
    used = factorization(spec.method).costs
    if used == "none":
        return None
    # The random recipe draws the rows' costs first, so they are drawn even if nobody uses them.
    fixed = spec.row_cost == "none" or (used == "features" and spec.costs != "random")
    tensor = dataset.tensor
    costs = build_costs(
        tensor.select(0, [0]) if fixed else tensor,
        spec.costs,
        reference=tensor,
        seed=spec.seed,
        word_counts=None if fixed else dataset.word_counts,
    )
    return [None if fixed else costs[0], *costs[1:]]
