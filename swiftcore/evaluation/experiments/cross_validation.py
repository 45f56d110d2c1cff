"""Cross-validation of any methods under one protocol, and tables of what came out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix

from swiftcore.data.dataset import Dataset
from swiftcore.errors import refuse
from swiftcore.evaluation.experiments.checkpoints import (
    FAILED,
    Checkpoint,
    Task,
    compute_checkpoints,
)
from swiftcore.evaluation.experiments.result import ExperimentCallback
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.trial import Trial, run_trial
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.evaluation.methods.method import Method
from swiftcore.evaluation.protocol.folds import Fold, Labels, make_folds, read_labels
from swiftcore.evaluation.protocol.preparation import choose_features
from swiftcore.evaluation.protocol.scores import (
    RECALLS,
    paired_interval,
    pr_curve,
    summarise,
)


def data_digest(dataset: Dataset) -> str:
    """Of everything in a data set that an experiment can see."""
    sha = hashlib.sha256(dataset.tensor.digest().encode())
    if dataset.outcome is not None:
        sha.update("\n".join(str(value) for value in dataset.outcome).encode())
    if dataset.word_counts is not None:
        counts = dataset.word_counts.tocsr()
        for array in (counts.data, counts.indices, counts.indptr):
            sha.update(np.ascontiguousarray(array).tobytes())
    sha.update("\n".join(dataset.row_groups).encode())
    return sha.hexdigest()


def score_methods(
    dataset: Dataset,
    methods: Sequence[Method],
    settings: ExperimentSettings,
    *,
    checkpoints: Path | None = None,
    progress: ExperimentCallback | None = None,
    variants: Sequence[Mapping[str, Any]] = ({},),
) -> tuple[Labels, pd.DataFrame]:
    """Run every method at every rank on every fold; the validation rows choose the setting.

    Parameters
    ----------
    variants : sequence of dict
        Fields of :class:`Trial` to set besides, one round each: noise levels, cost recipes.

    Returns
    -------
    Labels
    DataFrame
        One line per method, rank, fold and variant, with the part that the validation rows
        chose among all settings of the grid in the column ``part``.
    """
    labels = read_labels(dataset)
    folds = make_folds(dataset, labels, settings.folds, settings.repeats, settings.seed)
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
            trial.key(digest, settings.folds),
            trial.words,
            (narrow[fold], labels, fold, method, trial),
        )
        for trial, fold, method in wanted
    ]
    found = compute_checkpoints(tasks, run_trial, checkpoints, settings.jobs, progress)
    return labels, _chosen([trial for trial, _, _ in wanted], found, methods)


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
    if all(FAILED in part for _, _, part in best.values()):
        _, trial, part = next(iter(best.values()))
        raise refuse(
            "all-failed", "No method came to a score", trial.words, part[FAILED], "Fix that first."
        )
    lines = [_line(trial, part, kinds) for _, trial, part in best.values()]
    return pd.DataFrame(lines)


def _line(trial: Trial, part: Checkpoint, kinds: Mapping[str, str]) -> dict[str, Any]:
    """One line of the table; a failed trial has no numbers but a reason."""
    setting = {**json.loads(trial.setting), **part.get("choice", {})}
    return {
        "method": trial.method,
        "kind": kinds[trial.method],
        "rank": trial.rank,
        "repeat": trial.repeat,
        "fold": trial.fold,
        "level": trial.level or 0.0,
        "draw": trial.draw,
        "recipe": trial.recipe,
        **{name: part.get(name, np.nan) for name in ("score", "validation", "second")},
        "seconds": part["seconds"],
        "setting": json.dumps(setting),
        "part": part,
    }


def failures(chosen: pd.DataFrame) -> pd.DataFrame:
    """The places in the table without a score: method, rank, level, recipe, fold, reason."""
    failed = chosen[[FAILED in part for part in chosen["part"]]]
    reasons = [part[FAILED] for part in failed["part"]]
    places = failed[["method", "rank", "level", "recipe", "repeat", "fold"]]
    return places.assign(reason=reasons).reset_index(drop=True)


def failure_notes(failed: pd.DataFrame) -> list[str]:
    """A sentence for each method and rank that failed somewhere."""
    return [
        f"{title_of(str(method))}{f' with {rank} components' if rank else ''} failed "
        f"{len(group)} times and has no score there: {group['reason'].iloc[0]}"
        for (method, rank), group in failed.groupby(["method", "rank"], sort=False)
    ]


def score_table(chosen: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The named columns of what was chosen."""
    return chosen[list(columns)].reset_index(drop=True)


def evaluation_tables(labels: Labels, chosen: pd.DataFrame, n_folds: int) -> dict[str, Any]:
    """Scores, summary, paired comparisons, curves or confusion: the tables of an evaluation."""
    scores = score_table(
        chosen,
        "method",
        "kind",
        "rank",
        "repeat",
        "fold",
        "score",
        "validation",
        "second",
        "seconds",
        "setting",
    )
    tables = {
        "scores": scores,
        "summary": summarise(scores),
        "comparison": compare_with(scores, "swift", 1 / n_folds),
    }
    done = chosen[[FAILED not in part for part in chosen["part"]]]
    if labels.binary:
        tables["curves"] = _curves(done)
    else:
        tables["confusion"] = _confusions(done, labels.classes)
    return tables


def compare_with(
    scores: pd.DataFrame, ours: str, test_share: float, data_sets: int = 1
) -> pd.DataFrame:
    """Mean difference over folds, ours minus each other method, with a 95 % interval.

    Classifiers have no rank and are compared at every rank of ours.
    """
    lines = []
    mine = scores[scores["method"] == ours].set_index(["repeat", "fold"])
    for (method, rank), other in scores[scores["method"] != ours].groupby(
        ["method", "rank"], sort=False
    ):
        for own_rank, own in mine.groupby("rank"):
            if rank not in (0, own_rank):
                continue
            pairs = (own["score"] - other.set_index(["repeat", "fold"])["score"]).dropna()
            low, high = paired_interval(pairs.to_numpy(), test_share, data_sets)
            clear = bool(low > 0 or high < 0)
            lines.append((method, own_rank, float(pairs.mean()), low, high, clear))
    columns = ["method", "rank", "difference", "low", "high", "clear"]
    return pd.DataFrame(lines, columns=columns)


def _curves(chosen: pd.DataFrame) -> pd.DataFrame:
    pieces = []
    for (method, rank), group in chosen.groupby(["method", "rank"], sort=False):
        lines = [
            pr_curve(np.array(part["truth"]), np.array(part["probabilities"])[:, 1])
            for part in group["part"]
        ]
        # repeats go on counting, so that every line keeps a number of its own
        numbers = [*range(len(lines)), -1]
        for number, line in zip(numbers, [*lines, np.mean(lines, axis=0)], strict=True):
            pieces.append(
                pd.DataFrame(
                    {
                        "method": method,
                        "rank": rank,
                        "fold": number,
                        "recall": RECALLS,
                        "precision": np.round(line, 5),
                    }
                )
            )
    return pd.concat(pieces, ignore_index=True)


def _confusions(chosen: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    lines = []
    for (method, rank), group in chosen.groupby(["method", "rank"], sort=False):
        table = np.zeros((len(classes), len(classes)), dtype=np.int64)
        for part in group["part"]:
            predicted = np.array(part["probabilities"]).argmax(axis=1)
            table += confusion_matrix(part["truth"], predicted, labels=range(len(classes)))
        lines += [
            {
                "method": method,
                "rank": rank,
                "truth": truth,
                "predicted": predicted,
                "count": int(table[i, j]),
            }
            for i, truth in enumerate(classes)
            for j, predicted in enumerate(classes)
        ]
    return pd.DataFrame(lines)
