"""What every factorization asks of the rows it is given, written once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.tensor.mode import Mode
from swiftcore.tensor.sparse_tensor import SparseTensor


def check_tensor(tensor: Any) -> None:
    """Raise :class:`InvalidData` unless this is a tensor that holds something."""
    if not isinstance(tensor, SparseTensor):
        raise refuse(
            "not-a-tensor",
            "The data must be a SparseTensor",
            "tensor",
            f"an object of type {type(tensor).__name__}",
            "Build one with SparseTensor.from_coordinates or a reader.",
        )
    if tensor.n_entries == 0:
        raise refuse(
            "all-zero",
            "There is nothing to factorize",
            "the tensor",
            "no nonzero value",
            "Check the filters that built it, or the file it came from.",
        )


def check_features(known_modes: Sequence[Mode] | None, tensor: SparseTensor) -> None:
    """Raise unless the model is fitted and the rows have its features, in its order."""
    check_tensor(tensor)
    if known_modes is None:
        raise refuse(
            "not-fitted",
            "The model has not been fitted",
            "model",
            "no factors",
            "Call fit first, or load a fitted model.",
            kind=InvalidSettings,
        )
    expected = tuple(len(mode) for mode in known_modes[1:])
    if tensor.shape[1:] != expected:
        raise refuse(
            "feature-count",
            "The rows have other features than the model",
            "modes after the first",
            f"sizes {tensor.shape[1:]}",
            f"Build the tensor with the model's {expected} features, in its order.",
        )
    _check_labels(known_modes[1:], tensor.modes[1:])


def _check_labels(known_modes: Sequence[Mode], modes: Sequence[Mode]) -> None:
    for position, (mode, known) in enumerate(zip(modes, known_modes, strict=True), start=2):
        if mode.labels != known.labels:
            first = next(i for i, label in enumerate(mode.labels) if label != known.labels[i])
            raise refuse(
                "feature-order",
                "The rows' features are not those of the model",
                f"mode {position}, index {first}",
                f"{mode.labels[first]!r} where the model has {known.labels[first]!r}",
                "Select and order the features as in the model.",
            )
