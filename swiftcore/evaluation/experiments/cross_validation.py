"""Cross-validation of any methods under one protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.evaluation.experiments.checkpoints import (
    FAILED,
    Checkpoint,
    Task,
    compute_checkpoints,
)
from swiftcore.evaluation.experiments.result import ExperimentCallback
from swiftcore.evaluation.experiments.score_tables import Scored
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.trial import Trial, run_trial
from swiftcore.evaluation.methods.method import Method
from swiftcore.evaluation.protocol.folds import (
    Fold,
    Labels,
    make_folds,
    read_labels,
    without_small_classes,
)
from swiftcore.evaluation.protocol.preparation import choose_features


def score_methods(
    dataset: Dataset,
    methods: Sequence[Method],
    settings: ExperimentSettings,
    *,
    checkpoints: Path | None = None,
    progress: ExperimentCallback | None = None,
    variants: Sequence[Mapping[str, Any]] = ({},),
) -> Scored:
    """Run every method at every rank on every fold; the validation rows choose the setting.

    Parameters
    ----------
    variants : sequence of dict
        Fields of :class:`Trial` to set besides, one round each: noise levels, cost recipes.

    """
    labels = without_small_classes(dataset, read_labels(dataset), settings.least_class_size)
    folds = folds_of(dataset, labels, settings)
    digest = data_digest(dataset)
    binary = bool((dataset.tensor.values == 1).all())
    # the features of a fold are chosen once, not anew in each of its trials
    narrow = {
        fold: replace(dataset, tensor=choose_features(dataset, fold.train, settings.features))
        for fold in folds
    }
    wanted = [
        (trial, fold, method)
        for variant in variants
        for method in methods
        for rank in (settings.ranks if method.is_factorization else (0,))
        for fold in folds
        for trial in _trials(method, rank, fold, settings, variant, binary)
    ]
    tasks = [
        Task(
            trial.key(digest, settings.folds, method),
            trial.words,
            (narrow[fold], labels, fold, method, trial),
        )
        for trial, fold, method in wanted
    ]
    found = compute_checkpoints(tasks, run_trial, checkpoints, settings.jobs, progress)
    return Scored(labels, _chosen([trial for trial, _, _ in wanted], found, methods), settings)


def folds_of(dataset: Dataset, labels: Labels, settings: ExperimentSettings) -> list[Fold]:
    """The folds that the settings ask for."""
    return make_folds(
        dataset,
        labels,
        settings.folds,
        settings.repeats,
        settings.seed,
        settings.subsets,
        settings.subset_size,
    )


def _trials(
    method: Method,
    rank: int,
    fold: Fold,
    settings: ExperimentSettings,
    variant: Mapping[str, Any],
    binary: bool,
) -> list[Trial]:
    return [
        Trial(
            method.key,
            rank,
            json.dumps(dict(setting), sort_keys=True),
            fold.repeat,
            fold.number,
            features=settings.features,
            seed=settings.seed,
            subset=fold.subset,
            subset_size=settings.subset_size,
            least_class_size=settings.least_class_size,
            **variant,
        )
        for setting in method.settings(settings.quick, binary)
    ]


def _chosen(
    trials: Sequence[Trial], found: Sequence[Checkpoint], methods: Sequence[Method]
) -> pd.DataFrame:
    """Of all settings tried for the same place in the table, the one validation prefers."""
    kinds = {method.key: method.kind for method in methods}
    best: dict[tuple[Any, ...], tuple[tuple[float, ...], Trial, Checkpoint]] = {}
    for trial, part in zip(trials, found, strict=True):
        merit = (-np.inf,) if FAILED in part else tuple(part["merit"])
        if trial.place not in best or merit > best[trial.place][0]:
            best[trial.place] = (merit, trial, part)
    lines = [_line(trial, part, kinds) for _, trial, part in best.values()]
    return pd.DataFrame(lines)


def _line(trial: Trial, part: Checkpoint, kinds: Mapping[str, str]) -> dict[str, Any]:
    """One line of the table; a failed trial has no numbers but a reason."""
    setting = {**json.loads(trial.setting), **part.get("choice", {})}
    return {
        "method": trial.method,
        "kind": kinds[trial.method],
        "rank": trial.rank,
        "subset": trial.subset,
        "repeat": trial.repeat,
        "fold": trial.fold,
        "level": trial.level or 0.0,
        "draw": trial.draw,
        "recipe": trial.recipe,
        **{name: part.get(name, np.nan) for name in ("score", "validation", "second")},
        "seconds": part.get("seconds", 0.0),
        "setting": json.dumps(setting),
        "what": trial.words,
        "part": part,
    }
