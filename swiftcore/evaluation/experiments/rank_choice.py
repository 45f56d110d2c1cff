"""How many phenotypes: what comes back and what is left over, for several ranks.

More components always leave less over, and from some number on they no longer come back: then
they describe the start more than the data. For each rank a consensus is made; its stability is
the share of the fits behind it in which a component is found, on average.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.evaluation.experiments.checkpoints import Checkpoint, Task, compute_checkpoints
from swiftcore.evaluation.experiments.result import ExperimentCallback
from swiftcore.fitting import fit_dataset
from swiftcore.spec import ModelSpec

STEADY = 0.9  # from this stability on the components of a rank are taken to come back


def rank_part(dataset: Dataset, spec: ModelSpec, n_jobs: int | None) -> Checkpoint:
    """Stability and objective of one rank, as plain values."""
    fitted = fit_dataset(dataset, spec, n_jobs=n_jobs)
    assert fitted.agreement is not None
    shares = np.array(fitted.agreement.found_in) / fitted.agreement.n_fits
    return {
        "stability": float(shares.mean()),
        "least": float(shares.min()),
        "objective": float(fitted.history[-1].objective),
    }


def try_ranks(
    dataset: Dataset,
    spec: ModelSpec,
    ranks: Sequence[int],
    *,
    checkpoints: Path | None = None,
    jobs: int = 1,
    progress: ExperimentCallback | None = None,
) -> pd.DataFrame:
    """One line per rank: its stability, its least stable component and its objective."""
    digest, asked = data_digest(dataset), sorted(set(ranks))
    inside = 1 if jobs != 1 else None
    tasks = [
        Task(
            hashlib.sha256(f"rank 1 {digest} {own.plain()}".encode()).hexdigest(),
            f"{own.consensus} fits with {own.rank} components",
            (dataset, own, inside),
        )
        for own in (replace(spec, rank=rank) for rank in asked)
    ]
    parts = compute_checkpoints(tasks, rank_part, checkpoints, jobs, progress)
    return pd.DataFrame([{"rank": rank, **part} for rank, part in zip(asked, parts, strict=True)])


def recommended(table: pd.DataFrame) -> tuple[int, str]:
    """Of the ranks tried, the one to take, and why in one sentence.

    The largest whose components come back in ``STEADY`` of the fits on average; if there is
    none, the one whose components come back most often, the smallest of several.
    """
    steady = table[table["stability"] >= STEADY]
    if len(steady):
        chosen = steady.sort_values("rank").iloc[-1]
        why = "the largest number tried at which they come back in at least "
        why += f"{STEADY:.0%} of the fits on average ({chosen['stability']:.0%})"
    else:
        chosen = table.sort_values(["stability", "rank"], ascending=[False, True]).iloc[0]
        why = f"they come back most often, yet only in {chosen['stability']:.0%} of the fits on"
        why += " average, so fewer may be better still"
    return int(chosen["rank"]), f"Take {chosen['rank']:.0f} phenotypes: {why}."
