"""A fitted model in one file: npz, no pickle, written whole or not at all.

One reader for everybody: an estimator is restored from the contents, a page takes its plain
arrays. Reading loads neither the compiler nor an estimator.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.checks import check_costs
from swiftcore.data.options import Limits
from swiftcore.data.reading.array_file import read_arrays
from swiftcore.data.reading.source import Budget
from swiftcore.errors import InvalidData, InvalidSettings, refuse
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.factorizations import load_estimator
from swiftcore.evaluation.methods.method import AS_RECORDED
from swiftcore.model_checks import (
    ABOUT,
    LATER,
    MODEL_FORMAT,
    check_agreement,
    check_history,
    check_names,
    checked_weights,
    is_sound_factor,
)
from swiftcore.phenotypes.consensus import Agreement
from swiftcore.phenotypes.guidance import Guidance
from swiftcore.phenotypes.identifiers import dead_components
from swiftcore.phenotypes.shares import masses
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import record_faults
from swiftcore.spec import SETTINGS, ModelSpec, renamed, value_problems
from swiftcore.tensor import Mode

OWN = Limits(decoded_mb=65_536)  # a file that its owner names may be large
_RETIRED = {"paper_schedule"}  # parameters of estimators that older files still name
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelContents:
    """What a file of a model holds.

    Attributes
    ----------
    spec : ModelSpec
    parameters : dict
        Of the estimator.
    modes : tuple of Mode
    factors : list of ndarray, (mode size x rank)
    outcome : FitOutcome
    history : tuple of FitProgress
    dead_components : tuple of int
    value_unit, rows_fixed, feature_costs
        What SWIFT needs to project new rows.
    weighting : dict
        How the entries of new rows are weighed; the fields of ``EntryWeighting``.
    guidance : Guidance or None
        For a guided refit, what was asked of which result.
    agreement : Agreement, optional
        Of the fits behind a consensus.
    row_relation : {"dense", "neighbourhoods", "none"}
        Between which rows mass moved.
    """

    spec: ModelSpec
    parameters: Mapping[str, Any]
    modes: tuple[Mode, ...]
    factors: list[Array]
    outcome: FitOutcome
    history: tuple[FitProgress, ...]
    dead_components: tuple[int, ...]
    value_unit: float
    rows_fixed: bool
    feature_costs: Sequence[Array | None]
    weighting: Mapping[str, Any]
    guidance: Guidance | None = None
    agreement: Agreement | None = None
    row_relation: str = "none"

    @classmethod
    def of(
        cls,
        model: Any,
        spec: ModelSpec,
        weighting: Mapping[str, Any],
    ) -> ModelContents:
        """The contents of a fitted estimator."""
        return cls(
            spec,
            model.get_params(),
            tuple(model.modes_),
            list(model.factors_),
            model.outcome_,
            tuple(model.history_),
            getattr(model, "dead_components_", dead_components(masses(model.factors_))),
            getattr(model, "value_unit_", 1.0),
            getattr(model, "rows_fixed_", True),
            getattr(model, "feature_costs_", [None] * (len(model.modes_) - 1)),
            weighting,
            row_relation=getattr(model, "row_relation_", "none"),
        )

    def restore(self, model: Any) -> None:
        """Give an unfitted estimator everything it had after its fit."""
        model.factors_ = self.factors
        model.memberships_ = self.factors[0]
        model.modes_ = self.modes
        model.outcome_ = self.outcome
        model.history_ = self.history
        model.n_iterations_ = len(self.history) - 1
        model.objective_ = self.history[-1].objective
        model.dead_components_ = self.dead_components
        model.value_unit_ = self.value_unit
        model.rows_fixed_ = self.rows_fixed
        model.row_relation_ = self.row_relation
        model.feature_costs_ = list(self.feature_costs)

    def to_bytes(self) -> bytes:
        """The file."""
        weights = self.weighting.get("features")
        about = {
            "format": MODEL_FORMAT,
            "spec": self.spec.to_json(),
            "parameters": dict(self.parameters),
            "modes": [{"name": mode.name, "labels": mode.labels} for mode in self.modes],
            "outcome": self.outcome.name,
            "dead_components": self.dead_components,
            "value_unit": self.value_unit,
            "rows_still": self.rows_fixed,
            "row_relation": self.row_relation,
            "weighting": {k: v for k, v in self.weighting.items() if k != "features"},
            "history": [vars(entry) for entry in self.history],
        }
        if self.guidance is not None:
            about["guidance"] = self.guidance.plain()
        arrays: dict[str, Any] = {f"factor_{mode}": part for mode, part in enumerate(self.factors)}
        for mode, cost in enumerate(self.feature_costs, start=1):
            if cost is not None:
                arrays[f"cost_{mode}"] = cost
        if weights is not None:
            arrays["feature_weights"] = weights
        if self.agreement is not None:
            about |= {"fits": self.agreement.n_fits, "found_in": self.agreement.found_in}
            arrays |= {f"spread_{n}": part for n, part in enumerate(self.agreement.spread, 1)}
        text = json.dumps(about, default=_plain).encode()
        buffer = io.BytesIO()
        np.savez_compressed(buffer, about=np.frombuffer(text, dtype=np.uint8), **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, name: str, limits: Limits | None = None) -> ModelContents:
        """Read a file that may come from anywhere.

        Raises
        ------
        InvalidData
            If it is no model, is damaged, or holds factors that cannot be.
        """
        try:
            return _read(read_arrays(content, name, Budget(limits or Limits())))
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise _no_model(name, error) from error


def write_model(path: Path, contents: ModelContents) -> None:
    """Write a file whole or not at all."""
    write_atomic(path, contents.to_bytes())


def read_model(path: Path) -> ModelContents:
    """Read a file that its owner names; raises InvalidData if it is no model."""
    if not path.is_file():
        raise refuse(
            "model-missing",
            "There is no such file",
            str(path),
            "nothing",
            "Check the path and its spelling.",
        )
    return ModelContents.from_bytes(path.read_bytes(), str(path), OWN)


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted estimator; a file that is already there stays whole until the new one is."""
    if not hasattr(model, "factors_"):
        raise refuse(
            "not-fitted",
            "Only a fitted model can be saved",
            type(model).__name__,
            "no factors",
            "Call fit first.",
            kind=InvalidSettings,
        )
    spec = _spec_of(model.get_params())
    write_model(Path(path), ModelContents.of(model, spec, {}))


def load_model(path: str | Path) -> Any:
    """Read a SWIFT estimator written by :func:`save_model`.

    Raises
    ------
    InvalidData
        If the file is no model, is damaged, or holds factors that cannot be.
    """
    stored = read_model(Path(path))
    try:
        model = load_estimator(stored.spec.method)(**stored.parameters)
    except TypeError as error:
        raise _no_model(str(path), error) from error
    stored.restore(model)
    return model


def _no_model(name: str, error: Exception) -> InvalidData:
    return refuse(
        "model-file",
        "This is not a SWIFT model, or it is damaged",
        name,
        f"{type(error).__name__}: {error}"[:200],
        "Choose a file written by save_model of this version.",
    )


def _read(arrays: Mapping[str, NDArray[Any]]) -> ModelContents:
    about = read_json(bytes(arrays["about"]))
    if faults := list(record_faults(about, ABOUT, optional=LATER)):
        raise ValueError("; ".join(faults))
    modes = tuple(Mode(mode["name"], tuple(mode["labels"])) for mode in about["modes"])
    parameters = {k: v for k, v in about["parameters"].items() if k not in _RETIRED}
    spec = ModelSpec.from_json(about["spec"]) if "spec" in about else _spec_of(parameters)
    if problems := value_problems(parameters):
        raise InvalidSettings(problems)
    check_names(arrays, len(modes))
    costs = [arrays.get(f"cost_{mode}") for mode in range(1, len(modes))]
    history = tuple(FitProgress(**entry) for entry in about["history"])
    check_history(history, promised=factorization(spec.method).costs == "all")
    if any(part >= spec.rank for part in about["dead_components"]):
        raise ValueError(f"a dead component beyond the rank of {spec.rank}")
    weighting = renamed(about.get("weighting", {}))
    if "feature_weights" in arrays:
        weighting["features"] = checked_weights(
            arrays["feature_weights"], sum(len(mode) for mode in modes[1:])
        )
    factors = _checked_factors(arrays, modes, spec)
    return ModelContents(
        spec,
        parameters,
        modes,
        factors,
        FitOutcome[about["outcome"]],
        history,
        tuple(about["dead_components"]),
        float(about["value_unit"]),
        about["rows_still"],
        check_costs(costs, [len(mode) for mode in modes[1:]]),
        weighting,
        Guidance.from_plain(about["guidance"]) if "guidance" in about else None,
        _agreement(about, arrays, factors[1:]),
        about.get("row_relation", "none" if about["rows_still"] else "dense"),
    )


def _agreement(
    about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], features: Sequence[Array]
) -> Agreement | None:
    if "fits" not in about:
        return None
    n_fits, found_in = int(about["fits"]), tuple(about["found_in"])
    spread = [arrays[f"spread_{mode}"] for mode in range(1, len(features) + 1)]
    check_agreement(n_fits, found_in, spread, [factor.shape for factor in features])
    return Agreement(n_fits, found_in, [np.asarray(part, dtype=np.float64) for part in spread])


def _spec_of(parameters: Mapping[str, Any]) -> ModelSpec:
    """The spec of an estimator's parameters, for files that have none."""
    known = {name: value for name, value in parameters.items() if name in SETTINGS}
    return ModelSpec.of({**AS_RECORDED, **known, "seed": parameters.get("random_state") or 0})


def _checked_factors(
    arrays: Mapping[str, NDArray[Any]], modes: Sequence[Mode], spec: ModelSpec
) -> list[Array]:
    if len(modes) < 2:
        raise ValueError(f"{len(modes)} modes")
    factors = [arrays[f"factor_{axis}"] for axis in range(len(modes))]
    signed = factorization(spec.method).signed
    for axis, (factor, mode) in enumerate(zip(factors, modes, strict=True)):
        sound = factor.shape == (len(mode), spec.rank) and factor.dtype.kind == "f"
        if not sound or not is_sound_factor(factor, signed=signed, profiles=axis > 0):
            raise ValueError(f"{mode.name[:40]!r} has factors that cannot be")
    return [np.asarray(factor, dtype=np.float64) for factor in factors]


def _plain(value: Any) -> Any:
    """NumPy numbers among the settings, as plain ones."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be saved")
