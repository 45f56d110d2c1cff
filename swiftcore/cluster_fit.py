"""A fit over the processes of a cluster, to the bits of a fit in this process.

Rows that exchange mass within neighbourhoods only come in parts, and all workers compute one fit:
the factors of the features go out, one sum of numerators comes back. Any other fit is one task;
the fits behind a consensus are one task each, side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from swiftcore.cluster.connection import connected
from swiftcore.cluster.dask_team import DaskTeam
from swiftcore.cluster.whole_fits import WholeFits
from swiftcore.consensus_fits import Watch
from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.reader import ShardedDataset
from swiftcore.fitting import FittedModel, Stage, fit_elsewhere
from swiftcore.parts_fit import Means, fit_in_parts
from swiftcore.progress import FitsCallback, ProgressCallback
from swiftcore.row_parts import Prepared, why_whole
from swiftcore.spec import ModelSpec
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.parts.engine import Team


@dataclass(frozen=True)
class ClusterFit:
    """A fitted model and who computed it.

    Attributes
    ----------
    model : FittedModel
    workers : frozenset of (host, process id)
    why_whole : str
        Why the fit did not come in parts; empty when it did.
    """

    model: FittedModel
    workers: frozenset[tuple[str, int]]
    why_whole: str = ""


def fit_on_cluster(
    data: Dataset | ShardedDataset,
    spec: ModelSpec,
    address: str,
    *,
    means: Means | None = None,
    callback: ProgressCallback | None = None,
    fits_callback: FitsCallback | None = None,
    checkpoint: FitCheckpoint | None = None,
    stage: Stage | None = None,
) -> ClusterFit:
    """Factorize all rows of a data set on a cluster.

    Parameters
    ----------
    data, spec, callback, fits_callback, stage, checkpoint
        As in :func:`swiftcore.fitting.fit_dataset`.
    address : str
        ``local:4`` for four processes on this machine, that of a Dask scheduler
        (``tls://host:8786``), or the name of a configured cluster.
    """
    rows = data.shape[0] if isinstance(data, ShardedDataset) else data.tensor.shape[0]
    whole = why_whole(spec, rows, data if isinstance(data, Dataset) else None)
    with connected(address) as client:
        if not whole:
            teams: list[DaskTeam] = []

            def team(prepared: Prepared, folder: Path, room: float) -> Team:
                teams.append(DaskTeam(client, prepared.parts, prepared.shared))
                return teams[-1]

            model = fit_in_parts(
                data,
                spec,
                means,
                callback=callback,
                stage=stage,
                checkpoint=checkpoint,
                make_team=team,
            )
            return ClusterFit(model, frozenset(teams[0].workers))
        fits = WholeFits(client)
        dataset = data.to_dataset() if isinstance(data, ShardedDataset) else data
        watch = Watch(fits_callback, callback, checkpoint)
        model = fit_elsewhere(dataset, spec, fits.job, fits.count, watch, stage)
        return ClusterFit(model, frozenset(fits.workers), whole)
