"""A tensor from the coordinate arrays of an .npz file, by the names people give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse, where_list
from swiftcore.tensor import Mode, SparseTensor
from swiftcore.tensor.entry_checks import MAX_MODE

_COORDINATES = ("coordinates", "coords", "indices", "subs", "index")
_VALUES = ("values", "data", "vals", "counts")
_OUTCOMES = ("outcome", "y", "target", "label", "labels")
MAX_LABELS = 50_000_000


def tensor_from_arrays(
    arrays: Mapping[str, NDArray[Any]], name: str, findings: Findings
) -> tuple[SparseTensor, NDArray[Any] | None]:
    """Coordinates (entries x modes, or modes x entries), values, and perhaps shape and labels.

    Labels of mode k are an array of text `labels_k` (0, 1, ...); the outcome, if any, is
    `outcome` or `y`, one per row.

    Raises
    ------
    InvalidData
        When an array is missing or does not fit the others.
    """
    coordinates, values = _required_arrays(arrays, name)
    shape = _shape(arrays, name)
    if coordinates.ndim == 2 and values.ndim == 1:
        rows, columns = coordinates.shape
        turned = rows != len(values) or "coords" in arrays  # pydata/sparse keeps modes x entries
        coordinates = coordinates.T if turned and columns == len(values) else coordinates
    if coordinates.size and coordinates.dtype.kind in "iu" and coordinates.ndim == 2:
        _check_width(coordinates, shape, name)
    findings.tables[name] = len(values) if values.ndim else 0
    findings.mapping["tensor"] = "coordinates and values"
    modes = _modes(arrays, shape, coordinates, name)
    tensor = SparseTensor.from_coordinates(coordinates, values, shape=shape, modes=modes)
    _report_entries(values, tensor, name, findings)
    outcome = _first(arrays, _OUTCOMES)
    return tensor, _outcome(outcome, tensor.shape[0], name) if outcome is not None else None


def _required_arrays(
    arrays: Mapping[str, NDArray[Any]], name: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Coordinates and values, by any of the names people give them."""
    coordinates, values = _first(arrays, _COORDINATES), _first(arrays, _VALUES)
    if coordinates is None or values is None:
        pairs = ((_COORDINATES, coordinates), (_VALUES, values))
        missing = [names[0] for names, found in pairs if found is None]
        raise refuse(
            "npz-keys",
            "The file does not hold a coordinate tensor",
            name,
            f"arrays {where_list(sorted(arrays), 8)}; no {' and no '.join(missing)}",
            "Save the arrays 'coordinates' (entries x modes) and 'values'.",
        )
    return coordinates, values


def _report_entries(
    values: NDArray[Any], tensor: SparseTensor, name: str, findings: Findings
) -> None:
    """Count the entries that are 0 and those that share a cell with another."""
    dropped = int(np.sum(values == 0))
    findings.leave_out("entries whose value is 0", dropped, name)
    repeated = len(values) - dropped - tensor.n_entries
    if repeated > 0:
        findings.note(
            f"{repeated:,} entries name a cell that another entry names too; "
            "their values were added."
        )


def _first(arrays: Mapping[str, NDArray[Any]], names: tuple[str, ...]) -> NDArray[Any] | None:
    return next((arrays[name] for name in names if name in arrays), None)


def _shape(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[int, ...] | None:
    if "shape" not in arrays:
        return None
    shape = arrays["shape"]
    if shape.ndim != 1 or shape.dtype.kind not in "iu" or shape.size < 2:
        raise refuse(
            "npz-shape",
            "The shape is not a list of whole numbers",
            f"{name}, array shape",
            f"data of type {shape.dtype} and shape {shape.shape}",
            "Give one size per mode.",
        )
    return tuple(int(size) for size in shape)


def _check_width(coordinates: NDArray[Any], shape: tuple[int, ...] | None, name: str) -> None:
    widest = max(int(coordinates.max()) + 1, *(shape or (0, 0)))
    if widest > min(MAX_LABELS, MAX_MODE):
        raise refuse(
            "npz-wide",
            "A mode is too wide to be named",
            name,
            f"{widest:,} indices",
            "Close the gaps: number the indices in use.",
        )


def _modes(
    arrays: Mapping[str, NDArray[Any]],
    shape: tuple[int, ...] | None,
    coordinates: NDArray[Any],
    name: str,
) -> list[Mode] | None:
    labelled = {
        int(key[7:]): array
        for key, array in arrays.items()
        if key.startswith("labels_") and key[7:].isdigit()
    }
    if not labelled or coordinates.ndim != 2 or not coordinates.size:
        return None
    sizes = shape or tuple(int(top) + 1 for top in coordinates.max(axis=0))
    return [
        Mode.numbered(f"mode {axis + 1}", size)
        if axis not in labelled
        else Mode(f"mode {axis + 1}", _texts(labelled[axis], f"{name}, labels_{axis}"))
        for axis, size in enumerate(sizes)
    ]


def _texts(labels: NDArray[Any], where: str) -> tuple[str, ...]:
    if labels.dtype.kind not in "US" or labels.ndim != 1:
        raise refuse(
            "npz-labels",
            "Labels must be a list of text",
            where,
            f"data of type {labels.dtype}",
            "Save fixed-width text.",
        )
    as_text = labels if labels.dtype.kind == "U" else np.char.decode(labels, "utf-8", "replace")
    return tuple(as_text.tolist())


def _outcome(outcome: NDArray[Any], rows: int, name: str) -> NDArray[Any]:
    if outcome.shape != (rows,) or outcome.dtype.kind not in "biuU":
        raise refuse(
            "npz-outcome",
            "There must be one outcome per row",
            name,
            f"an array of shape {outcome.shape} and type {outcome.dtype}",
            f"Save {rows} whole numbers, truth values or texts.",
        )
    if outcome.dtype.kind in "iu":
        two = bool(np.isin(outcome, (0, 1)).all())
        return outcome.astype(bool) if two else outcome.astype(str)
    return outcome
