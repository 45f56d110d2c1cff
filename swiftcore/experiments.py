"""The one door to every experiment, for the command line and the dashboard alike."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.cost import build_costs
from swiftcore.data.dataset import Dataset
from swiftcore.data.summary import telling_features
from swiftcore.errors import InvalidSettings, Problem
from swiftcore.evaluation import outcome_links
from swiftcore.evaluation.cross_validation import (
    data_digest,
    evaluation_tables,
    score_methods,
    score_table,
)
from swiftcore.evaluation.experiment import Experiment, ExperimentCallback
from swiftcore.evaluation.folds import Labels, read_labels
from swiftcore.evaluation.matching import FOUND_FROM
from swiftcore.evaluation.parts import Stopped
from swiftcore.evaluation.preparation import choose_features
from swiftcore.evaluation.scores import METRIC_TITLES, metric_name
from swiftcore.evaluation.settings import ExperimentSettings
from swiftcore.evaluation.stability import (
    N_SEEDS,
    Refit,
    follow_phenotypes,
    summarise_matches,
)
from swiftcore.factorization import Swift
from swiftcore.methods import METHODS, usual_methods

__all__ = ["ExperimentSettings", "Stopped", "cross_validate", "fit_swift", "link_outcome",
           "run_experiment", "sweep_noise"]  # fmt: skip

Tables = dict[str, pd.DataFrame]


def run_experiment(
    kind: str,
    dataset: Dataset,
    settings: ExperimentSettings | None = None,
    *,
    parts: Path | None = None,
    progress: ExperimentCallback | None = None,
) -> Experiment:
    """Run an experiment on a data set.

    Parameters
    ----------
    kind : {"evaluation", "noise", "ablation", "stability"}
        How well phenotypes predict the outcome beside other methods; what false entries do
        to that and to the phenotypes; what the cost matrices are worth; which phenotypes
        come back with other seeds and other rows.
    parts : Path, optional
        Folder in which finished parts are kept; an experiment asked for again goes on there.
    progress : callable, optional
        Gets an :class:`ExperimentProgress` after each part; returns True to stop, which
        raises :class:`Stopped`.
    """
    if kind not in _EXPERIMENTS:
        raise InvalidSettings(
            Problem("experiment-unknown", "There is no such experiment", "kind", repr(kind),
                    f"Choose one of {', '.join(_EXPERIMENTS)}.")
        )  # fmt: skip
    chosen = settings or ExperimentSettings()
    began = time.perf_counter()
    tables, more = _EXPERIMENTS[kind](dataset, chosen, parts, progress)
    about = _about(dataset, chosen) | more | {"seconds": time.perf_counter() - began}
    return Experiment(kind, about, tables)


def cross_validate(
    dataset: Dataset, settings: ExperimentSettings | None = None, **more: Any
) -> Experiment:
    """How well the phenotypes of several methods predict the outcome of new rows."""
    return run_experiment("evaluation", dataset, settings, **more)


def sweep_noise(
    dataset: Dataset, settings: ExperimentSettings | None = None, **more: Any
) -> Experiment:
    """What false entries do to the scores and to the phenotypes."""
    return run_experiment("noise", dataset, settings, **more)


def link_outcome(
    memberships: NDArray[np.float64], dataset: Dataset, seed: int = 0
) -> Experiment | None:
    """Lasso weights of a data set's outcome on the memberships of a fit; None without one."""
    if dataset.outcome is None:
        return None
    return outcome_links.link_outcome(memberships, read_labels(dataset), seed)


def fit_swift(
    dataset: Dataset, seed: int, rank: int, fit: Mapping[str, Any], n_jobs: int | None = None
) -> list[NDArray[np.float64]]:
    """Factors of SWIFT on all rows of a data set, with the settings of a fit."""
    options = {name: value for name, value in fit.items() if name in _MODEL_SETTINGS}
    model = Swift(rank, random_state=seed, n_jobs=n_jobs, **options)
    still = fit.get("row_cost", "as costs") == "none"
    costs: list[Any] = list(build_costs(
        dataset.tensor.select(0, [0]) if still else dataset.tensor,
        fit.get("costs", "cosine"), reference=dataset.tensor, seed=seed,
        word_counts=None if still else dataset.word_counts,
    ))  # fmt: skip
    model.fit(dataset.tensor, [None, *costs[1:]] if still else costs)
    return model.factors_


_MODEL_SETTINGS = {"sharpness", "marginal_weight", "max_iterations", "tolerance", "start",
                   "n_restarts", "dtype", "momentum"}  # fmt: skip


def _evaluation(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    methods = [METHODS[key] for key in _asked(dataset, settings)]
    labels, chosen = score_methods(dataset, methods, settings, parts=parts, progress=progress)
    return evaluation_tables(labels, chosen, settings.folds), _about_labels(dataset, labels)


def _asked(dataset: Dataset, settings: ExperimentSettings) -> tuple[str, ...]:
    return settings.methods or usual_methods(dataset, settings.features, quick=settings.quick)


def _noise(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    levels = [level for level in settings.levels if level > 0]
    refits = [
        Refit("noise", draw, settings.seed, level=level)
        for level in levels for draw in range(settings.draws)
    ]  # fmt: skip
    survival = _followed(dataset, settings, refits, parts, progress)
    tables = {"survival": survival[["phenotype", "level", "draw", "cosine"]]}
    if dataset.outcome is None:
        return tables, {"found_from": FOUND_FROM}
    keys = _asked(dataset, settings)
    variants = [{"level": 0.0, "draw": 0}] + [
        {"level": level, "draw": draw} for level in levels for draw in range(settings.draws)
    ]
    labels, chosen = score_methods(
        dataset, [METHODS[key] for key in keys], settings,
        parts=parts, progress=progress, variants=variants,
    )  # fmt: skip
    tables["scores"] = score_table(chosen, "method", "kind", "rank", "level", "draw", "repeat",
                                   "fold", "score")  # fmt: skip
    return tables, _about_labels(dataset, labels) | {"found_from": FOUND_FROM}


def _ablation(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    labels, chosen = score_methods(
        dataset, [METHODS["swift"]], settings, parts=parts, progress=progress,
        variants=[{"recipe": recipe} for recipe in settings.recipes],
    )  # fmt: skip
    scores = score_table(chosen, "recipe", "rank", "repeat", "fold", "score", "validation")
    return {"scores": scores}, _about_labels(dataset, labels)


def _stability(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    refits = [Refit("seed", run, settings.seed + 1 + run) for run in range(N_SEEDS)] + [
        Refit("fold", run, settings.seed, without=run, n_parts=settings.folds)
        for run in range(settings.folds)
    ]
    matches = _followed(dataset, settings, refits, parts, progress)
    tables = {
        "matches": matches[["phenotype", "against", "run", "cosine"]],
        "summary": summarise_matches(matches),
    }
    return tables, {"found_from": FOUND_FROM, "rank": settings.ranks[0]}


def _followed(
    dataset: Dataset,
    settings: ExperimentSettings,
    refits: list[Refit],
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> pd.DataFrame:
    rank = settings.ranks[0]
    # No row is tested here, so all of them choose the features.
    everyone = np.arange(dataset.tensor.shape[0])
    chosen = choose_features(dataset, everyone, settings.features)
    dataset = replace(dataset, tensor=chosen)
    name = json.dumps({"rank": rank, **settings.fit}, sort_keys=True, default=str)
    inside = 1 if settings.jobs != 1 else None
    fit = partial(fit_swift, rank=rank, fit=dict(settings.fit), n_jobs=inside)
    return follow_phenotypes(dataset, fit, name, refits, settings.seed, parts=parts,
                             jobs=settings.jobs, progress=progress)  # fmt: skip


def _about(dataset: Dataset, settings: ExperimentSettings) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
    return {
        "data": {"name": dataset.name, "digest": data_digest(dataset),
                 "shape": list(dataset.tensor.shape), "entries": dataset.tensor.n_entries},
        "settings": settings.plain(),
        "versions": {"python": platform.python_version(),
                     "swift-phenotyping": version("swift-phenotyping"),
                     **{name: version(name) for name in packages}},
        "notes": [],
    }  # fmt: skip


def _about_labels(dataset: Dataset, labels: Labels) -> dict[str, Any]:
    name = metric_name(len(labels.classes))
    notes = [str(one) for one in telling_features(dataset.tensor, dataset.outcome)]
    missing = int((labels.codes < 0).sum())
    if missing:
        notes.append(f"{missing} rows have no outcome and were left out.")
    return {"metric": name, "metric_title": METRIC_TITLES[name], "chance": labels.chance,
            "classes": list(labels.classes), "outcome": dataset.outcome_name,
            "notes": notes}  # fmt: skip


_EXPERIMENTS = {
    "evaluation": _evaluation,
    "noise": _noise,
    "ablation": _ablation,
    "stability": _stability,
}
