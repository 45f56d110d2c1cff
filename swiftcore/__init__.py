"""SWIFT: scalable Wasserstein factorization for sparse nonnegative tensors."""

from swiftcore.cost import CostRecipe, build_costs
from swiftcore.errors import (
    InvalidCost,
    InvalidData,
    InvalidSettings,
    NotEnoughMemory,
    Problem,
    SwiftError,
)
from swiftcore.factorization import Swift, load_model, save_model
from swiftcore.phenotypes import Phenotype, describe_phenotypes
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.tensor import Mode, SparseTensor, unfold

__version__ = "0.1.0"

__all__ = [
    "CostRecipe",
    "FitOutcome",
    "FitProgress",
    "InvalidCost",
    "InvalidData",
    "InvalidSettings",
    "Mode",
    "NotEnoughMemory",
    "Phenotype",
    "Problem",
    "SparseTensor",
    "Swift",
    "SwiftError",
    "build_costs",
    "describe_phenotypes",
    "load_model",
    "save_model",
    "unfold",
]
