"""What was read from a cost file, in one form, named by its content."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.options import Limits
from swiftcore.data.reading.array_file import read_arrays
from swiftcore.data.reading.source import Budget
from swiftcore.errors import refuse
from swiftcore.runtime.repeatable_zip import zip_bytes
from swiftcore.spec.cost_text import TABLE

KINDS = {
    "matrix": "distances between features",
    "parents": "a hierarchy of features",
    "vectors": "vectors of features",
}
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CostTable:
    """Knowledge about features from a file; data sets carry it, specs name it by its digest.

    Attributes
    ----------
    kind : {"matrix", "parents", "vectors"}
    labels : tuple of str
        Of the features, or of all places of a hierarchy.
    values : ndarray
        Matrix: (labels x labels) distances from 0 to 1. Parents: for each label the place of
        its parent, -1 for none. Vectors: one row per label.
    source : str
        Name of the file, for a person; no part of the digest.
    """

    kind: str
    labels: tuple[str, ...]
    values: Array
    source: str = ""

    def __post_init__(self) -> None:
        wanted = np.int64 if self.kind == "parents" else np.float64
        values = np.array(self.values, dtype=wanted, order="C")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of kind, labels and values; the order of labels counts."""
        sha = hashlib.sha256(f"cost table 1 {self.kind} {self.values.shape}".encode())
        for label in self.labels:
            text = label.encode("utf-8", "surrogatepass")
            sha.update(len(text).to_bytes(8, "little") + text)
        sha.update(self.values.astype(self.values.dtype.newbyteorder("<")).tobytes())
        return sha.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CostTable) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def text(self) -> str:
        """What a spec calls it."""
        return f"{TABLE}{self.digest}"

    @property
    def title(self) -> str:
        """For a list to choose from."""
        return f"{self.source or self.digest[:8]} ({KINDS[self.kind]})"

    def cut_to(self, places: Sequence[int]) -> CostTable:
        """Only the labels at some places; a hierarchy stays whole.

        Of distances the farthest two stay: they say how far off a feature is that is not known.
        """
        if self.kind == "parents":
            return self
        chosen = sorted(set(places))
        if self.kind == "matrix" and self.values[np.ix_(chosen, chosen)].max() < self.values.max():
            farthest = np.unravel_index(self.values.argmax(), self.values.shape)
            chosen = sorted({*chosen, *map(int, farthest)})
        values = self.values[chosen]
        return replace(
            self,
            labels=tuple(self.labels[place] for place in chosen),
            values=values[:, chosen] if self.kind == "matrix" else values,
        )

    def to_bytes(self) -> bytes:
        """An .npz that :func:`table_from_bytes` and any reader of cost files take."""
        arrays = {
            "labels": np.array(self.labels, dtype=np.str_),
            "source": np.array([self.source], dtype=np.str_),
            self.kind: self.values,
        }
        return zip_bytes(((f"{name}.npy", _npy(array)) for name, array in arrays.items()))


def table_from_bytes(content: bytes, name: str, limits: Limits | None = None) -> CostTable:
    """Read what :meth:`CostTable.to_bytes` wrote, trusting its values.

    Raises
    ------
    InvalidData
        When it is damaged or no cost table.
    """
    arrays = read_arrays(content, name, Budget(limits or Limits()))
    kind = next((known for known in KINDS if known in arrays), None)
    if kind is None or "labels" not in arrays:
        raise refuse(
            "cost-arrays",
            "The .npz holds no costs",
            name,
            f"the arrays {', '.join(map(repr, sorted(arrays)))[:100] or 'none'}",
            "Save 'labels' together with 'matrix', 'vectors' or 'parents'.",
        )
    labels = tuple(str(label) for label in np.atleast_1d(arrays["labels"]).tolist())
    source = str(np.atleast_1d(arrays["source"])[0]) if "source" in arrays else name
    values = arrays[kind]
    if values.dtype.kind not in "biuf" or len(values.shape) != (1 if kind == "parents" else 2):
        raise refuse(
            "cost-shape",
            f"The array '{kind}' has the wrong form",
            name,
            f"{values.dtype} of shape {values.shape}",
            "Give one parent per label, or a table of numbers.",
        )
    if len(values) != len(labels) or (kind == "matrix" and values.shape[1] != len(labels)):
        raise refuse(
            "cost-size",
            "There must be one line per label",
            f"{name}, array {kind}",
            f"{' x '.join(map(str, values.shape))} for {len(labels)} labels",
            "Save as many labels as the array has lines.",
        )
    if kind == "parents":
        _check_parents(values, name)
    return CostTable(kind, labels, values, source)


def _check_parents(values: Array, name: str) -> None:
    """Raise unless every parent is a place among the labels, or -1."""
    places = values.astype(np.float64)
    wrong = ~((places >= -1) & (places < len(places)) & (places == np.floor(places)))
    if wrong.any():
        raise refuse(
            "cost-parents",
            "A parent is no place among the labels",
            name,
            f"{places[wrong][0]:g} for {len(places):,} labels",
            "Number the labels from 0, and give -1 for no parent.",
        )


def _npy(array: Array) -> memoryview:
    content = io.BytesIO()
    np.lib.format.write_array(content, array, allow_pickle=False)
    return content.getbuffer()
