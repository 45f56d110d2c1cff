"""SWIFT: factors whose reconstruction is close to the data in Wasserstein distance."""

from swiftcore.factorization.model_file import load_model, save_model
from swiftcore.factorization.swift import Swift

__all__ = ["Swift", "load_model", "save_model"]
