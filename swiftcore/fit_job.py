"""One fit, with everything it is made of at hand: entries weighed, costs built, labels read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.evaluation.methods.factorizations import make_model
from swiftcore.progress import ProgressCallback
from swiftcore.spec import ModelSpec
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.tensor import SparseTensor

Factors = Sequence[NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class FitJob:
    """What a fit is made of.

    Attributes
    ----------
    spec : ModelSpec
    tensor : SparseTensor
        The entries as they count.
    costs : list of ndarray, Neighbourhoods or None
        As ``swiftcore.model_costs`` gives them.
    labels : list or None
        The class of each row, None where it is not known.
    elsewhere : callable, optional
        Computes it in another process; gets the job, where it sets out and who is told.
    """

    spec: ModelSpec
    tensor: SparseTensor
    costs: list[Any] | None
    labels: Any
    elsewhere: Callable[[FitJob, Mapping[str, Any], ProgressCallback | None], Any] | None = None

    def run(
        self,
        n_jobs: int | None,
        *,
        begin: Mapping[str, Any] | None = None,
        callback: ProgressCallback | None = None,
        checkpoint: FitCheckpoint | None = None,
    ) -> Any:
        """The fitted estimator.

        Parameters
        ----------
        begin : mapping, optional
            Where the fit sets out, if not at a start of its own, as arguments of its method.
        checkpoint : FitCheckpoint, optional
            For the methods that keep their state; not where it is computed elsewhere.
        """
        if self.elsewhere is not None:
            return self.elsewhere(self, dict(begin or {}), callback)
        model = make_model(self.spec, n_jobs)
        kept: dict[str, Any] = dict(begin or {})
        if checkpoint is not None and "checkpoint" in signature(model.fit).parameters:
            kept["checkpoint"] = checkpoint
        return model.fit(
            self.tensor,
            self.costs,
            labels=self.labels,
            callback=callback,
            **kept,
        )
