"""Which phenotypes of a finished fit go with the outcome, and how surely."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.trial import STRENGTHS
from swiftcore.evaluation.protocol.folds import Labels
from swiftcore.evaluation.protocol.intervals import jackknife_interval
from swiftcore.evaluation.protocol.lasso import lasso_path
from swiftcore.evaluation.protocol.scalings import SCALINGS, Scaler
from swiftcore.evaluation.protocol.scores import (
    METRIC_TITLES,
    metric_name,
    score,
)
from swiftcore.phenotypes.identifiers import component_id

N_FOLDS = 5
INTERVAL = 0.95
ENOUGH_ROWS = 10  # of each class; with fewer a weight says nothing


def link_outcome(memberships: NDArray[np.float64], labels: Labels, seed: int = 0) -> Experiment:
    """Lasso weights of the outcome on memberships, with what folds of the rows say of them.

    The intervals are of the weights at this scaling and strength, for other rows of the kind.
    Scaling and strength are those with the best mean score over the folds. The phenotypes
    saw all rows (not their outcome), so the score is a little kind; an evaluation is not.
    The table is empty when a class has too few rows for any weight to mean something.
    """
    known = np.flatnonzero(labels.codes >= 0)
    codes, n_classes = labels.codes[known], len(labels.classes)
    about = {
        "metric": metric_name(n_classes),
        "metric_title": METRIC_TITLES[metric_name(n_classes)],
        "classes": list(labels.classes),
        "chance": labels.chance,
        "score": None,
    }
    counts = np.bincount(codes, minlength=n_classes)
    if counts.min() < ENOUGH_ROWS:
        few = labels.classes[int(counts.argmin())]
        note = f"Only {counts.min()} rows have the outcome “{few}”: too few to link phenotypes."
        return Experiment("links", {**about, "notes": [note]}, {"links": _table([])})
    tested = _deal(codes, np.random.default_rng(seed))
    rated = [
        (_fold_scores(scaling(memberships[known]), codes, n_classes, tested), name)
        for name, scaling in SCALINGS.items()
    ]
    best, name = max(rated, key=lambda pair: float(pair[0].mean(axis=0).max()))
    chosen = int(best.mean(axis=0).argmax())
    rows = SCALINGS[name](memberships[known])
    path = STRENGTHS[: chosen + 1]
    whole = _weights(rows, codes, n_classes, path)
    folds = np.array(
        [
            _weights(rows[tested != fold], codes[tested != fold], n_classes, path)
            for fold in range(N_FOLDS)
        ]
    )
    about |= {
        "score": float(best[:, chosen].mean()),
        "scaling": name,
        "notes": [],
        "interval": INTERVAL,
        "strength": float(STRENGTHS[chosen]),
    }
    return Experiment("links", about, {"links": _table(_lines(whole, folds, labels.classes))})


def _deal(codes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold in which each row is tested; classes are dealt out evenly."""
    fold = np.empty(len(codes), dtype=np.int64)
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        fold[rows] = np.arange(len(rows)) % N_FOLDS
    return fold


def _fold_scores(
    rows: NDArray[np.float64],
    codes: NDArray[np.int64],
    n_classes: int,
    tested: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Folds x strengths."""
    table = []
    for fold in range(N_FOLDS):
        train, test = tested != fold, tested == fold
        scaler = Scaler.of(rows[train])
        path = lasso_path(scaler(rows[train]), codes[train], n_classes, STRENGTHS)
        given = scaler(rows[test])
        table.append([score(codes[test], model.probabilities(given)) for model in path])
    return np.array(table)


def _weights(
    rows: NDArray[np.float64],
    codes: NDArray[np.int64],
    n_classes: int,
    path: NDArray[np.float64],
) -> NDArray[np.float64]:
    return lasso_path(Scaler.of(rows)(rows), codes, n_classes, path)[-1].weights


def _lines(
    whole: NDArray[np.float64], folds: NDArray[np.float64], classes: tuple[str, ...]
) -> list[dict[str, object]]:
    names = [""] if len(classes) == 2 else list(classes)
    rank = len(whole)
    lines: list[dict[str, object]] = []
    for column, name in enumerate(names):
        for component in range(rank):
            weight, left_out = float(whole[component, column]), folds[:, component, column]
            low, high = jackknife_interval(weight, left_out)
            lines.append(
                {
                    "phenotype": component_id(component, rank),
                    "class": name,
                    "weight": weight,
                    "low": low,
                    "high": high,
                    "same_sign": float((np.sign(left_out) == np.sign(weight)).mean()),
                    "chosen": float((left_out != 0).mean()),
                }
            )
    return lines


def _table(lines: list[dict[str, object]]) -> pd.DataFrame:
    columns = ["phenotype", "class", "weight", "low", "high", "same_sign", "chosen"]
    return pd.DataFrame(lines, columns=columns)
