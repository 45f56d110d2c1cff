"""SWIFT: scalable Wasserstein factorization for sparse nonnegative tensors."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swiftcore.cost import CostRecipe, build_costs
    from swiftcore.cost.outside.cost_table import CostTable
    from swiftcore.cost.outside.mode_cost import outside_cost
    from swiftcore.cost.outside.read_file import read_cost_file
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
    from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
    from swiftcore.evaluation.experiments.tuning.tune import tune, tuned_spec
    from swiftcore.fitting import FittedModel, fit_dataset
    from swiftcore.model_costs import attach_costs
    from swiftcore.model_file import load_model, save_model
    from swiftcore.phenotypes.describe import Phenotype, Phenotypes, describe_phenotypes
    from swiftcore.phenotypes.guidance import Drop, Merge, Pin, Seed, Split
    from swiftcore.progress import FitOutcome, FitProgress
    from swiftcore.refitting import refit
    from swiftcore.spec import ModelSpec
    from swiftcore.swift.estimator import Swift
    from swiftcore.tensor import Mode, SparseTensor, unfold

__version__ = "0.1.0"

__all__ = [
    "CostRecipe",
    "CostTable",
    "Drop",
    "Experiment",
    "ExperimentSettings",
    "FitOutcome",
    "FitProgress",
    "FittedModel",
    "InvalidCost",
    "InvalidData",
    "InvalidSettings",
    "Merge",
    "Mode",
    "ModelSpec",
    "NotEnoughMemory",
    "Phenotype",
    "Phenotypes",
    "Pin",
    "Problem",
    "Seed",
    "SparseTensor",
    "Split",
    "Swift",
    "SwiftError",
    "TuneSettings",
    "attach_costs",
    "build_costs",
    "cross_validate",
    "describe_phenotypes",
    "fit_dataset",
    "load_model",
    "outside_cost",
    "read_cost_file",
    "refit",
    "save_model",
    "sweep_noise",
    "tune",
    "tuned_spec",
    "unfold",
]

# Each name is fetched when it is first used: reading a file must not wait for the compiler.
_HOMES = {
    "swiftcore.cost": ("CostRecipe", "build_costs"),
    "swiftcore.cost.outside.cost_table": ("CostTable",),
    "swiftcore.cost.outside.mode_cost": ("outside_cost",),
    "swiftcore.cost.outside.read_file": ("read_cost_file",),
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
    "swiftcore.evaluation.experiments.tuning.settings": ("TuneSettings",),
    "swiftcore.evaluation.experiments.tuning.tune": ("tune", "tuned_spec"),
    "swiftcore.fitting": ("FittedModel", "fit_dataset"),
    "swiftcore.model_costs": ("attach_costs",),
    "swiftcore.model_file": ("load_model", "save_model"),
    "swiftcore.spec": ("ModelSpec",),
    "swiftcore.swift.estimator": ("Swift",),
    "swiftcore.phenotypes.describe": ("Phenotype", "Phenotypes", "describe_phenotypes"),
    "swiftcore.phenotypes.guidance": ("Drop", "Merge", "Pin", "Seed", "Split"),
    "swiftcore.refitting": ("refit",),
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
