"""With what a fit is computed: within an amount of memory, on a cluster, or as usual."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from swiftcore.cli.data_argument import load_data, screen
from swiftcore.cluster_fit import fit_on_cluster
from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.reader import ShardedDataset, is_sharded, open_shards
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.methods.memory_need import fit_need
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.parts_fit import Means, fit_in_parts
from swiftcore.row_parts import why_whole
from swiftcore.runtime.byte_size import byte_size
from swiftcore.runtime.memory import MEGABYTE, in_units
from swiftcore.spec import ModelSpec
from swiftcore.tensor import TensorSize

LEAST = 500 * 10**6  # the packages alone take half of it
ROUNDED = 100 * MEGABYTE  # amounts that are advised
Data = Dataset | ShardedDataset


def add_means(parser: argparse.ArgumentParser) -> None:
    """The flags."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="keep within so much memory, for example 4GB: many rows are fitted in parts",
    )
    add_cluster(parser)


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """The flag for a cluster alone."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="compute on a Dask cluster: local:4, tls://host:8786, or the name of a configured one",
    )


def load_for_fit(chosen: argparse.Namespace, spec: ModelSpec) -> Data:
    """The data; shards stay on the disk when the fit takes them in parts."""
    path = Path(chosen.data)
    if is_sharded(path) and not chosen.settings:
        shards = open_shards(path)
        if chosen.data_dir is None and not why_whole(spec, shards.shape[0]):
            return shards
    return load_data(chosen.data, chosen.settings)


class ChosenFit:
    """A fit by the means that were chosen; afterwards it knows who computed it.

    Attributes
    ----------
    workers : int or None
        Processes that computed, where they are not this one.
    in_parts : bool
        Whether the rows are fitted in parts.
    """

    def __init__(self, chosen: argparse.Namespace, data: Data, spec: ModelSpec) -> None:
        self._data, self._spec, self._cluster = data, spec, chosen.cluster
        self._memory = byte_size(chosen.memory, LEAST, "--memory") if chosen.memory else None
        rows = data.tensor.shape[0] if isinstance(data, Dataset) else data.shape[0]
        whole = why_whole(spec, rows, data if isinstance(data, Dataset) else None)
        self.workers: int | None = None
        self.in_parts = not whole and (
            isinstance(data, ShardedDataset) or bool(chosen.memory) or bool(chosen.cluster)
        )
        if self._memory and whole:
            self._check_whole(whole, chosen.jobs)
        if chosen.cluster and whole:
            one = "" if spec.consensus > 1 else " One fit then runs on one worker."
            screen.print(f"{whole.capitalize()}.{one}", highlight=False, markup=False)

    def _check_whole(self, why: str, n_jobs: int | None) -> None:
        """Say that a fit of all rows keeps to the amount of memory; refuse one that does not."""
        assert isinstance(self._data, Dataset) and self._memory is not None
        tensor, spec = self._data.tensor, self._spec
        needed = fit_need(TensorSize.of(tensor), spec, n_jobs).bytes
        if needed > self._memory:
            near = replace(spec, row_relation="neighbourhoods")
            parts = not why_whole(near, tensor.shape[0], self._data)
            raise _beyond(why, needed, in_parts_otherwise=parts)
        words = f"{why[0].upper()}{why[1:]}: this one takes all rows at once."
        screen.print(words, highlight=False, markup=False)

    def run(self, n_jobs: int | None, **more: Any) -> FittedModel:
        """The fitted model; ``more`` are arguments of :func:`swiftcore.fitting.fit_dataset`."""
        if self._cluster:
            means = self._means(n_jobs)
            found = fit_on_cluster(self._data, self._spec, self._cluster, means=means, **more)
            self.workers = len(found.workers)
            return found.model
        if self.in_parts:
            more.pop("fits_callback", None)
            return fit_in_parts(self._data, self._spec, self._means(n_jobs), **more)
        assert isinstance(self._data, Dataset)
        return fit_dataset(self._data, self._spec, n_jobs=n_jobs, **more)

    def _means(self, n_jobs: int | None) -> Means:
        return Means(self._memory, n_jobs)


def refuse_in_store(chosen: argparse.Namespace) -> None:
    """The dashboard's own jobs have neither a budget nor a cluster."""
    given = [name for name in ("memory", "cluster") if getattr(chosen, name, None)]
    if given and chosen.data_dir is not None:
        raise refuse(
            "means-in-store",
            "Fits for the dashboard's store are computed as usual",
            f"--{given[0]}",
            "--data-dir beside it",
            "Write the result to a folder with --out; swift open shows it.",
            kind=InvalidSettings,
        )


def _beyond(why: str, needed: float, *, in_parts_otherwise: bool) -> InvalidSettings:
    enough = f"{math.ceil(needed / ROUNDED) * ROUNDED // MEGABYTE:.0f}MB"
    ways = [f"Give --memory {enough}"]
    ways += ["fit in parts (--row-relation neighbourhoods)"] if in_parts_otherwise else []
    return refuse(
        "memory-parts",
        "A fit of all rows at once takes more memory than it may",
        "--memory",
        f"{why}, and about {in_units(needed)} needed",
        f"{', or '.join([*ways, 'use fewer rows'])}.",
        kind=InvalidSettings,
    )
