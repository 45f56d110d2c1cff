"""A factorization of all rows of a data set by the name of its method, with its usual costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost import build_costs
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.methods.catalogue import BASELINES
from swiftcore.swift import Swift


def fit_swift(
    dataset: Dataset, seed: int, rank: int, fit: Mapping[str, Any], n_jobs: int | None = None
) -> list[NDArray[np.float64]]:
    """Factors of SWIFT on all rows of a data set, with the settings of a fit."""
    options = {name: value for name, value in fit.items() if name in _MODEL_SETTINGS}
    model = Swift(rank, random_state=seed, n_jobs=n_jobs, **options)
    still = fit.get("row_cost", "as costs") == "none"
    costs: list[Any] = list(
        build_costs(
            dataset.tensor.select(0, [0]) if still else dataset.tensor,
            fit.get("costs", "cosine"),
            reference=dataset.tensor,
            seed=seed,
            word_counts=None if still else dataset.word_counts,
        )
    )
    model.fit(dataset.tensor, [None, *costs[1:]] if still else costs)
    return model.factors_


def fit_baseline(dataset: Dataset, seed: int, rank: int, method: str) -> list[NDArray[np.float64]]:
    """Factors of another factorization on all rows of a data set, with its usual settings."""
    model: Any = BASELINES[method](rank, random_state=seed)  # type: ignore[call-arg]
    costs = build_costs(dataset.tensor.select(0, [0]), reference=dataset.tensor)
    model.fit(dataset.tensor, [None, *costs[1:]])
    return list(model.factors_)


_MODEL_SETTINGS = {
    "sharpness",
    "marginal_weight",
    "max_iterations",
    "tolerance",
    "start",
    "n_restarts",
    "dtype",
    "momentum",
}
