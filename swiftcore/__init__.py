"""SWIFT: scalable Wasserstein factorization for sparse nonnegative tensors."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swiftcore.cost import CostRecipe, build_costs
    from swiftcore.errors import (
        InvalidCost,
        InvalidData,
        InvalidSettings,
        NotEnoughMemory,
        Problem,
        SwiftError,
    )
    from swiftcore.evaluation.experiments.result import Experiment
    from swiftcore.evaluation.experiments.run import cross_validate, sweep_noise
    from swiftcore.evaluation.experiments.settings import ExperimentSettings
    from swiftcore.fitting import FittedModel, fit_dataset
    from swiftcore.model_file import load_model, save_model
    from swiftcore.phenotypes.describe import Phenotype, Phenotypes, describe_phenotypes
    from swiftcore.progress import FitOutcome, FitProgress
    from swiftcore.spec import ModelSpec
    from swiftcore.swift.estimator import Swift
    from swiftcore.tensor import Mode, SparseTensor, unfold

__version__ = "0.1.0"

__all__ = [
    "CostRecipe",
    "Experiment",
    "ExperimentSettings",
    "FitOutcome",
    "FitProgress",
    "FittedModel",
    "InvalidCost",
    "InvalidData",
    "InvalidSettings",
    "Mode",
    "ModelSpec",
    "NotEnoughMemory",
    "Phenotype",
    "Phenotypes",
    "Problem",
    "SparseTensor",
    "Swift",
    "SwiftError",
    "build_costs",
    "cross_validate",
    "describe_phenotypes",
    "fit_dataset",
    "load_model",
    "save_model",
    "sweep_noise",
    "unfold",
]

# Each name is fetched when it is first used: reading a file must not wait for the compiler.
_HOMES = {
    "swiftcore.cost": ("CostRecipe", "build_costs"),
    "swiftcore.errors": (
        "InvalidCost",
        "InvalidData",
        "InvalidSettings",
        "NotEnoughMemory",
        "Problem",
        "SwiftError",
    ),
    "swiftcore.evaluation.experiments.result": ("Experiment",),
    "swiftcore.evaluation.experiments.settings": ("ExperimentSettings",),
    "swiftcore.evaluation.experiments.run": ("cross_validate", "sweep_noise"),
    "swiftcore.fitting": ("FittedModel", "fit_dataset"),
    "swiftcore.model_file": ("load_model", "save_model"),
    "swiftcore.spec": ("ModelSpec",),
    "swiftcore.swift.estimator": ("Swift",),
    "swiftcore.phenotypes.describe": ("Phenotype", "Phenotypes", "describe_phenotypes"),
    "swiftcore.progress": ("FitOutcome", "FitProgress"),
    "swiftcore.tensor": ("Mode", "SparseTensor", "unfold"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
