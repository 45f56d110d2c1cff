"""The one door to every experiment, for the command line and the dashboard alike."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.data.summary import leaky_features
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.experiments import outcome_links
from swiftcore.evaluation.experiments.checkpoints import Stopped
from swiftcore.evaluation.experiments.cross_validation import (
    data_digest,
    evaluation_tables,
    score_methods,
    score_table,
)
from swiftcore.evaluation.experiments.result import Experiment, ExperimentCallback
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.stability import Refit, follow_phenotypes, summarise_matches
from swiftcore.evaluation.methods.catalogue import COST_METHODS, METHODS, REPEATABLE, usual_methods
from swiftcore.evaluation.protocol.folds import Labels, read_labels
from swiftcore.evaluation.protocol.preparation import choose_features
from swiftcore.evaluation.protocol.scores import METRIC_TITLES, metric_name
from swiftcore.fit_dataset import fit_baseline, fit_swift
from swiftcore.phenotypes.matching import FOUND_FROM

__all__ = [
    "ExperimentSettings",
    "Stopped",
    "cross_validate",
    "fit_swift",
    "link_outcome",
    "run_experiment",
    "sweep_noise",
]

Tables = dict[str, pd.DataFrame]
COMPARED_BY_ENTRIES = (
    "Where entries may be false, documents are compared by their entries, not by all their words; "
    "what survives at 0 % shows what that alone changes."
)


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
        raise refuse(
            "experiment-unknown",
            "There is no such experiment",
            "kind",
            repr(kind),
            f"Choose one of {', '.join(_EXPERIMENTS)}.",
            kind=InvalidSettings,
        )
    chosen = settings or ExperimentSettings()
    chosen = replace(chosen, methods=chosen.methods or _usual(kind, dataset, chosen))
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


def _evaluation(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    methods = [METHODS[key] for key in settings.methods]
    labels, chosen = score_methods(dataset, methods, settings, parts=parts, progress=progress)
    return evaluation_tables(labels, chosen, settings.folds), _about_labels(dataset, labels)


def _usual(kind: str, dataset: Dataset, settings: ExperimentSettings) -> tuple[str, ...]:
    if kind in ("ablation", "stability"):
        return ("swift",)
    return usual_methods(dataset, settings.features, quick=settings.quick)


def _refuse_methods(asked: Sequence[str], possible: Sequence[str], why: str) -> None:
    if wrong := [repr(key) for key in asked if key not in possible]:
        raise refuse(
            "method-unfit",
            why,
            "methods",
            ", ".join(wrong),
            f"Choose from {', '.join(possible)}.",
            kind=InvalidSettings,
        )


def _noise(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    levels = [level for level in settings.levels if level > 0]
    refits = [
        Refit("noise", draw, settings.seed, level=level)
        for level in levels
        for draw in range(settings.draws)
    ]
    notes = []
    if dataset.word_counts is not None:
        refits.insert(0, Refit("noise", 0, settings.seed))
        notes.append(COMPARED_BY_ENTRIES)
    survival = pd.concat(
        [
            _followed(dataset, settings, "swift", rank, refits, parts, progress).assign(rank=rank)
            for rank in settings.ranks
        ],
        ignore_index=True,
    )
    tables = {"survival": survival[["rank", "phenotype", "level", "draw", "cosine"]]}
    if dataset.outcome is None:
        return tables, {"found_from": FOUND_FROM, "notes": notes}
    variants = [{"level": 0.0, "draw": 0}] + [
        {"level": level, "draw": draw} for level in levels for draw in range(settings.draws)
    ]
    labels, chosen = score_methods(
        dataset,
        [METHODS[key] for key in settings.methods],
        settings,
        parts=parts,
        progress=progress,
        variants=variants,
    )
    tables["scores"] = score_table(
        chosen, "method", "kind", "rank", "level", "draw", "repeat", "fold", "score"
    )
    about = _about_labels(dataset, labels)
    return tables, about | {"found_from": FOUND_FROM, "notes": [*about["notes"], *notes]}


def _ablation(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    _refuse_methods(settings.methods, COST_METHODS, "A method uses no cost matrices")
    labels, chosen = score_methods(
        dataset,
        [METHODS[key] for key in settings.methods],
        settings,
        parts=parts,
        progress=progress,
        variants=[{"recipe": recipe} for recipe in settings.recipes],
    )
    scores = score_table(
        chosen, "method", "recipe", "rank", "repeat", "fold", "score", "validation"
    )
    return {"scores": scores}, _about_labels(dataset, labels)


def _stability(
    dataset: Dataset,
    settings: ExperimentSettings,
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> tuple[Tables, dict[str, Any]]:
    why = "A method needs labels, takes too long, or has no phenotypes"
    _refuse_methods(settings.methods, REPEATABLE, why)
    refits = [Refit("seed", run, settings.seed + 1 + run) for run in range(settings.seeds)] + [
        Refit("fold", run, settings.seed, without=run, n_parts=settings.folds)
        for run in range(settings.folds)
    ]
    matches, summaries = [], []
    for method, rank in product(settings.methods, settings.ranks):
        found = _followed(dataset, settings, method, rank, refits, parts, progress)
        matches.append(found.assign(method=method, rank=rank))
        summaries.append(summarise_matches(found).assign(method=method, rank=rank))
    tables = {
        "matches": pd.concat(matches, ignore_index=True)[
            ["method", "rank", "phenotype", "against", "run", "cosine"]
        ],
        "summary": pd.concat(summaries, ignore_index=True),
    }
    return tables, {"found_from": FOUND_FROM}


def _followed(
    dataset: Dataset,
    settings: ExperimentSettings,
    method: str,
    rank: int,
    refits: list[Refit],
    parts: Path | None,
    progress: ExperimentCallback | None,
) -> pd.DataFrame:
    # No row is tested here, so all of them choose the features.
    everyone = np.arange(dataset.tensor.shape[0])
    chosen = choose_features(dataset, everyone, settings.features)
    dataset = replace(dataset, tensor=chosen)
    if method == "swift":
        named: dict[str, Any] = {"rank": rank, **settings.fit}
        inside = 1 if settings.jobs != 1 else None
        fit = partial(fit_swift, rank=rank, fit=dict(settings.fit), n_jobs=inside)
    else:
        named = {"rank": rank, "method": method}
        fit = partial(fit_baseline, rank=rank, method=method)
    name = json.dumps(named, sort_keys=True, default=str)
    return follow_phenotypes(
        dataset,
        fit,
        name,
        refits,
        settings.seed,
        parts=parts,
        jobs=settings.jobs,
        progress=progress,
    )


def _about(dataset: Dataset, settings: ExperimentSettings) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
    return {
        "data": {
            "name": dataset.name,
            "digest": data_digest(dataset),
            "shape": list(dataset.tensor.shape),
            "entries": dataset.tensor.n_entries,
        },
        "settings": settings.plain(),
        "versions": {
            "python": platform.python_version(),
            "swift-phenotyping": version("swift-phenotyping"),
            **{name: version(name) for name in packages},
        },
        "notes": [],
    }


def _about_labels(dataset: Dataset, labels: Labels) -> dict[str, Any]:
    name = metric_name(len(labels.classes))
    notes = [str(one) for one in leaky_features(dataset.tensor, dataset.outcome)]
    words = dataset.tensor.shape[-1]
    if dataset.word_counts is not None and words < len(dataset.words):
        notes.append(
            f"The {words} words were chosen from all documents, those of the test "
            "folds too (not by their category). To choose them from "
            "training documents alone, build the data with all words and set the "
            "number of features."
        )
    missing = int((labels.codes < 0).sum())
    if missing:
        notes.append(f"{missing} rows have no outcome and were left out.")
    return {
        "metric": name,
        "metric_title": METRIC_TITLES[name],
        "chance": labels.chance,
        "classes": list(labels.classes),
        "outcome": dataset.outcome_name,
        "notes": notes,
    }


_EXPERIMENTS = {
    "evaluation": _evaluation,
    "noise": _noise,
    "ablation": _ablation,
    "stability": _stability,
}
