"""The one door to every experiment, for the command line and for the dashboard."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.experiments import outcome_links
from swiftcore.evaluation.experiments.about import about_data, about_scores
from swiftcore.evaluation.experiments.cross_validation import score_methods
from swiftcore.evaluation.experiments.rank_choice import recommended, try_ranks
from swiftcore.evaluation.experiments.result import Experiment, ExperimentCallback
from swiftcore.evaluation.experiments.score_tables import (
    Scored,
    Tables,
    ablation_tables,
    evaluation_tables,
    failure_notes,
    failures,
    noise_tables,
)
from swiftcore.evaluation.experiments.settings import AS_GIVEN, ExperimentSettings
from swiftcore.evaluation.experiments.stability import (
    Followed,
    Refit,
    follow_phenotypes,
    summarise_matches,
)
from swiftcore.evaluation.methods.catalogue import (
    CATALOGUE,
    methods_for,
    spec_for,
    usual_methods,
)
from swiftcore.evaluation.methods.method import Method
from swiftcore.evaluation.protocol.folds import read_labels
from swiftcore.evaluation.protocol.preparation import choose_features
from swiftcore.phenotypes.matching import FOUND_FROM
from swiftcore.spec import ModelSpec

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

    def score(self, variants: Sequence[Mapping[str, Any]] = ({},)) -> Scored:
        """Every method at every rank on every fold; see :func:`score_methods`."""
        return score_methods(
            self.dataset,
            [self._method(key) for key in self.settings.methods],
            self.settings,
            checkpoints=self.checkpoints,
            progress=self.progress,
            variants=variants,
        )

    def _method(self, key: str) -> Method:
        """With its grid, or as the given spec says."""
        judged = key == self.settings.judged
        return CATALOGUE[key].fixed(self.settings.changes(key)) if judged else CATALOGUE[key]

    def follow(
        self, method: str, rank: int, refits: Sequence[Refit]
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The components of one fit in other fits, and the fits that failed.

        See :func:`follow_phenotypes`.
        """
        settings = self.settings
        # No row is tested here, so all of them choose the features.
        everyone = np.arange(self.dataset.tensor.shape[0])
        chosen = choose_features(self.dataset, everyone, settings.features)
        spec = spec_for(method, **{"seed": settings.seed, **settings.changes(method), "rank": rank})
        named = json.dumps(spec.to_json(), sort_keys=True)
        followed = Followed(spec, named, n_jobs=1 if settings.jobs != 1 else None)
        found, failed = follow_phenotypes(
            replace(self.dataset, tensor=chosen),
            followed,
            refits,
            checkpoints=self.checkpoints,
            jobs=settings.jobs,
            progress=self.progress,
        )
        return found.assign(method=method, rank=rank), _failed_refits(failed, method, rank)


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
    kind : {"evaluation", "noise", "ablation", "stability", "ranks"}
        How well phenotypes predict the outcome beside other methods; what false entries do
        to that and to the phenotypes; what the cost matrices are worth; which phenotypes
        come back with other seeds and other rows; how many phenotypes to ask for.
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
    methods = chosen.methods or _usual(kind, dataset, chosen)
    if chosen.judged and chosen.judged not in methods:
        methods = (chosen.judged, *methods)
    chosen = replace(chosen, methods=methods)
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
    if kind in ("ablation", "stability", "ranks"):
        return (settings.ours,)
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


def _failed_refits(failed: Sequence[tuple[Refit, str]], method: str, rank: int) -> pd.DataFrame:
    lines = [
        {
            "method": method,
            "rank": rank,
            "level": refit.level,
            "what": refit.words,
            "reason": reason,
        }
        for refit, reason in failed
    ]
    return pd.DataFrame(lines, columns=["method", "rank", "level", "what", "reason"])


def _with_failures(tables: Tables, about: dict[str, Any], failed: Sequence[pd.DataFrame]) -> Answer:
    """The answer, with what failed as a table and in words."""
    names = ["method", "rank", "level", "what", "reason"]
    every = pd.concat([one[names] for one in failed], ignore_index=True)
    if len(every):
        tables = {**tables, "failures": every}
        about = {**about, "notes": [*about.get("notes", ()), *failure_notes(every)]}
    return tables, about


def _refuse_nothing(failed: pd.DataFrame) -> NoReturn:
    first = failed.iloc[0]
    raise refuse(
        "all-failed",
        "No method came to a result",
        str(first["what"]),
        first["reason"],
        "Fix that first.",
    )


def _evaluation(asked: _Asked) -> Answer:
    scored = asked.score()
    failed = failures(scored)
    if scored.all_failed:
        _refuse_nothing(failed)
    about = about_scores(asked.dataset, scored)
    return _with_failures(evaluation_tables(scored), about, [failed])


def _noise(asked: _Asked) -> Answer:
    dataset, settings = asked.dataset, asked.settings
    noisy = [
        {"level": level, "draw": draw}
        for level in settings.levels
        if level > 0
        for draw in range(settings.draws)
    ]
    seed = int(settings.fit.get("seed", settings.seed))
    refits = [Refit("noise", int(v["draw"]), seed, level=v["level"]) for v in noisy]
    notes = []
    if dataset.word_counts is not None:
        refits.insert(0, Refit("noise", 0, seed))
        notes.append(COMPARED_BY_ENTRIES)
    followed = [asked.follow(settings.ours, rank, refits) for rank in settings.ranks]
    survival = pd.concat([found for found, _ in followed], ignore_index=True)
    tables = {"survival": survival[["rank", "phenotype", "level", "draw", "cosine"]]}
    about, failed = {"found_from": FOUND_FROM, "notes": notes}, [one for _, one in followed]
    if dataset.outcome is not None:
        scored = asked.score([{"level": 0.0, "draw": 0}, *noisy])
        tables |= noise_tables(scored)
        said = about_scores(dataset, scored)
        about = said | about | {"notes": [*said["notes"], *notes]}
        failed.append(failures(scored))
    return _with_failures(tables, about, failed)


def _ablation(asked: _Asked) -> Answer:
    possible = methods_for("ablation")
    _refuse_methods(asked.settings.methods, possible, "A method uses no cost matrices")
    recipes = asked.settings.recipes
    given = ModelSpec.of(asked.settings.fit)
    if asked.settings.judged and (given.mode_costs or given.costs not in recipes):
        recipes = (AS_GIVEN, *recipes)  # what it is the others are compared with
    scored = asked.score([{"recipe": recipe} for recipe in recipes])
    failed = failures(scored)
    if scored.all_failed:
        _refuse_nothing(failed)
    reference = given.costs if given.costs in recipes and AS_GIVEN not in recipes else recipes[0]
    about = about_scores(asked.dataset, scored)
    return _with_failures(ablation_tables(scored, reference), about, [failed])


def _stability(asked: _Asked) -> Answer:
    settings = asked.settings
    possible = methods_for("stability")
    _refuse_methods(settings.methods, possible, "A method needs labels, or has no phenotypes")
    seed = int(settings.fit.get("seed", settings.seed))
    refits = [Refit("seed", run, seed + 1 + run) for run in range(settings.seeds)] + [
        Refit("fold", run, seed, without=run, n_parts=settings.folds)
        for run in range(settings.folds)
    ]
    matches, summaries, failed = [], [], []
    for method, rank in product(settings.methods, settings.ranks):
        found, lost = asked.follow(method, rank, refits)
        matches.append(found)
        summaries.append(summarise_matches(found).assign(method=method, rank=rank))
        failed.append(lost)
    columns = ["method", "rank", "phenotype", "against", "run", "cosine"]
    tables = {
        "matches": pd.concat(matches, ignore_index=True)[columns],
        "summary": pd.concat(summaries, ignore_index=True),
    }
    if tables["summary"].empty:
        _refuse_nothing(pd.concat(failed))
    return _with_failures(tables, {"found_from": FOUND_FROM}, failed)


def _ranks(asked: _Asked) -> Answer:
    settings = asked.settings
    possible = methods_for("ranks")
    _refuse_methods(settings.methods, possible, "The number of phenotypes is tried for SWIFT")
    everyone = np.arange(asked.dataset.tensor.shape[0])  # none is tested
    chosen = choose_features(asked.dataset, everyone, settings.features)
    given, fits = settings.changes("swift"), 1 + settings.seeds
    table = try_ranks(
        replace(asked.dataset, tensor=chosen),
        spec_for("swift", **{"seed": settings.seed, **given, "consensus": fits}),
        settings.ranks,
        checkpoints=asked.checkpoints,
        jobs=settings.jobs,
        progress=asked.progress,
    )
    rank, reason = recommended(table)
    notes = []
    if (agreed := given.get("consensus", fits)) != fits:
        notes.append(f"Each number is tried with {fits} fits, not the {agreed} of the given spec.")
    about = {"recommended": rank, "reason": reason, "notes": notes}
    return {"ranks": table}, {"found_from": FOUND_FROM, **about}


_EXPERIMENTS = {
    "evaluation": _evaluation,
    "noise": _noise,
    "ablation": _ablation,
    "stability": _stability,
    "ranks": _ranks,
}
