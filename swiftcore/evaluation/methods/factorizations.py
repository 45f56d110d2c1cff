"""Estimators by the key of the catalogue: the only place that loads concrete models."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.factorizer import Factorizer
from swiftcore.spec import ModelSpec


def load_estimator(key: str) -> type[Any]:
    """The class of a factorization; raises InvalidSettings if the catalogue has no such key."""
    module, _, name = factorization(key).model.partition(":")
    found: type[Any] = getattr(import_module(module), name)
    return found


def make_model(spec: ModelSpec, n_jobs: int | None = None) -> Factorizer:
    """An unfitted estimator with the settings of a spec that it knows.

    Parameters
    ----------
    n_jobs : int, optional
        Workers, for an estimator that shares its work; results do not depend on it.
    """
    kind = load_estimator(spec.method)
    known = set(signature(kind).parameters)
    _refuse_options(spec, known)
    given = {name: value for name, value in spec.plain().items() if name in known}
    if "n_jobs" in known:
        given["n_jobs"] = n_jobs
    model: Factorizer = kind(**given, random_state=spec.seed, **spec.options)
    return model


def _refuse_options(spec: ModelSpec, known: set[str]) -> None:
    own = known - set(spec.plain()) - {"random_state", "n_jobs"}
    if wrong := [repr(name) for name in spec.options if name not in own]:
        raise refuse(
            "option-unknown",
            "The method has no such option",
            f"options of {spec.method}",
            ", ".join(wrong)[:80],
            f"Choose from {', '.join(sorted(own))}." if own else "Leave the options out.",
            kind=InvalidSettings,
        )
