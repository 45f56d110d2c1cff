"""Finished results as a page reads them: arrays and tables, no estimator and no compiler."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.store.imported import Origin, read_origin
from swiftcore.data.options import Limits
from swiftcore.data.reading.array_file import read_arrays
from swiftcore.data.reading.source import Budget
from swiftcore.errors import InvalidData, refuse
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.model_checks import MAX_MODES, MODE_FIELDS, is_sound_factor
from swiftcore.model_file import ModelContents
from swiftcore.phenotypes.consensus import Agreement
from swiftcore.phenotypes.guidance import Step
from swiftcore.phenotypes.identifiers import component_id
from swiftcore.progress import FitOutcome
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import FLAG, Range, listed, named, record, record_faults, whole
from swiftcore.spec import DEFAULTS, ModelSpec
from swiftcore.spec.row_relation import explained
from swiftcore.tensor import Mode
from swiftcore.tensor.entry_checks import MAX_MODE

PROJECTION_FORMAT = "swift-projection 1"
LAST_STATE = "state.npz"  # of a fit that ended at its limit: from it the fit can go on
Files = Mapping[str, bytes]
_PROJECTION = {
    "format": Range(lambda value: value == PROJECTION_FORMAT, repr(PROJECTION_FORMAT)),
    "modes": listed(record(MODE_FIELDS), MAX_MODES),
    "unknown": named(MODE_FIELDS["labels"]),
    "signed": FLAG,
    "entries_left_out": whole(0),
    "empty_rows": listed(whole(0), MAX_MODE),
}


@dataclass(frozen=True, eq=False)
class FittedRun:
    """A finished fit.

    Attributes
    ----------
    factors : list of ndarray, (mode size x rank)
        Columns of all modes but the first sum to 1, or have a length of 1 where there are
        signs; the first carries the weight.
    modes : tuple of Mode
    settings : mapping
        As asked for.
    history : DataFrame
        One row per iteration, columns as in FitProgress; the start first.
    outcome : str
        How the fit ended, a sentence.
    row_relation : str
        Between which rows mass moved and why, a sentence; empty for methods that move none.
    dead : tuple of int
        Components that lost their mass.
    links : Experiment or None
        How the phenotypes go with the outcome, if the data set has one.
    imported : Origin or None
        Where it came from; None if it was computed here.
    guidance : tuple of Step
        For a refit, what was changed in the fit it began as.
    agreement : Agreement or None
        Of the fits behind a consensus.
    can_go_on : bool
        Whether the state is there in which it reached its limit.
    """

    factors: list[NDArray[np.float64]]
    modes: tuple[Mode, ...]
    settings: Mapping[str, Any]
    history: pd.DataFrame
    outcome: str
    converged: bool
    dead: tuple[int, ...]
    objective: float
    links: Experiment | None
    imported: Origin | None = None
    guidance: tuple[Step, ...] = ()
    agreement: Agreement | None = None
    can_go_on: bool = False
    row_relation: str = ""

    @property
    def rank(self) -> int:
        return int(self.factors[0].shape[1])

    @property
    def method(self) -> str:
        """The key of the factorization; files that name none are of SWIFT."""
        return str(self.settings.get("method", DEFAULTS["method"]))

    @property
    def signed(self) -> bool:
        """Whether its factors may be below 0."""
        return factorization(self.method).signed

    @property
    def identifiers(self) -> tuple[str, ...]:
        """P01, P02, ...: one per column of the factors, dead ones included."""
        return tuple(component_id(component, self.rank) for component in range(self.rank))

    def phenotype_digest(self, component: int) -> str:
        """What the phenotype says: 32 hex digits of its features' names and weights.

        A review is bound to it, so that it never passes to another phenotype of the same number.
        """
        sha = hashlib.sha256(b"phenotype 1")
        for mode, factor in zip(self.modes[1:], self.factors[1:], strict=True):
            weights = np.round(factor[:, component], 6)
            present = np.flatnonzero(weights)
            named = sorted((mode.labels[index], float(weights[index])) for index in present)
            sha.update(json.dumps([mode.name, named]).encode())
        return sha.hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class Projection:
    """New rows described by the phenotypes of an earlier fit, each row by itself.

    Attributes
    ----------
    modes : tuple of Mode
        First the new rows, then the features of the fit.
    memberships : ndarray, (rows x rank)
    row_labels : tuple of str
    coordinates, values : ndarray
        The entries used, in the fit's features.
    profiles : list of ndarray
        The fit's factors of the modes after the first.
    unknown : mapping of mode name to tuple of str
        Features of the new rows that the fit does not know; they were left out.
    entries_left_out : int
        Entries that named such a feature.
    empty_rows : tuple of int
        Rows of which nothing is known to the fit; their memberships are zero.
    """

    modes: tuple[Mode, ...]
    memberships: NDArray[np.float64]
    row_labels: tuple[str, ...]
    coordinates: NDArray[np.int64]
    values: NDArray[np.float64]
    profiles: list[NDArray[np.float64]]
    unknown: Mapping[str, tuple[str, ...]]
    entries_left_out: int
    empty_rows: tuple[int, ...]

    @property
    def identifiers(self) -> tuple[str, ...]:
        """P01, P02, ...: the columns of the memberships."""
        rank = self.memberships.shape[1]
        return tuple(component_id(component, rank) for component in range(rank))


def entry_shares(
    membership: NDArray[np.float64],
    profiles: Sequence[NDArray[np.float64]],
    features: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Which phenotype explains which entry of a row.

    Parameters
    ----------
    membership : ndarray, (rank,)
        The row's memberships.
    profiles : sequence of ndarray, (mode size x rank)
        Factors of the modes after the first.
    features : ndarray of int, (entries x modes after the first)

    Returns
    -------
    ndarray, (entries x rank)
        Shares of the model's value at the entry, below 0 where a phenotype speaks against it;
        by absolute value they add up to 1, or are all 0 where no phenotype of the row knows it.
    """
    parts: NDArray[np.float64] = np.tile(membership, (len(features), 1)).astype(np.float64)
    for axis, profile in enumerate(profiles):
        parts = parts * profile[features[:, axis]]
    whole = np.abs(parts).sum(axis=1, keepdims=True)
    shares = np.zeros_like(parts)
    np.divide(parts, whole, out=shares, where=whole > 0)
    return shares


def read_fit(
    files: Files, settings: Mapping[str, Any], guidance: tuple[Step, ...] = ()
) -> FittedRun:
    """A fit from its stored files, which must be of these settings and changes.

    Raises
    ------
    InvalidData
        If they do not hold a fit whose parts go together.
    """
    if "model.npz" not in files:
        raise _no_result("model.npz", KeyError("model.npz"))
    stored = ModelContents.from_bytes(files["model.npz"], "model.npz")
    if not _is_of(stored, ModelSpec.of(settings)):
        raise _no_result("model.npz", ValueError("other settings than those asked for"))
    if (stored.guidance.steps if stored.guidance else ()) != guidance:
        raise _no_result("model.npz", ValueError("other changes than those asked for"))
    links = None
    if "links.json" in files:
        links = _links(files["links.json"], stored.spec.rank)
    return FittedRun(
        factors=stored.factors,
        modes=stored.modes,
        settings=dict(settings),
        history=pd.DataFrame([vars(entry) for entry in stored.history]),
        outcome=stored.outcome.value,
        converged=stored.outcome is FitOutcome.CONVERGED,
        dead=stored.dead_components,
        objective=stored.history[-1].objective,
        links=links,
        imported=read_origin(files),
        guidance=guidance,
        agreement=stored.agreement,
        can_go_on=LAST_STATE in files,
        row_relation=_relation(stored),
    )


def _relation(stored: ModelContents) -> str:
    if factorization(stored.spec.method).costs != "all":
        return ""
    return explained(stored.row_relation, stored.spec.row_relation, len(stored.modes[0])).why


def read_experiment(files: Files) -> Experiment:
    """An experiment from its stored files; raises InvalidData if it is none."""
    if "experiment.json" not in files:
        raise _no_result("experiment.json", KeyError("experiment.json"))
    return Experiment.from_json(files["experiment.json"])


def read_projection(files: Files) -> Projection:
    """A projection from its stored files; raises InvalidData if its parts do not fit."""
    arrays = _arrays(files, "projection.npz")
    try:
        about = read_json(arrays["about"].tobytes())
        if faults := list(record_faults(about, _PROJECTION, optional=("signed",))):
            raise ValueError("; ".join(faults))
        modes = tuple(Mode(mode["name"], tuple(mode["labels"])) for mode in about["modes"])
        profiles = [arrays[f"profile_{axis}"] for axis in range(1, len(modes))]
        known = {"about", "memberships", "coordinates", "values"}
        if len(modes) < 2 or len(arrays) > len(known) + len(profiles):
            raise ValueError(f"{len(modes)} modes and {len(arrays)} arrays")
        _check_factors([arrays["memberships"], *profiles], modes, about.get("signed", False))
        places = _checked_places(arrays, modes)
        if not np.array_equal(
            about["empty_rows"], np.setdiff1d(range(len(modes[0])), places[:, 0])
        ):
            raise ValueError("other empty rows than those without an entry")
        return Projection(
            modes,
            arrays["memberships"],
            modes[0].labels,
            places,
            arrays["values"],
            profiles,
            {name: tuple(labels) for name, labels in about["unknown"].items()},
            about["entries_left_out"],
            tuple(about["empty_rows"]),
        )
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _no_result("projection", error) from error


def _checked_places(arrays: Mapping[str, NDArray[Any]], modes: Sequence[Mode]) -> NDArray[np.int64]:
    """The coordinates of the entries, beside values that can be; raises ValueError."""
    places, values = arrays["coordinates"], arrays["values"]
    if places.dtype.kind not in "iu" or places.shape != (len(values), len(modes)):
        raise ValueError(f"coordinates of shape {places.shape}")
    if places.size and ((places < 0) | (places >= [len(mode) for mode in modes])).any():
        raise ValueError("an index outside its mode")
    sound = values.dtype.kind == "f" and values.ndim == 1 and np.isfinite(values).all()
    if not sound or (values <= 0).any():
        raise ValueError("values that cannot be")
    return places.astype(np.int64)


def _is_of(stored: ModelContents, asked: ModelSpec) -> bool:
    """Whether a model has the settings asked for, as far as its file names them."""
    named = {name: value for name, value in asked.plain().items() if name in stored.parameters}
    older = ModelSpec.of({**named, "seed": asked.seed})  # files that have no spec
    return stored.spec in (asked, older)


def _links(content: bytes, rank: int) -> Experiment:
    experiment = Experiment.from_json(content)
    if experiment.kind != "links":
        raise _no_result("links.json", ValueError(f"kind {experiment.kind!r}"))
    known = {component_id(component, rank) for component in range(rank)}
    if not known.issuperset(experiment.tables["links"]["phenotype"]):
        raise _no_result("links.json", ValueError("a phenotype that the fit does not have"))
    return experiment


def _arrays(files: Files, name: str) -> dict[str, NDArray[Any]]:
    if name not in files:
        raise _no_result(name, KeyError(name))
    return read_arrays(files[name], name, Budget(Limits()))


def _check_factors(factors: Sequence[NDArray[Any]], modes: Sequence[Mode], signed: bool) -> None:
    rank = factors[0].shape[1] if factors[0].ndim == 2 else 0
    for axis, (factor, mode) in enumerate(zip(factors, modes, strict=True)):
        sound = factor.shape == (len(mode), rank) and rank > 0 and factor.dtype.kind == "f"
        if not sound or not is_sound_factor(factor, signed=signed, profiles=axis > 0):
            raise ValueError(f"{mode.name[:40]!r} has factors that cannot be")


def _no_result(what: str, error: Exception) -> InvalidData:
    return refuse(
        "result-file",
        "The stored result cannot be read",
        what,
        f"{type(error).__name__}: {error}"[:300],
        "Compute it again.",
    )
