"""What is asked of a worker; two equal requests have the same key, and so the same answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.experiments.settings import LATER, PROTOCOL, ExperimentSettings
from swiftcore.evaluation.experiments.tuning.settings import TUNE_GRIDS, UNLIMITED, TuneSettings
from swiftcore.evaluation.methods.catalogue import GRIDS, fit_title
from swiftcore.phenotypes.guidance import Step, plain_steps, steps_from_plain
from swiftcore.runtime.ranges import is_real, shortened
from swiftcore.spec import ALGORITHM_VERSION, DEFAULTS, ModelSpec, key_values

EXPERIMENTS = ("evaluation", "noise", "ablation", "stability", "ranks")
OF_A_FIT = ("noise", "stability")  # follow the phenotypes of one fit
WITH_TABLES = (*EXPERIMENTS, "tune")  # kinds whose result is an Experiment
KINDS = ("fit", *WITH_TABLES, "projection")

EXPERIMENT_DEFAULTS: dict[str, Any] = {
    name: value
    for name, value in ExperimentSettings().plain().items()
    if name not in ("seeds", "fit")
}


def defaults(kind: str) -> dict[str, Any]:
    """All settings of a kind of request, at their usual values."""
    others = {"fit": DEFAULTS, "projection": {}, "tune": TuneSettings().plain()}
    return others.get(kind, EXPERIMENT_DEFAULTS)


@dataclass(frozen=True)
class Request:
    """One thing to compute.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    dataset : str
        Id of the data set; for a projection, of the new rows.
    settings : mapping
        Settings that are left out get their usual values, so that a request is always complete.
    run : str
        Id of the fit that a projection or an experiment belongs to (an evaluation judges its
        spec then), or that a fit began as.
    guidance : tuple of Step
        What a person changed in that fit before it was fitted again.

    Raises
    ------
    InvalidSettings
        If the kind or a setting is unknown, a value has the wrong type, or there are changes and
        nothing to be changed.
    """

    kind: str
    dataset: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    run: str = ""
    guidance: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        """Complete the settings and give every value its one form."""
        if self.kind not in KINDS:
            raise _refuse("kind", "There is no such computation", self.kind, KINDS)
        if self.guidance and (self.kind != "fit" or not self.run):
            raise refuse(
                "guidance-request",
                "Only a finished fit can be changed and fitted again",
                "the request",
                f"changes of a {self.kind}{'' if self.run else ' without a fit'}",
                "Name the fit that is to be changed.",
                kind=InvalidSettings,
            )
        if self.kind == "fit":
            settings = ModelSpec.of(self.settings).plain()
        else:
            settings = _completed(self.settings, defaults(self.kind))
            if self.kind in EXPERIMENTS:
                ExperimentSettings(**settings)  # refuses what is out of range
            if self.kind == "tune":
                settings = TuneSettings(**settings).plain()
        object.__setattr__(self, "settings", settings)

    @property
    def spec(self) -> ModelSpec:
        """The model that a fit asks for."""
        return ModelSpec.of(self.settings)

    def __hash__(self) -> int:
        return hash(self.key())

    def key(self) -> str:
        """32 hex digits of data, kind, all settings and the version of the algorithm."""
        plain = {"algorithm": self.version, **self.plain()}
        if self.kind == "fit":
            plain["settings"] = key_values(self.settings)
        else:  # earlier results keep their keys
            plain["settings"] = {
                name: value for name, value in self.settings.items() if value or name not in LATER
            }
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def version(self) -> str:
        """Of the algorithm, and of an experiment's protocol and grids: what the answer hangs on."""
        if self.kind == "tune":
            return f"{ALGORITHM_VERSION}.{PROTOCOL}.{TUNE_GRIDS}"
        experiment = self.kind in EXPERIMENTS
        return f"{ALGORITHM_VERSION}.{PROTOCOL}.{GRIDS}" if experiment else ALGORITHM_VERSION

    def plain(self) -> dict[str, Any]:
        """The request as values that JSON can hold; changes only where there are any."""
        plain = {
            "kind": self.kind,
            "dataset": self.dataset,
            "settings": dict(self.settings),
            "run": self.run,
        }
        return {**plain, "guidance": plain_steps(self.guidance)} if self.guidance else plain

    @classmethod
    def from_plain(cls, plain: Any) -> Request:
        """Read what :meth:`plain` gave.

        Raises
        ------
        InvalidData
            If it is no request, or one of another version.
        """
        try:
            return cls(
                str(plain["kind"]),
                str(plain["dataset"]),
                dict(plain["settings"]),
                str(plain["run"]),
                steps_from_plain(plain.get("guidance", [])),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise refuse(
                "request-file",
                "This is not a request of this version",
                "the request",
                f"{type(error).__name__}: {error}"[:200],
                "Compute it again.",
            ) from error

    @property
    def title(self) -> str:
        """A short name that tells runs of one data set apart."""
        chosen = self.settings
        if self.kind == "fit":
            return f"{fit_title(self.spec)}{', changed and refitted' if self.guidance else ''}"
        if self.kind == "projection":
            return "New rows"
        ranks = ", ".join(str(rank) for rank in chosen["ranks"])
        if self.kind == "tune":
            limit = chosen["minutes"]
            time = "no limit" if limit == UNLIMITED else f"{limit:g} min"
            return f"Choose for me, R = {ranks}, {time}{', guided' if chosen['guided'] else ''}"
        effort = "quick" if chosen["quick"] else "thorough"
        return f"{self.kind.capitalize()}, R = {ranks}, {effort}"


def _completed(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of an experiment, each in its one form."""
    unknown = [name for name in given if name not in usual]
    if unknown:
        raise _refuse("setting-unknown", "There is no such setting", unknown[0], usual)
    return {name: _in_form(name, given.get(name, value), value) for name, value in usual.items()}


def _in_form(name: str, value: Any, default: Any) -> Any:
    """The value in the type of the default, so that 10 and 10.0 are the same request."""
    if isinstance(default, list):
        if isinstance(value, str) or not isinstance(value, list | tuple):
            raise _wrong(name, value, "a list")
        pattern = default[0] if default else ""
        return [_in_form(name, each, pattern) for each in value]
    if isinstance(default, bool) or isinstance(value, bool):
        if not (isinstance(default, bool) and isinstance(value, bool)):
            raise _wrong(name, value, "yes or no" if isinstance(default, bool) else "a number")
        return value
    if isinstance(default, str):
        if not isinstance(value, str):
            raise _wrong(name, value, "text")
        return value
    if not is_real(value):
        raise _wrong(name, value, "a number")
    if isinstance(default, int) and value != int(value):
        raise _wrong(name, value, "a whole number")
    return type(default)(value)


def _wrong(name: str, value: Any, expected: str) -> InvalidSettings:
    return refuse(
        "setting-type",
        "A setting has the wrong type",
        name,
        shortened(value),
        f"Give {expected}.",
        kind=InvalidSettings,
    )


def _refuse(code: str, what: str, found: str, known: Any) -> InvalidSettings:
    return refuse(
        code,
        what,
        "the request",
        repr(found)[:80],
        f"Choose one of {', '.join(known)}.",
        kind=InvalidSettings,
    )
