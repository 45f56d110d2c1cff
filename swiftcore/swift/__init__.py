"""SWIFT: factors whose reconstruction is close to the data in Wasserstein distance."""

from swiftcore.swift.estimator import Swift
from swiftcore.swift.model_file import load_model, save_model

__all__ = ["Swift", "load_model", "save_model"]
