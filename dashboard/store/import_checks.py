"""Is a run from elsewhere what it says it is? Asked before anything of it is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dashboard.store import bundle_zip, results
from dashboard.store.dataset_files import dataset_id, read_data
from dashboard.store.imported import ORIGIN, Origin, new_origin, read_origin
from dashboard.store.request import WITH_TABLES, Request
from dashboard.store.results import LAST_STATE, Files, FittedRun, Projection
from dashboard.store.run_record import RUN, Facts, read_facts
from dashboard.store.verified_folder import SEAL
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, Problem, refuse
from swiftcore.evaluation.experiments.result import Experiment

FILES = {"fit": {"model.npz", "links.json", LAST_STATE}, "projection": {"projection.npz"}}
CLOCKS = 86_400.0  # seconds by which clocks may differ
MAX_MASS = 1e9  # times the mass of the data: more than any fit gives its rows
Result = FittedRun | Experiment | Projection


@dataclass(frozen=True, eq=False)
class Bundle:
    """A run from elsewhere whose values are all in range and fit together.

    Attributes
    ----------
    files : mapping of str to bytes
        Of the run.
    request : Request
    version : str
        Of the program that computed it, as it says.
    data : Dataset or None
        If it is in the bundle.
    """

    files: Files
    request: Request
    version: str
    data: Dataset | None

    def origin(self, file: str) -> Origin:
        """The note on it, if it comes in now."""
        with_data = self.data is not None
        run = self.request.key()
        return new_origin(self.files, file, run, self.version, with_data=with_data)


def read_bundle(
    content: bytes, stored: Callable[[str], Dataset], *, shipped: bool = False
) -> Bundle:
    """A run and perhaps its data set, checked in full.

    Parameters
    ----------
    content : bytes
    stored : callable
        The data set of an id; raises UnknownDataset.
    shipped : bool
        Whether it comes with the program; then it may be newer than a clock that is slow.

    Raises
    ------
    InvalidData
        If it is no run bundle, was changed, or holds what cannot be.
    """
    folders = bundle_zip.unpack(content)
    request, facts, result = _check_run(folders["run"])
    data = None
    if "dataset" in folders:
        data = read_data(folders["dataset"], bundle_zip.FOREIGN)
        if dataset_id(data) != request.dataset:
            raise refuse(
                "bundle-data",
                "The data in the bundle are not those of the run",
                "the run bundle",
                "another data set",
                "Export the run again.",
            )
    faults = list(_data_faults(result, data or stored(request.dataset)))
    faults += () if shipped else _time_faults(facts)
    if faults:
        raise InvalidData([_not_so(fault).problems[0] for fault in faults])
    kept = {name: file for name, file in folders["run"].items() if name != LAST_STATE}
    return Bundle(kept, request, facts.version, data)  # only fits computed here go on


def _check_run(files: Files) -> tuple[Request, Facts, Result]:
    """Request, facts and result of a run, each value in its range."""
    request, facts = read_facts(files.get(RUN, b""))
    if facts.algorithm != request.version:
        raise refuse(
            "bundle-version",
            "The run was made by another version of the algorithm",
            "the run bundle",
            f"version {facts.algorithm[:20]!r}",
            "Compute it again with this version.",
        )
    read_origin(files)
    allowed = FILES.get(request.kind, {"experiment.json"}) | {RUN, ORIGIN, SEAL}
    if unknown := sorted(set(files) - allowed):
        raise _not_so(f"a file {unknown[0]} beside a {request.kind}")
    if request.run and request.kind == "fit" and not request.guidance:
        raise _not_so("a fit that belongs to a fit")
    if request.kind == "projection" and not request.run:
        raise _not_so("new rows that belong to no fit")
    return request, facts, _result(request, files)


def _data_faults(result: Result, dataset: Dataset) -> Iterator[str]:
    """In what a result is not of the data set that its request names."""
    with np.errstate(over="ignore"):
        if not np.isfinite(dataset.tensor.values.sum()):
            yield "values that are too large to be added up"
            return
    if isinstance(result, FittedRun):
        yield from _fit_faults(result, dataset)
    elif isinstance(result, Projection):
        yield from _projection_faults(result, dataset)
    else:
        yield from _experiment_faults(result, dataset)


def _result(request: Request, files: Files) -> Result:
    if request.kind == "fit":
        return results.read_fit(files, request.settings, request.guidance)
    if request.kind not in WITH_TABLES:
        return results.read_projection(files)
    experiment = results.read_experiment(files)
    if experiment.kind != request.kind:
        raise _not_so(f"a result of the kind {experiment.kind[:40]!r}")
    return experiment


def _time_faults(facts: Facts) -> Iterator[str]:
    """Times that cannot be; not asked of one's own results, made when a clock was wrong."""
    ended = facts.ended or 0.0
    if facts.created > ended + CLOCKS:
        yield "an end before the beginning"
    if ended > time.time() + CLOCKS:
        yield "a time in the future"


def _fit_faults(fit: FittedRun, dataset: Dataset) -> Iterator[str]:
    tensor = dataset.tensor
    if fit.modes != tensor.modes:
        yield "other names or labels than those of its data set"
    mass = max(float(tensor.values.sum()), tensor.n_entries)
    if not np.abs(fit.factors[0]).sum() <= MAX_MASS * mass:
        yield f"weights of {fit.factors[0].max():.3g} for data of {mass:.3g} in all"
    if fit.links is not None and dataset.outcome is None:
        yield "links to an outcome that its data set does not have"


def _projection_faults(found: Projection, dataset: Dataset) -> Iterator[str]:
    tensor = dataset.tensor
    if found.modes[0] != tensor.modes[0]:
        yield "other rows than those of its data set"
    if len(found.values) + found.entries_left_out != tensor.n_entries:
        yield "another number of entries than its data set"
    if not found.memberships.sum() <= MAX_MASS * max(float(tensor.values.sum()), tensor.n_entries):
        yield f"weights of {found.memberships.max():.3g}"


def _experiment_faults(found: Experiment, dataset: Dataset) -> Iterator[str]:
    about = found.about.get("data")
    if not isinstance(about, dict):
        yield "nothing about its data"
    elif tuple(about["shape"]) != dataset.tensor.shape:
        yield f"data of shape {about['shape']} instead of {list(dataset.tensor.shape)}"


def _not_so(found: str) -> InvalidData:
    return InvalidData(
        Problem(
            "bundle-result",
            "The result is not what its bundle says it is",
            "the run bundle",
            found,
            "Export the run again.",
        )
    )
