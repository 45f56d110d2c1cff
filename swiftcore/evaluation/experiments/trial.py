"""One method, one rank, one setting, one fold: fit, project, choose on validation, test."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.errors import refuse, where_list
from swiftcore.evaluation.experiments.settings import AS_GIVEN, PROTOCOL
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.evaluation.methods.classifiers import classify
from swiftcore.evaluation.methods.method import Method
from swiftcore.evaluation.protocol.folds import Fold, Labels
from swiftcore.evaluation.protocol.lasso import LassoModel, lasso_path
from swiftcore.evaluation.protocol.noise import Noise
from swiftcore.evaluation.protocol.preparation import PARTS, Prepared, prepare
from swiftcore.evaluation.protocol.scalings import SCALINGS, Scaler
from swiftcore.evaluation.protocol.scores import log_loss, score, second_score
from swiftcore.fitting import fit_dataset
from swiftcore.progress import FitOutcome
from swiftcore.spec import ModelSpec

STRENGTHS = np.geomspace(1.0, 1e-3, 10)[1:]  # lasso strengths, as shares of the largest useful one
PROJECTION_STEPS = 50  # memberships are then within half a percent of their limit
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trial:
    """Which trial it is; with the data and the protocol this names its result."""

    method: str
    rank: int
    setting: str  # JSON, keys sorted
    repeat: int
    fold: int
    level: float | None = None  # of false entries; None: the data as they are
    draw: int = 0
    recipe: str = AS_GIVEN  # costs in place of the setting's
    features: int = 0
    seed: int = 0
    subset: int = 0
    subset_size: int = 0  # 0: the folds are of all rows
    least_class_size: int = 0  # smaller classes stay out

    def key(self, data: str, n_folds: int, method: Method) -> str:
        """Name of the result: a digest of all it depends on."""
        named = {"protocol": PROTOCOL, "data": data, "folds": n_folds, **asdict(self)}
        if method.is_factorization:  # in full: what is usual may change
            named["setting"] = trial_spec(method, self).to_json()
        return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()

    @property
    def place(self) -> tuple[Any, ...]:
        """Its place in the table, for which settings compete."""
        named = (self.level, self.draw, self.recipe, self.method, self.rank)
        return (*named, self.subset, self.repeat, self.fold)

    @property
    def words(self) -> str:
        """For the progress line."""
        rank = f", {self.rank} components" if self.rank else ""
        noise = f", noise {self.level:.0%}, draw {self.draw + 1}" if self.level else ""
        costs = f", {self.recipe} costs" if self.recipe != AS_GIVEN else ""
        subset = f", subset {self.subset + 1}" if self.subset_size else ""
        repeat = f", repeat {self.repeat + 1}" if self.repeat else ""
        return f"{title_of(self.method)}{rank}{costs}{noise}{subset}{repeat}, fold {self.fold + 1}"


def run_trial(
    dataset: Dataset,
    labels: Labels,
    fold: Fold,
    method: Method,
    trial: Trial,
    *,
    digest: bool = False,
) -> dict[str, Any]:
    """Scores, predictions and the choice made, as plain values.

    The validation rows choose how memberships are scaled and how strong the lasso is; the
    lasso (or the raw-data classifier) is then fitted once more on training and validation rows
    together, and test rows are looked at only after that. ``merit`` says how good the setting
    looks, the larger the better: log loss first, or the score for classifiers whose chances
    are not calibrated.

    Parameters
    ----------
    digest : bool
        Add ``trained``, a digest of everything that was trained; for tests of leaks.

    Raises
    ------
    SwiftError
        If the fold lacks a class, or the method refuses or comes to no numbers.
    """
    began = time.perf_counter()
    prepared = prepare(
        dataset,
        labels,
        fold,
        features=trial.features,
        recipe="cosine" if trial.recipe == AS_GIVEN else trial.recipe,
        seed=trial.seed,
        noise=None if trial.level is None else Noise(trial.level, trial.draw),
    )
    _check_classes(prepared)
    run = _embed if method.is_factorization else _classify
    result, trained = run(method, prepared, trial)
    if digest:
        result["trained"] = _digest(prepared, trained)
    return {**result, "seconds": time.perf_counter() - began}


def _check_classes(prepared: Prepared) -> None:
    """Refuse a fold whose score would say nothing: groups of rows can hold a whole class."""
    for part in PARTS:
        present = np.unique(prepared.codes[part])
        few = 2 if part == "train" or len(prepared.classes) == 2 else 1
        if len(present) < few:
            missing = [
                name for code, name in enumerate(prepared.classes) if code not in present.tolist()
            ]
            raise refuse(
                "fold-without-class",
                "The fold has rows of one class only",
                f"{part} rows",
                f"none of {where_list(missing)}",
                "Use fewer folds, or draw them with another seed.",
            )


def _check_finite(found: Array, where: str) -> None:
    """Refuse what is no number: the largest of several would pass for a class."""
    wrong = int((~np.isfinite(found)).any(axis=1).sum())
    if wrong:
        raise refuse(
            "not-finite",
            "The method came to what is not a finite number",
            where,
            f"{wrong} of {len(found)} rows",
            "Divide all values by a common unit, or leave the method out.",
        )


def _digest(prepared: Prepared, trained: Sequence[Array]) -> str:
    sha = hashlib.sha256(prepared.digest().encode())
    for array in trained:
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def _classify(
    method: Method, prepared: Prepared, trial: Trial
) -> tuple[dict[str, Any], Sequence[Array]]:
    found = classify(method.key, prepared, json.loads(trial.setting), trial.seed)
    _check_finite(found["validation"], "chances of the classes")
    chosen = prepared.codes["validation"]
    result = {
        **_judged(found["test"], prepared.codes["test"]),
        "validation": score(chosen, found["validation"]),
        "merit": [score(chosen, found["validation"]), -log_loss(chosen, found["validation"])],
        "choice": {},
        "converged": True,
    }
    # what the two fitted classifiers say of rows they know stands for what was trained
    return result, [found["validation"], found["known"]]


def _embed(
    method: Method, prepared: Prepared, trial: Trial
) -> tuple[dict[str, Any], Sequence[Array]]:
    spec = trial_spec(method, trial)
    fitted = fit_dataset(prepared.training, spec, labels=prepared.codes["train"], n_jobs=1)
    memberships = {
        part: fitted.transform(prepared.tensors[part], max_iterations=PROJECTION_STEPS)
        for part in PARTS
    }
    for rows in memberships.values():
        _check_finite(rows, "memberships")
    choice = choose_lasso(memberships, prepared.codes, len(prepared.classes))
    model, scaler = refit_lasso(memberships, prepared.codes, prepared.classes, choice)
    rows = scaler(SCALINGS[choice.scaling](memberships["test"]))
    result = {
        **_judged(model.probabilities(rows), prepared.codes["test"]),
        "validation": choice.score,
        "merit": [-choice.loss, choice.score],
        "choice": {"scaling": choice.scaling, "strength": choice.strength},
        "weights": np.round(model.weights, 6).tolist(),
        "converged": fitted.outcome is FitOutcome.CONVERGED,
    }
    trained = [*fitted.factors, model.weights, model.intercepts, scaler.mean, scaler.spread]
    return result, trained


def trial_spec(method: Method, trial: Trial) -> ModelSpec:
    """The model that a trial fits."""
    changes = {"seed": trial.seed, **json.loads(trial.setting), "rank": trial.rank}
    if trial.recipe != AS_GIVEN:
        changes |= {"costs": trial.recipe, "mode_costs": {}}
    return method.spec(**changes)


def _judged(probabilities: Array, codes: NDArray[np.int64]) -> dict[str, Any]:
    _check_finite(probabilities, "chances of the classes")
    return {
        "score": score(codes, probabilities),
        "second": second_score(codes, probabilities),
        "probabilities": np.round(probabilities, 5).tolist(),
        "truth": codes.tolist(),
    }


@dataclass(frozen=True)
class LassoChoice:
    """What the validation rows chose."""

    scaling: str
    strength: float
    score: float
    loss: float


def choose_lasso(
    memberships: Mapping[str, Array], codes: Mapping[str, NDArray[np.int64]], n_classes: int
) -> LassoChoice:
    """Scaling and strength with the smallest log loss on the validation rows.

    Not the score itself: on a few dozen rows accuracy moves in steps of a row, and PR-AUC by
    chance. Chosen by log loss nearly every method scores higher on rows it has not seen.
    """
    found = []
    for name, scaling in SCALINGS.items():
        train = scaling(memberships["train"])
        scaler = Scaler.of(train)
        rows = scaler(scaling(memberships["validation"]))
        path = lasso_path(scaler(train), codes["train"], n_classes, STRENGTHS)
        for strength, model in zip(STRENGTHS, path, strict=True):
            given = model.probabilities(rows)
            truth = codes["validation"]
            found.append(
                LassoChoice(name, float(strength), score(truth, given), log_loss(truth, given))
            )
    return min(found, key=lambda choice: (choice.loss, -choice.score))


def refit_lasso(
    memberships: Mapping[str, Array],
    codes: Mapping[str, NDArray[np.int64]],
    classes: tuple[str, ...],
    choice: LassoChoice,
) -> tuple[LassoModel, Scaler]:
    """The chosen lasso on training and validation rows together."""
    scaling = SCALINGS[choice.scaling]
    rows = np.vstack([scaling(memberships["train"]), scaling(memberships["validation"])])
    known = np.concatenate([codes["train"], codes["validation"]])
    scaler = Scaler.of(rows)
    path = STRENGTHS[choice.strength * (1 - 1e-9) <= STRENGTHS]
    return lasso_path(scaler(rows), known, len(classes), path)[-1], scaler
