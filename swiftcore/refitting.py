"""A finished result fitted again with a person's changes: a data set, a model and steps go in.

It comes through the same door as every fit, with the same weighting and costs; only its start is
the result itself, changed as asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, InvalidSettings, refuse
from swiftcore.evaluation.methods.guided import needs_labels
from swiftcore.fitting import FittedModel, Stage, fit_from
from swiftcore.model_costs import Costs
from swiftcore.phenotypes.guidance import Guidance, Step
from swiftcore.phenotypes.guidance_checks import find_changes, guided_spec
from swiftcore.progress import ProgressCallback
from swiftcore.runtime.sealed_arrays import array_digest
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.guided_start import guided_start
from swiftcore.tensor import SparseTensor


def refit(
    dataset: Dataset,
    parent: FittedModel,
    steps: Iterable[Step],
    *,
    callback: ProgressCallback | None = None,
    n_jobs: int | None = None,
    stage: Stage | None = None,
    checkpoint: FitCheckpoint | None = None,
) -> FittedModel:
    """Merge, split, drop, pin and seed, then fit by SWIFT to convergence from there.

    Pinned phenotypes keep their profiles bit for bit, dropped features stay at zero, and the
    objective never rises on the way.

    Parameters
    ----------
    dataset : Dataset
        The data of the result.
    parent : FittedModel
        The result; a fit of SWIFT.
    steps : iterable of Merge, Split, Drop, Pin or Seed
    callback, n_jobs, stage, checkpoint
        As in :func:`swiftcore.fitting.fit_dataset`.

    Raises
    ------
    SwiftError
        With everything that cannot be done.
    """
    _check_parent(dataset, parent)
    changes = find_changes(steps, parent.modes, parent.factors)

    def begin(rows: SparseTensor, costs: Costs | None) -> dict[str, Any]:
        known = costs or [None] * rows.n_modes
        start = guided_start(rows, parent.factors, changes, known, parent.spec.sharpness)
        return {"initial_factors": start, "pinned": changes.pinned()}

    fitted = fit_from(
        dataset,
        guided_spec(parent.spec, changes),
        begin,
        callback=callback,
        n_jobs=n_jobs,
        stage=stage,
        checkpoint=checkpoint,
    )
    by_outcome = needs_labels(parent.spec) or bool(parent.guidance and parent.guidance.by_outcome)
    guidance = Guidance(model_digest(parent), changes.steps(parent.modes), by_outcome)
    return replace(fitted, guidance=guidance)


def model_digest(fitted: FittedModel) -> str:
    """32 hex digits of the factors: what a refit calls its parent."""
    arrays = {f"factor_{axis}": factor for axis, factor in enumerate(fitted.factors)}
    return array_digest("", arrays)[:32]


def _check_parent(dataset: Dataset, parent: FittedModel) -> None:
    if parent.spec.method != "swift":
        raise refuse(
            "refit-method",
            "Only a result of SWIFT can be changed and refitted",
            "the result",
            f"one of {parent.spec.method}",
            "Fit the data by SWIFT first.",
            kind=InvalidSettings,
        )
    if dataset.tensor.modes != parent.modes:
        raise refuse(
            "refit-data",
            "These are not the data of the result",
            dataset.name[:60],
            "other rows or features, or in another order",
            "Give the data that were fitted, read in the same way.",
            kind=InvalidData,
        )
