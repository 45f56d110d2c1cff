"""The search itself: all candidates on one fold, the better half on the next, and so on."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.errors import refuse
from swiftcore.evaluation.experiments.checkpoints import FAILED, Checkpoint, Task
from swiftcore.evaluation.experiments.result import ExperimentCallback
from swiftcore.evaluation.experiments.settings import PROTOCOL
from swiftcore.evaluation.experiments.stability import Followed, Refit, refit_profiles
from swiftcore.evaluation.experiments.tuning.candidates import Candidate, make_candidates
from swiftcore.evaluation.experiments.tuning.choice import (
    Standing,
    choose,
    finalists,
    row_losses,
    standings,
    survivors,
    with_stability,
)
from swiftcore.evaluation.experiments.tuning.clock import TimedParts
from swiftcore.evaluation.experiments.tuning.judge import inner_folds, judge, rounds
from swiftcore.evaluation.experiments.tuning.settings import TUNE_GRIDS, UNLIMITED, TuneSettings
from swiftcore.evaluation.protocol.folds import (
    Fold,
    Labels,
    read_labels,
    without_small_classes,
)
from swiftcore.phenotypes.matching import FOUND_FROM, match
from swiftcore.spec import ALGORITHM_VERSION

KEPT = 4  # so many candidates are left alone by the halving
FINALISTS, SEEDS = 4, 3  # whose stability is looked at, by so many fits each
FIRST_SHARE, RACE_SHARE = 0.5, 0.8  # of the time: for the first fold, for all folds


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Attributes
    ----------
    candidates : list of Candidate
        All of them, in the order in which they are tried.
    parts : dict
        What was found, by candidate and fold.
    standings : list of Standing
        Those judged on all folds that decide, the smallest loss first.
    decided : int
        How many folds decide.
    every_row : bool
        Whether each row has judged at least once.
    folds : list of Fold
    chosen : Standing
    labels : Labels or None
        By which rows were judged; None: by their entries.
    """

    candidates: list[Candidate]
    parts: dict[tuple[Candidate, int], Checkpoint]
    standings: list[Standing]
    decided: int
    every_row: bool
    folds: list[Fold]
    chosen: Standing
    labels: Labels | None

    @property
    def not_tried(self) -> list[Candidate]:
        """Candidates for which there was no time."""
        return [one for one in self.candidates if (one, 0) not in self.parts]


def search(
    dataset: Dataset,
    settings: TuneSettings,
    *,
    checkpoints: Path | None = None,
    progress: ExperimentCallback | None = None,
) -> Search:
    """Look for the settings of a model for these rows; see :func:`tune`."""
    labels = _labels(dataset, settings)
    binary = bool((dataset.tensor.values == 1).all())
    candidates = make_candidates(settings, outcome=labels is not None, binary=binary)
    folds = inner_folds(dataset, labels, settings.seed)
    seconds = np.inf if settings.minutes == UNLIMITED else 60 * settings.minutes
    timed = TimedParts(seconds, checkpoints, settings.jobs, progress)
    timed.planned = _planned(len(candidates), folds)
    race = _Race(dataset, labels, folds, timed)
    contenders, decided = race.run(candidates)
    found = race.standings(contenders, decided)
    stable = _stabilities(dataset, finalists(found, FINALISTS), timed, race.digest)
    found = with_stability(found, stable)
    every_row = decided >= sum(fold.repeat == folds[0].repeat for fold in folds)
    chosen = choose(found, every_row=every_row)
    return Search(candidates, race.parts, found, decided, every_row, folds, chosen, labels)


def _labels(dataset: Dataset, settings: TuneSettings) -> Labels | None:
    """By what rows are judged; raises InvalidData if it is asked for and not there."""
    if dataset.outcome is not None:
        return without_small_classes(dataset, read_labels(dataset), settings.least_class_size)
    if settings.guided or settings.least_class_size:
        asked = "guided" if settings.guided else "least class size"
        raise refuse(
            "tune-no-outcome",
            "Neither weights nor classes can follow an outcome that is not there",
            dataset.name,
            f"{asked}, and no outcome",
            f"Leave out {asked}, or give the data an outcome.",
        )
    return None


class _Race:
    """Successive halving over inner folds; the shipped settings run to the end."""

    def __init__(
        self, dataset: Dataset, labels: Labels | None, folds: Sequence[Fold], timed: TimedParts
    ) -> None:
        self.parts: dict[tuple[Candidate, int], Checkpoint] = {}
        self.digest = data_digest(dataset)
        self._dataset, self._labels, self._folds, self._timed = dataset, labels, folds, timed

    def run(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], int]:
        """Those judged on all of the first folds, and how many folds that are.

        A round that not everybody finished in time decides nothing.
        """
        alive, contenders, decided = list(candidates), list(candidates), 0
        for folds in rounds(self._folds):
            finished = self._judge(alive, folds, RACE_SHARE if decided else FIRST_SHARE)
            if not decided and len(finished) < KEPT:  # rather a few candidates than many folds
                finished = self._judge(alive[:KEPT], folds, RACE_SHARE)
            if decided and len(finished) < len(alive):
                break
            decided += len(folds) if finished else len(self.parts)  # no time for a whole round
            contenders = self._sound(finished or candidates[:1])
            if not finished or len(contenders) == 1:
                break
            alive = survivors(self.standings(contenders, decided), KEPT)
        return contenders, decided

    def _judge(
        self, alive: Sequence[Candidate], folds: Sequence[int], share: float
    ) -> list[Candidate]:
        """Those who finished the folds of a round, one candidate after the other."""
        places = [
            (one, number) for one in alive for number in folds if (one, number) not in self.parts
        ]
        tasks = [
            Task(
                _key(self.digest, one, f"fold {self._folds[number].repeat} {number}"),
                f"{one.words}, fold {number + 1}",
                (self._dataset, self._labels, self._folds[number], one.spec),
            )
            for one, number in places
        ]
        found = self._timed.run(tasks, judge, share)
        self.parts |= dict(zip(places, found, strict=False))
        return [one for one in alive if (one, folds[-1]) in self.parts]

    def standings(self, several: Sequence[Candidate], folds: int) -> list[Standing]:
        """How some candidates stand by the first folds, which all of them have finished."""
        return standings(
            {one: row_losses([self.parts[one, k] for k in range(folds)]) for one in several}
        )

    def _sound(self, several: Sequence[Candidate]) -> list[Candidate]:
        """Those of whom no fit failed; there must be one."""
        failed = {one: part[FAILED] for (one, _), part in self.parts.items() if FAILED in part}
        if len(sound := [one for one in several if one not in failed]):
            return sound
        raise refuse(
            "all-failed",
            "No settings came to a result",
            several[0].words,
            failed[several[0]],
            "Fix that first.",
        )


def _stabilities(
    dataset: Dataset, looked_at: Sequence[Standing], timed: TimedParts, digest: str
) -> dict[int, float]:
    """Share of phenotypes that come back with other seeds, by number of the candidate.

    Every row is fitted; the seeds are the one asked for and those after it.
    """
    found: dict[int, float] = {}
    for standing in looked_at:
        one = standing.candidate
        seeds = [one.spec.seed + run for run in range(SEEDS)]
        tasks = [
            Task(
                _key(digest, one, f"seed {seed}"),
                f"{one.words}, another starting number",
                (dataset, one, seed),
            )
            for seed in seeds
        ]
        parts = timed.run(tasks, _profiles, 1.0)
        if len(parts) < SEEDS:
            break
        if any(FAILED in part for part in parts):
            continue
        first, *others = [[np.array(factor) for factor in part["features"]] for part in parts]
        again = np.concatenate([match(first, other) for other in others])
        found[one.number] = float((again >= FOUND_FROM).mean())
    return found


def _profiles(dataset: Dataset, candidate: Candidate, seed: int) -> Checkpoint:
    began = time.perf_counter()
    followed = Followed(candidate.spec, candidate.words, n_jobs=1)
    features = refit_profiles(dataset, followed, Refit("seed", seed, seed))
    return {**features, "seconds": time.perf_counter() - began}


def _planned(candidates: int, folds: Sequence[Fold]) -> int:
    """About how many fits there will be if nothing stops them."""
    fits, alive = 0, candidates
    for several in rounds(folds):
        fits += alive * len(several)
        alive = min(alive, max(KEPT, -(-alive // 2)))
    return fits + FINALISTS * SEEDS


def _key(digest: str, candidate: Candidate, what: str) -> str:
    spec = json.dumps(candidate.spec.plain(), sort_keys=True)
    named = f"tune {TUNE_GRIDS} {PROTOCOL} {ALGORITHM_VERSION} {digest} {spec} {what}"
    return hashlib.sha256(named.encode()).hexdigest()
