"""Which phenotypes come back: with other seeds, with other rows, under noise."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.evaluation.experiments.checkpoints import (
    FAILED,
    Checkpoint,
    Task,
    compute_checkpoints,
)
from swiftcore.evaluation.experiments.result import ExperimentCallback
from swiftcore.evaluation.protocol.folds import row_groups
from swiftcore.evaluation.protocol.noise import Noise, add_noise
from swiftcore.fitting import fit_dataset
from swiftcore.phenotypes.identifiers import component_id
from swiftcore.phenotypes.matching import FOUND_FROM, match
from swiftcore.spec import ModelSpec


@dataclass(frozen=True)
class Refit:
    """One more fit of the same model: another seed, fewer rows, or noise."""

    against: str  # clean, seed, fold or noise
    run: int
    seed: int
    without: int = -1  # the part of the rows left out
    n_parts: int = 5
    level: float = 0.0

    @property
    def words(self) -> str:
        if self.against == "clean":
            return "the fit that is followed"
        if self.against == "noise":
            return f"phenotypes under {self.level:.0%} noise, draw {self.run + 1}"
        return f"fit again, {self.against} {self.run + 1}"


@dataclass(frozen=True)
class Followed:
    """The model whose components are looked for in other fits.

    Attributes
    ----------
    spec : ModelSpec
        Of the clean fit.
    name : str
        Names the model and its settings in the keys of the checkpoints.
    n_jobs : int or None
        Workers inside a fit.
    """

    spec: ModelSpec
    name: str
    n_jobs: int | None = None


def refit_profiles(dataset: Dataset, followed: Followed, refit: Refit) -> Checkpoint:
    """Feature factors of one more fit, as plain values."""
    data = dataset
    if refit.without >= 0:
        data = _with_rows(dataset, kept_rows(dataset, refit.without, refit.n_parts))
    if refit.against == "noise":  # level 0 too: documents are compared by their entries then
        noisy = add_noise(dataset.tensor, Noise(refit.level, refit.run))
        data = replace(dataset, tensor=noisy, word_counts=None, words=())
    spec = replace(followed.spec, seed=refit.seed)
    factors = fit_dataset(data, spec, n_jobs=followed.n_jobs).factors
    return {"features": [np.round(factor, 9).tolist() for factor in factors[1:]]}


def kept_rows(dataset: Dataset, part: int, n_parts: int) -> NDArray[np.int64]:
    """All rows but one part of them; groups stay together."""
    groups = row_groups(dataset)
    names = np.unique(groups)
    rng = np.random.default_rng(0)  # always the same parts
    place = rng.permutation(len(names)) % n_parts
    return np.flatnonzero(place[np.searchsorted(names, groups)] != part)


def follow_phenotypes(
    dataset: Dataset,
    followed: Followed,
    refits: Sequence[Refit],
    *,
    checkpoints: Path | None = None,
    jobs: int = 1,
    progress: ExperimentCallback | None = None,
) -> tuple[pd.DataFrame, list[tuple[Refit, str]]]:
    """Similarity of every component of the clean fit to its partner in each refit.

    Returns
    -------
    DataFrame
        phenotype, against, run, level, draw, cosine.
    list of (Refit, str)
        The fits that failed, with the reason; without the clean one the table is empty.
    """
    every = [Refit("clean", 0, followed.spec.seed), *refits]
    digest = data_digest(dataset)
    tasks = [
        Task(_key(digest, followed.name, refit), refit.words, (dataset, followed, refit))
        for refit in every
    ]
    parts = compute_checkpoints(tasks, refit_profiles, checkpoints, jobs, progress)
    failed = [
        (refit, part[FAILED]) for refit, part in zip(every, parts, strict=True) if FAILED in part
    ]
    done = {
        refit: [np.array(factor) for factor in part["features"]]
        for refit, part in zip(every, parts, strict=True)
        if FAILED not in part
    }
    clean = done.pop(every[0], None)
    columns = ["phenotype", "against", "run", "level", "draw", "cosine"]
    if clean is None:
        return pd.DataFrame(columns=columns), failed
    rank = clean[0].shape[1]
    lines = [
        {
            "phenotype": component_id(component, rank),
            "against": refit.against,
            "run": refit.run,
            "level": refit.level,
            "draw": refit.run,
            "cosine": float(cosine),
        }
        for refit, other in done.items()
        for component, cosine in enumerate(match(clean, other))
    ]
    return pd.DataFrame(lines, columns=columns), failed


def summarise_matches(matches: pd.DataFrame) -> pd.DataFrame:
    """Share of runs in which each phenotype was found again, and the mean similarity.

    Empty unless there are runs of both kinds, with other seeds and with other rows.
    """
    found = matches.assign(found=matches["cosine"] >= FOUND_FROM)
    if not {"seed", "fold"} <= set(found["against"]):
        return pd.DataFrame(columns=["phenotype", "seeds", "folds", "cosine"])
    shares = found.pivot_table(
        index="phenotype", columns="against", values="found", aggfunc="mean", sort=True
    )
    means = found.groupby("phenotype")["cosine"].mean()
    table = pd.DataFrame(
        {
            "phenotype": shares.index,
            "seeds": shares["seed"].to_numpy(float),
            "folds": shares["fold"].to_numpy(float),
        }
    )
    table["cosine"] = means.loc[table["phenotype"]].to_numpy()
    return table


def _with_rows(dataset: Dataset, rows: NDArray[np.int64]) -> Dataset:
    return Dataset(
        name=dataset.name,
        tensor=dataset.tensor.select(0, rows),
        outcome=None if dataset.outcome is None else dataset.outcome[rows],
        outcome_name=dataset.outcome_name,
        origin=dataset.origin,
        word_counts=None if dataset.word_counts is None else dataset.word_counts[rows],
        words=dataset.words,
        outside=dataset.outside,
    )


def _key(digest: str, name: str, refit: Refit) -> str:
    return hashlib.sha256(f"refit 1 {digest} {name} {refit}".encode()).hexdigest()
