"""Fits that were finished for a consensus, kept in files until the consensus is there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.fit_job import Factors, FitJob
from swiftcore.runtime.sealed_arrays import DamagedArrays, read_sealed, write_sealed
from swiftcore.swift.fit_file import fit_key

logger = logging.getLogger(__name__)
FORMAT = "swift-finished-fit 1"  # raise it when a fit is written in another way


@dataclass(frozen=True, eq=False)
class FinishedFit:
    """What is kept of a fit.

    Attributes
    ----------
    features : list of ndarray
        Factors of all modes but the first.
    memberships : ndarray or None
        Only of fits that were given a start, of which there are few: rows may be many.
    objective : float
    """

    features: list[NDArray[np.float64]]
    memberships: NDArray[np.float64] | None
    objective: float


def kept_or_made(
    path: Path | None, job: FitJob, start: Factors | None, make: Callable[[], Any]
) -> tuple[FinishedFit, bool]:
    """A fit from its file, or computed now and kept; and whether it was there.

    Parameters
    ----------
    path : Path, optional
        Its file; a running fit may have kept its state there, which the finished one replaces.
    make : callable
        Gives the fitted estimator.
    """
    if path is None:
        return _of(make(), start), False
    key = _key(job, start)
    try:
        about, arrays = read_sealed(path)
        if about.get("finished") == FORMAT and about["key"] == key:
            memberships = arrays.pop("memberships", None)
            features = [arrays[f"factor_{mode}"] for mode in range(1, len(arrays) + 1)]
            return FinishedFit(features, memberships, float(about["objective"])), True
    except (FileNotFoundError, DamagedArrays, LookupError, TypeError):
        pass  # it begins anew
    fit = _of(make(), start)
    arrays = {f"factor_{mode}": factor for mode, factor in enumerate(fit.features, 1)}
    if fit.memberships is not None:
        arrays["memberships"] = fit.memberships
    try:
        write_sealed(path, {"finished": FORMAT, "key": key, "objective": fit.objective}, arrays)
    except OSError as error:  # a full disk: the consensus goes on without
        logger.warning("%s could not be written: %s", path.name, error.strerror or error)
    return fit, False


def _of(model: Any, start: Factors | None) -> FinishedFit:
    rows, *features = model.factors_
    return FinishedFit(features, None if start is None else rows, float(model.objective_))


def _key(job: FitJob, start: Factors | None) -> str:
    """Of all that the fit depends on."""
    costs = job.costs or [None] * job.tensor.n_modes
    settings = {"spec": job.spec.plain(), "labels": job.labels}
    return fit_key(job.tensor, costs, None if start is None else list(start), settings)
