"""Sparse nonnegative tensors whose labels travel with their numbers."""

from swiftcore.tensor.sparse_tensor import Mode, SparseTensor
from swiftcore.tensor.unfolding import Unfolding, unfold

__all__ = ["Mode", "SparseTensor", "Unfolding", "unfold"]
