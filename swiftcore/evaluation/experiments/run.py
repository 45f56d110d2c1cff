"""The one door to every experiment, for the command line and for the dashboard."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.experiments import outcome_links
from swiftcore.evaluation.experiments.about import about_data, about_labels
from swiftcore.evaluation.experiments.cross_validation import (
    evaluation_tables,
    failure_notes,
    failures,
    score_methods,
    score_table,
)
from swiftcore.evaluation.experiments.result import Experiment, ExperimentCallback
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.stability import (
    Followed,
    Refit,
    follow_phenotypes,
    summarise_matches,
)
from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for, usual_methods
from swiftcore.evaluation.protocol.folds import Labels, read_labels
from swiftcore.evaluation.protocol.preparation import choose_features
from swiftcore.phenotypes.matching import FOUND_FROM

Tables = dict[str, pd.DataFrame]
Answer = tuple[Tables, dict[str, Any]]
COMPARED_BY_ENTRIES = (
    "Where entries may be false, documents are compared by their entries, not by all their words; "
    "what survives at 0 % shows what that alone changes."
)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What an experiment is given."""

    dataset: Dataset
    settings: ExperimentSettings
    checkpoints: Path | None
    progress: ExperimentCallback | None

    def score(self, variants: Sequence[Mapping[str, Any]] = ({},)) -> tuple[Labels, pd.DataFrame]:
        """Every method at every rank on every fold; see :func:`score_methods`."""
        return score_methods(
            self.dataset,
            [CATALOGUE[key] for key in self.settings.methods],
            self.settings,
            checkpoints=self.checkpoints,
            progress=self.progress,
            variants=variants,
        )

    def follow(self, method: str, rank: int, refits: Sequence[Refit]) -> pd.DataFrame:
        """The components of one fit in other fits; see :func:`follow_phenotypes`."""
        settings = self.settings
        # No row is tested here, so all of them choose the features.
        everyone = np.arange(self.dataset.tensor.shape[0])
        chosen = choose_features(self.dataset, everyone, settings.features)
        changes = dict(settings.fit) if method == "swift" else {}
        named = {"rank": rank, **(changes if method == "swift" else {"method": method})}
        followed = Followed(
            spec_for(method, **{**changes, "rank": rank, "seed": settings.seed}),
            json.dumps(named, sort_keys=True, default=str),
            n_jobs=1 if settings.jobs != 1 else None,
        )
        return follow_phenotypes(
            replace(self.dataset, tensor=chosen),
            followed,
            refits,
            checkpoints=self.checkpoints,
            jobs=settings.jobs,
            progress=self.progress,
        )


def run_experiment(
    kind: str,
    dataset: Dataset,
    settings: ExperimentSettings | None = None,
    *,
    checkpoints: Path | None = None,
    progress: ExperimentCallback | None = None,
) -> Experiment:
    """Run an experiment on a data set.

    Parameters
    ----------
    kind : {"evaluation", "noise", "ablation", "stability"}
        How well phenotypes predict the outcome beside other methods; what false entries do
        to that and to the phenotypes; what the cost matrices are worth; which phenotypes
        come back with other seeds and other rows.
    checkpoints : Path, optional
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
    tables, more = _EXPERIMENTS[kind](_Asked(dataset, chosen, checkpoints, progress))
    about = about_data(dataset, chosen) | more | {"seconds": time.perf_counter() - began}
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


def _scored(asked: _Asked, labels: Labels, chosen: pd.DataFrame, tables: Tables) -> Answer:
    """Tables of scores with what is to be said about them, failures included."""
    about = about_labels(asked.dataset, labels)
    failed = failures(chosen)
    if len(failed):
        tables = {**tables, "failures": failed}
        about["notes"] = [*about["notes"], *failure_notes(failed)]
    return tables, about


def _evaluation(asked: _Asked) -> Answer:
    labels, chosen = asked.score()
    tables = evaluation_tables(labels, chosen, asked.settings.folds)
    return _scored(asked, labels, chosen, tables)


def _noise(asked: _Asked) -> Answer:
    dataset, settings = asked.dataset, asked.settings
    noisy = [
        {"level": level, "draw": draw}
        for level in settings.levels
        if level > 0
        for draw in range(settings.draws)
    ]
    refits = [Refit("noise", int(v["draw"]), settings.seed, level=v["level"]) for v in noisy]
    notes = []
    if dataset.word_counts is not None:
        refits.insert(0, Refit("noise", 0, settings.seed))
        notes.append(COMPARED_BY_ENTRIES)
    survival = pd.concat(
        [asked.follow("swift", rank, refits).assign(rank=rank) for rank in settings.ranks],
        ignore_index=True,
    )
    tables = {"survival": survival[["rank", "phenotype", "level", "draw", "cosine"]]}
    if dataset.outcome is None:
        return tables, {"found_from": FOUND_FROM, "notes": notes}
    labels, chosen = asked.score([{"level": 0.0, "draw": 0}, *noisy])
    tables["scores"] = score_table(
        chosen, "method", "kind", "rank", "level", "draw", "repeat", "fold", "score"
    )
    tables, about = _scored(asked, labels, chosen, tables)
    return tables, about | {"found_from": FOUND_FROM, "notes": [*about["notes"], *notes]}


def _ablation(asked: _Asked) -> Answer:
    possible = [key for key, method in CATALOGUE.items() if method.costs != "none"]
    _refuse_methods(asked.settings.methods, possible, "A method uses no cost matrices")
    labels, chosen = asked.score([{"recipe": recipe} for recipe in asked.settings.recipes])
    scores = score_table(
        chosen, "method", "recipe", "rank", "repeat", "fold", "score", "validation"
    )
    return _scored(asked, labels, chosen, {"scores": scores})


def _stability(asked: _Asked) -> Answer:
    settings = asked.settings
    possible = [key for key, method in CATALOGUE.items() if method.repeatable]
    _refuse_methods(settings.methods, possible, "A method needs labels, or has no phenotypes")
    refits = [Refit("seed", run, settings.seed + 1 + run) for run in range(settings.seeds)] + [
        Refit("fold", run, settings.seed, without=run, n_parts=settings.folds)
        for run in range(settings.folds)
    ]
    matches, summaries = [], []
    for method, rank in product(settings.methods, settings.ranks):
        found = asked.follow(method, rank, refits)
        matches.append(found.assign(method=method, rank=rank))
        summaries.append(summarise_matches(found).assign(method=method, rank=rank))
    tables = {
        "matches": pd.concat(matches, ignore_index=True)[
            ["method", "rank", "phenotype", "against", "run", "cosine"]
        ],
        "summary": pd.concat(summaries, ignore_index=True),
    }
    return tables, {"found_from": FOUND_FROM}


_EXPERIMENTS = {
    "evaluation": _evaluation,
    "noise": _noise,
    "ablation": _ablation,
    "stability": _stability,
}
