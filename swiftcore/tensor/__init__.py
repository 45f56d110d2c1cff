"""Sparse nonnegative tensors whose labels travel with their numbers."""

from swiftcore.tensor.mode import Mode
from swiftcore.tensor.size import TensorSize
from swiftcore.tensor.sparse_tensor import SparseTensor
from swiftcore.tensor.unfolding import Unfolding, unfold

__all__ = ["Mode", "SparseTensor", "TensorSize", "Unfolding", "unfold"]
