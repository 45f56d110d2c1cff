"""How good one spec is on one inner fold: the loss of every row that was held back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.errors import refuse
from swiftcore.evaluation.experiments.checkpoints import FAILED, Checkpoint
from swiftcore.evaluation.experiments.trial import (
    PROJECTION_STEPS,
    STRENGTHS,
    choose_lasso,
)
from swiftcore.evaluation.protocol.folds import (
    MIN_FOLDS,
    Fold,
    Labels,
    class_sizes,
    make_folds,
)
from swiftcore.evaluation.protocol.lasso import lasso_path
from swiftcore.evaluation.protocol.preparation import Prepared, prepare
from swiftcore.evaluation.protocol.scalings import SCALINGS, Scaler
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.spec import ModelSpec
from swiftcore.tensor import SparseTensor

FOLDS = 5
ENOUGH_ROWS, MAX_REPEATS = 1000, 3  # folds are drawn again until so many rows are judged
ROUND_ROWS = 100  # by fewer rows nobody is given up
HIDDEN = 5  # of the entries of a held-back row one in so many is hidden
BACKGROUND = 0.05  # share of the training frequencies in what is foreseen
Array = NDArray[np.float64]


def inner_folds(dataset: Dataset, labels: Labels | None, seed: int) -> list[Fold]:
    """Which rows train and which judge, fold after fold.

    Five folds, fewer (at least three) where a class has fewer rows or groups. With fewer than
    1,000 rows they are drawn twice, with fewer than 500 three times: few rows judge loosely.
    """
    rows = dataset.tensor.shape[0]
    known = labels or Labels(("all",), np.zeros(rows, dtype=np.int64))
    n_folds = int(np.clip(min(class_sizes(dataset, known)), MIN_FOLDS, FOLDS))
    n_judged = int((known.codes >= 0).sum())
    repeats = int(np.clip(-(-ENOUGH_ROWS // n_judged), 1, MAX_REPEATS))
    folds = make_folds(dataset, known, n_folds, repeats, seed)
    return [  # nobody is tested here: those rows train
        replace(fold, train=np.sort(np.append(fold.train, fold.test)), test=fold.validation)
        for fold in folds
    ]


def rounds(folds: Sequence[Fold]) -> list[list[int]]:
    """The folds of each round of the race: one, or as many as together hold 100 rows."""
    found: list[list[int]] = []
    rows = ROUND_ROWS
    for number, fold in enumerate(folds):
        if rows >= ROUND_ROWS:
            found.append([])
            rows = 0
        found[-1].append(number)
        rows += len(fold.validation)
    return found


def judge(dataset: Dataset, labels: Labels | None, fold: Fold, spec: ModelSpec) -> Checkpoint:
    """Losses of the validation rows of a fold, as plain values.

    With labels: the log loss of a lasso on the memberships, its scaling and strength chosen as
    in an evaluation. Without: how well hidden entries of a row are foreseen from its others,
    as the mean negative logarithm of their probabilities. A spec that cannot be fitted leaves
    its reason under ``failed``.
    """
    began = time.perf_counter()
    try:
        found = _judged(dataset, labels, fold, spec)
    except (ValueError, ArithmeticError, MemoryError) as error:
        found = {FAILED: f"{error or type(error).__name__}"[:300]}
    return {**found, "seconds": time.perf_counter() - began}


def _judged(dataset: Dataset, labels: Labels | None, fold: Fold, spec: ModelSpec) -> Checkpoint:
    known = labels or Labels(("all",), np.zeros(dataset.tensor.shape[0], dtype=np.int64))
    prepared = prepare(dataset, known, fold, recipe=spec.costs, seed=spec.seed)
    fitted = fit_dataset(prepared.training, spec, labels=prepared.codes["train"], n_jobs=1)
    if labels is not None:
        losses, score = lasso_losses(fitted, prepared)
        rows = fold.validation
    else:
        place, losses = completion_losses(
            fitted, prepared.tensors, np.random.default_rng([spec.seed, fold.repeat, fold.number])
        )
        rows, score = fold.validation[place], float("nan")
    return {"rows": rows.tolist(), "losses": np.round(losses, 7).tolist(), "score": score}


def lasso_losses(fitted: FittedModel, prepared: Prepared) -> tuple[Array, float]:
    """The log loss of every validation row, and their score."""
    memberships = {
        part: fitted.transform(prepared.tensors[part], max_iterations=PROJECTION_STEPS)
        for part in ("train", "validation")
    }
    codes, n_classes = prepared.codes, len(prepared.classes)
    choice = choose_lasso(memberships, codes, n_classes)
    train, rows = (SCALINGS[choice.scaling](memberships[part]) for part in memberships)
    scaler = Scaler.of(train)
    path = STRENGTHS[choice.strength * (1 - 1e-9) <= STRENGTHS]
    chances = lasso_path(scaler(train), codes["train"], n_classes, path)[-1].probabilities(
        scaler(rows)
    )
    given = chances[np.arange(len(chances)), codes["validation"]]
    return -np.log(np.maximum(given, 1e-12)), choice.score


def completion_losses(
    fitted: FittedModel, tensors: Mapping[str, SparseTensor], rng: np.random.Generator
) -> tuple[NDArray[np.int64], Array]:
    """Rows with hidden entries, and how badly these were foreseen.

    A fifth of the entries of each row, at least one and never all, is hidden; the row is
    projected without them. Its memberships and the profiles give every cell a probability.
    """
    held = tensors["validation"]
    hidden = _hidden(held, rng)
    if not hidden.any():
        raise refuse(
            "nothing-to-foresee",
            "No held-back row has two entries, so none can be hidden and foreseen",
            "the data",
            f"{held.n_entries:,} entries in {held.shape[0]:,} rows",
            "Give the data an outcome, or choose the settings yourself.",
        )
    seen = SparseTensor(held.modes, held.coordinates[~hidden], held.values[~hidden])
    shares = _shares(fitted.transform(seen, max_iterations=PROJECTION_STEPS).T).T
    places = held.coordinates[hidden]
    cells = shares[places[:, 0]]
    background = np.ones(len(places))
    for mode, factor in enumerate(fitted.factors[1:], start=1):
        cells = cells * _shares(factor)[places[:, mode]]
        counts = 1 + np.bincount(tensors["train"].coordinates[:, mode], minlength=held.shape[mode])
        background *= (counts / counts.sum())[places[:, mode]]
    chances = (1 - BACKGROUND) * cells.sum(axis=1) + BACKGROUND * background
    rows, place = np.unique(places[:, 0], return_inverse=True)
    return rows, np.bincount(place, weights=-np.log(chances)) / np.bincount(place)


def _hidden(held: SparseTensor, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which entries are hidden: in each row of n entries n / 5 of them, at least 1 if n > 1."""
    rows = held.coordinates[:, 0]
    counts = np.bincount(rows, minlength=held.shape[0])
    wanted = np.where(counts > 1, np.maximum(counts // HIDDEN, 1), 0)
    order = np.lexsort((rng.random(len(rows)), rows))
    first = np.cumsum(counts) - counts
    drawn = np.empty(len(rows), dtype=np.int64)
    drawn[order] = np.arange(len(rows)) - first[rows[order]]
    return np.asarray(drawn < wanted[rows])


def _shares(columns: Any) -> Array:
    """Each column divided by its sum; an empty one is spread evenly."""
    total = columns.sum(axis=0)
    even = np.full_like(columns, 1 / len(columns))
    return np.asarray(np.divide(columns, total, out=even, where=total > 0))
