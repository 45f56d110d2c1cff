"""Which of the specs that were tried is taken, and why, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from swiftcore.evaluation.experiments.checkpoints import Checkpoint
from swiftcore.evaluation.experiments.tuning.candidates import Candidate

ALIKE = 0.05  # shares of phenotypes found again that differ by no more say nothing
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """How a candidate stands among those that were judged on the same rows.

    Attributes
    ----------
    candidate : Candidate
    loss, error : float
        Mean over rows, and its standard error.
    behind, behind_error : float
        Mean over the same rows of its loss minus that of the best, and the standard error.
    stability : float
        Share of its phenotypes that come back with other seeds; NaN where nobody looked.
    """

    candidate: Candidate
    loss: float
    error: float
    behind: float
    behind_error: float
    stability: float = float("nan")

    @property
    def as_good(self) -> bool:
        """Whether it is within one standard error of the best."""
        return self.behind <= self.behind_error


def row_losses(parts: Sequence[Checkpoint]) -> Array:
    """One loss per row, the mean of those in several folds, in the order of the rows."""
    rows = np.concatenate([part["rows"] for part in parts]).astype(np.int64)
    losses = np.concatenate([part["losses"] for part in parts])
    times = np.bincount(rows)
    return np.asarray((np.bincount(rows, weights=losses) / np.maximum(times, 1))[times > 0])


def standings(losses: Mapping[Candidate, Array]) -> list[Standing]:
    """All candidates, the smallest loss first; rows are compared one by one."""
    order = sorted(losses, key=lambda one: (float(losses[one].mean()), one.number))
    return [standing(one, losses[one], losses[order[0]]) for one in order]


def standing(candidate: Candidate, losses: Array, best: Array) -> Standing:
    """How a candidate stands against the losses of the best on the same rows."""
    return Standing(candidate, *_mean(losses), *_mean(losses - best))


def survivors(found: Sequence[Standing], least: int) -> list[Candidate]:
    """Who goes on: the better half, but not fewer than ``least``, in the order of trying.

    The first candidate, the shipped settings, stays whatever happens; the shipped settings with
    another rank stay as long as they are as good as the best.
    """
    half = max(least, -(-len(found) // 2))
    kept = [
        one.candidate
        for place, one in enumerate(found)
        if place < half or one.candidate.number == 0 or (one.as_good and not one.candidate.changes)
    ]
    return sorted(kept, key=lambda one: one.number)


def finalists(found: Sequence[Standing], most: int) -> list[Standing]:
    """Those within one standard error of the best: the simplest, and the best itself."""
    good = sorted((one for one in found if one.as_good), key=lambda one: one.candidate.simplicity)
    chosen = good[:most]
    return chosen if found[0] in chosen else [*chosen[: most - 1], found[0]]


def with_stability(found: Sequence[Standing], known: Mapping[int, float]) -> list[Standing]:
    """The same with what is known of their stability, by number of the candidate."""
    return [replace(one, stability=known.get(one.candidate.number, float("nan"))) for one in found]


def choose(found: Sequence[Standing], *, every_row: bool = True) -> Standing:
    """Of those that are as good as the best, the more stable; of these, the simplest.

    Those whose stability nobody looked at count only if nobody looked at any. As long as not
    every row has judged, nearly everything is as good as the best: then the shipped settings
    are taken if they are.
    """
    good = [one for one in found if one.as_good]
    usual = [one for one in good if one.candidate.number == 0]
    if usual and not every_row:
        return usual[0]
    known = [one for one in good if not np.isnan(one.stability)]
    if known:
        top = max(one.stability for one in known)
        good = [one for one in known if one.stability >= top - ALIKE - 1e-9]
    return min(good, key=lambda one: one.candidate.simplicity)


def reason(found: Sequence[Standing], chosen: Standing, *, every_row: bool = True) -> str:
    """Why this one, in a sentence."""
    good = [one for one in found if one.as_good]
    known = [one.stability for one in good if not np.isnan(one.stability)]
    stable = f"; {chosen.stability:.0%} of its phenotypes come back with other starting numbers"
    if len(found) == 1:
        why = "Nothing else could be judged beside it"
    elif not every_row and len(good) > 1 and chosen.candidate.number == 0:
        why = (
            f"The time was too short to tell the {len(good)} best apart on all rows, and the usual "
            f"settings are among them (error on held-back rows {chosen.loss:.4g}, the smallest "
            f"{found[0].loss:.4g})"
        )
    elif len(good) == 1:
        why = f"Its error on held-back rows, {chosen.loss:.4g}, is clearly the smallest"
    else:
        lead = f"Its error on held-back rows, {chosen.loss:.4g}, is the smallest"
        if chosen is not found[0]:
            lead = (
                f"Its error on held-back rows, {chosen.loss:.4g}, is within one standard error of "
                f"the smallest, {found[0].loss:.4g}"
            )
        least = min(good, key=lambda one: one.candidate.simplicity)
        why = f"{lead}; of the {len(good)} that are as good it is {_merit(known, chosen, least)}"
    return why + ("" if np.isnan(chosen.stability) else stable) + "."


def _merit(known: Sequence[float], chosen: Standing, simplest: Standing) -> str:
    if chosen is simplest:
        return "the simplest" if len(known) < 2 else "the simplest, and no less stable"
    looked = "" if len(known) < 2 else f" of the {len(known)} whose stability was looked at"
    return f"the most stable{looked}"


def _mean(values: Array) -> tuple[float, float]:
    """Mean and standard error; one value has none, and then nothing else is as good."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return float(values.mean()), float(error)
