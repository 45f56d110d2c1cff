"""*Choose for me*: the settings of a model by rows that were held back, within a time budget."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.experiments.about import about_data, small_class_notes
from swiftcore.evaluation.experiments.checkpoints import FAILED
from swiftcore.evaluation.experiments.result import Experiment, ExperimentCallback
from swiftcore.evaluation.experiments.tuning.candidates import Candidate
from swiftcore.evaluation.experiments.tuning.choice import Standing, reason, row_losses, standing
from swiftcore.evaluation.experiments.tuning.judge import rounds
from swiftcore.evaluation.experiments.tuning.search import SEEDS, Search, search
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.phenotypes.matching import FOUND_FROM
from swiftcore.spec import ModelSpec

BY_OUTCOME = (
    "Judged by the log loss with which a lasso on the memberships predicts the outcome of rows "
    "that were held back from the fit; its strength is chosen on the same rows, so the error is "
    "a little too small, for all alike. How well the chosen settings predict new rows is what an "
    "evaluation tells."
)
BY_ENTRIES = (
    "The data have no outcome. Judged by how well a fifth of the entries of rows that were held "
    "back from the fit is foreseen from their other entries (mean negative logarithm of their "
    "probability). Ways to weigh entries cannot be compared like this and stay as they are."
)


def tune(
    dataset: Dataset,
    settings: TuneSettings | None = None,
    *,
    checkpoints: Path | None = None,
    progress: ExperimentCallback | None = None,
) -> Experiment:
    """Choose rank, weighting, sharpness and costs for a data set.

    All candidates are tried on one fold, the better half of them on the next, and so on; the
    shipped settings are tried first and stay to the end. Of those whose loss is within one
    standard error of the smallest, the more stable is chosen, then the one with fewer
    components, then the one with fewer settings that are not the shipped ones.

    Parameters
    ----------
    settings : TuneSettings, optional
        With the budget; the time is looked at between fits. Without a limit the result depends
        on the data and the seed alone.
    checkpoints : Path, optional
        Folder in which finished fits are kept; a search asked for again goes on there.
    progress : callable, optional
        Gets an :class:`ExperimentProgress` now and then; returns True to stop, which raises
        :class:`Stopped`.

    Returns
    -------
    Experiment
        Of the kind ``tune``; the chosen spec is ``about["spec"]``, for
        :meth:`ModelSpec.from_json`.
    """
    asked = settings or TuneSettings()
    began = time.perf_counter()
    found = search(dataset, asked, checkpoints=checkpoints, progress=progress)
    about = {
        **about_data(dataset, asked),
        "spec": found.chosen.candidate.spec.to_json(),
        "reason": reason(found.standings, found.chosen, every_row=found.every_row),
        "found_from": FOUND_FROM,
        "outcome": dataset.outcome_name,
        "notes": _notes(found, asked),
        "seconds": time.perf_counter() - began,
    }
    return Experiment("tune", about, {"tried": _tried(found), "candidates": _candidates(found)})


def tuned_spec(
    dataset: Dataset,
    rows: NDArray[np.int64],
    settings: TuneSettings | None = None,
    *,
    checkpoints: Path | None = None,
) -> ModelSpec:
    """The spec chosen by some rows alone: the training and validation rows of an outer fold."""
    found = search(dataset.with_rows(rows), settings or TuneSettings(), checkpoints=checkpoints)
    return found.chosen.candidate.spec


def _tried(found: Search) -> pd.DataFrame:
    """One line per fit that was judged."""
    lines = [
        {
            "candidate": one.number,
            "rank": one.spec.rank,
            "setting": _setting(one),
            "fold": fold,
            "loss": float(np.mean(part["losses"])) if FAILED not in part else np.nan,
            "score": part.get("score", np.nan),
            "seconds": part["seconds"],
            "reason": part.get(FAILED, ""),
        }
        for (one, fold), part in found.parts.items()
    ]
    return pd.DataFrame(lines)


def _candidates(found: Search) -> pd.DataFrame:
    """One line per candidate, those that were not tried included, in the order of trying."""
    by_number = {one.candidate.number: one for one in (*_given_up(found), *found.standings)}
    lines = []
    for one in found.candidates:
        parts = [part for (each, _), part in found.parts.items() if each is one]
        known = by_number.get(one.number)
        numbers = ("loss", "error", "behind", "behind_error", "stability")
        lines.append(
            {
                "candidate": one.number,
                "rank": one.spec.rank,
                "setting": _setting(one),
                "state": _state(found, one, failed=any(FAILED in part for part in parts)),
                "folds": len(parts),
                **{name: getattr(known, name, np.nan) for name in numbers},
                "seconds": sum(float(part["seconds"]) for part in parts),
            }
        )
    return pd.DataFrame(lines)


def _given_up(found: Search) -> list[Standing]:
    """Those that left the race, against the best one on the folds that they finished."""
    best, left = found.standings[0].candidate, []
    judged = {one.candidate for one in found.standings}
    for one in found.candidates:
        if one in judged:
            continue
        parts = [part for (each, _), part in found.parts.items() if each is one]
        sound = [part for part in parts if FAILED not in part]
        if sound and len(sound) == len(parts):
            same = [found.parts[best, fold] for fold in range(len(parts))]
            left.append(standing(one, row_losses(parts), row_losses(same)))
    return left


def _setting(one: Candidate) -> str:
    return json.dumps(one.changes, sort_keys=True)


def _state(found: Search, one: Candidate, *, failed: bool) -> str:
    judged = next((each for each in found.standings if each.candidate is one), None)
    if one is found.chosen.candidate:
        return "chosen"
    if failed:
        return "failed"
    if judged is not None:
        return "as good" if judged.as_good else "worse"
    if (one, 0) not in found.parts:
        return "not tried"
    last = rounds(found.folds)[0][-1]
    return "given up" if (one, last) in found.parts else "not finished"


def _stability_note(found: Search) -> str:
    good = [one for one in found.standings if one.as_good]
    looked = sum(not np.isnan(one.stability) for one in good)
    if not looked:
        return "There was no time to look whether the phenotypes come back in other fits."
    return (
        f"Whether phenotypes come back was looked at for {looked} of the {len(good)} that are as "
        f"good as the best, the simplest first, with {SEEDS} fits of all rows each."
    )


def _notes(found: Search, settings: TuneSettings) -> list[str]:
    rows = sum(len(found.parts[found.chosen.candidate, k]["rows"]) for k in range(found.decided))
    notes = [
        BY_ENTRIES if found.labels is None else BY_OUTCOME,
        f"{found.decided} of {len(found.folds)} folds decide, with {rows:,} losses of held-back "
        "rows.",
        _stability_note(found),
    ]
    if found.labels is not None:
        notes += small_class_notes(found.labels, settings.least_class_size)
    if left := len(found.not_tried):
        notes.append(f"{left} of {len(found.candidates)} settings were not tried: no time left.")
    return notes
