"""Our own file: one data set in one .npz, sealed by a SHA-256 over every byte before it."""

from __future__ import annotations

import hashlib
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.cost.outside.read_file import read_cost_bytes
from swiftcore.data.dataset import Dataset
from swiftcore.data.options import BuildOptions, Limits
from swiftcore.data.reading.array_file import read_arrays
from swiftcore.data.reading.source import Budget
from swiftcore.data.side_arrays import side_arrays, side_from_arrays
from swiftcore.data.summary import DatasetSummary
from swiftcore.data.text_arrays import read_texts, text_arrays
from swiftcore.errors import SwiftError, refuse
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import Range, listed, record_faults, text, whole
from swiftcore.runtime.repeatable_zip import zip_bytes
from swiftcore.tensor import Mode, SparseTensor

FORMAT, VERSION = "swift data bundle", 1
SEAL = b"swift bundle sha256:"
_NAME = text(10_000)
_MANIFEST = {
    "format": _NAME,
    "version": whole(1),
    "name": _NAME,
    "origin": text(1_000_000),
    "outcome_name": _NAME,
    "outcome_kind": Range(lambda value: value in ("", "bool", "text"), "bool, text or nothing"),
    "modes": listed(text(1_000_000), 1_000),
    "digest": text(64, "[0-9a-f]*"),
    "summary": Range(lambda value: value is None or isinstance(value, dict), "a summary"),
}
_SEALED = len(SEAL) + 64
_TABLE = "cost_table_"  # how arrays that hold one are called


def write_bundle(dataset: Dataset, path: Path, *, compress: bool = True) -> str:
    """Save a data set so that a crash at any moment leaves the old file or the new one.

    Returns
    -------
    str
        The SHA-256 with which the file is sealed; the same data give the same.
    """
    content = bundle_bytes(dataset, compress=compress)
    write_atomic(path, content)
    return content[-64:].decode("ascii")


def bundle_bytes(dataset: Dataset, *, compress: bool = True) -> bytes:
    """The bytes of a bundle: a plain .npz whose zip comment is the seal."""
    arrays = _arrays(dataset)
    arrays["manifest"] = np.frombuffer(
        json.dumps(_manifest(dataset), sort_keys=True).encode(), "u1"
    )
    files = ((f"{name}.npy", _npy(arrays[name])) for name in sorted(arrays))
    whole = zip_bytes(files, compress=compress, level=1, comment=SEAL + b"0" * 64)
    body = whole[:-64]
    return body + hashlib.sha256(body).hexdigest().encode("ascii")


def _npy(array: NDArray[Any]) -> memoryview:
    content = io.BytesIO()
    np.lib.format.write_array(content, array, allow_pickle=False)
    return content.getbuffer()


def read_bundle(path: Path, limits: Limits | None = None) -> Dataset:
    """Load a data set; any changed byte is found before anything is used.

    Raises
    ------
    InvalidData
        When the file is no bundle, was changed, or comes from a newer version.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refuse(
            "file-unreadable",
            "The bundle cannot be opened",
            path.name,
            error.strerror or "an error",
            "Check the path and the rights.",
        ) from error
    return bundle_from_bytes(content, path.name, Budget(limits or Limits()))


def is_bundle(tail: bytes) -> bool:
    """Whether the last bytes of a file carry our seal."""
    return tail[-_SEALED:].startswith(SEAL)


def bundle_from_bytes(content: bytes, name: str, budget: Budget) -> Dataset:
    """Check the seal, then the manifest, then the arrays."""
    _check_seal(content, name)
    arrays = read_arrays(content, name, budget)
    try:
        manifest = read_json(arrays["manifest"].tobytes())
        _check_version(manifest, name)
        if faults := list(record_faults(manifest, _MANIFEST, optional=("digest",))):
            raise ValueError(faults[0])
        return _dataset(manifest, arrays)
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, SwiftError):
            raise
        raise refuse(
            "bundle-foreign",
            "The file is not a complete SWIFT data bundle",
            name,
            f"a fault at {error}"[:200],
            "Build the bundle again from the data.",
        ) from error


def _check_seal(content: bytes, name: str) -> None:
    if not is_bundle(content):
        raise refuse(
            "bundle-foreign",
            "The file is not a SWIFT data bundle, or was cut off",
            name,
            "no seal at its end",
            "Build the bundle again from the data.",
        )
    if hashlib.sha256(content[:-64]).hexdigest().encode("ascii") != content[-64:]:
        raise refuse(
            "bundle-changed",
            "The bundle was changed after it was written",
            name,
            "a seal that does not fit",
            "Build the bundle again from the data.",
        )


def _check_version(manifest: dict[str, Any], name: str) -> None:
    if manifest["format"] != FORMAT or manifest["version"] > VERSION:
        raise refuse(
            "bundle-version",
            "The bundle was written by a newer version",
            name,
            f"version {manifest['version']}",
            "Update SWIFT.",
        )


def _manifest(dataset: Dataset) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": dataset.name,
        "origin": dataset.origin,
        "outcome_name": dataset.outcome_name,
        "outcome_kind": ""
        if dataset.outcome is None
        else "bool"
        if dataset.outcome.dtype == bool
        else "text",
        "modes": [mode.name for mode in dataset.tensor.modes],
        "digest": dataset.tensor.digest(),
        "summary": dataset.summary.to_json() if dataset.summary else None,
    }


def _arrays(dataset: Dataset) -> dict[str, NDArray[Any]]:
    tensor = dataset.tensor
    arrays: dict[str, NDArray[Any]] = {
        "coordinates": tensor.coordinates.astype(np.int32),
        "values": tensor.values,
    }
    for axis, mode in enumerate(tensor.modes):
        arrays |= text_arrays(f"labels_{axis}", mode.labels)
    if dataset.outcome is not None and dataset.outcome.dtype == bool:
        arrays["outcome"] = dataset.outcome
    elif dataset.outcome is not None:
        arrays |= text_arrays("outcome", [str(value) for value in dataset.outcome])
    if dataset.word_counts is not None:
        counts = sparse.csr_array(dataset.word_counts)
        arrays |= {
            "counts_data": counts.data,
            "counts_indices": counts.indices,
            "counts_indptr": counts.indptr,
        }
        arrays |= text_arrays("words", dataset.words)
    if dataset.row_groups:
        arrays |= text_arrays("row_groups", dataset.row_groups)
    if dataset.options:
        plain = json.dumps(dict(dataset.options), sort_keys=True)
        arrays["options"] = np.frombuffer(plain.encode(), "u1")
    return arrays | _outside_arrays(dataset) | side_arrays(dataset.side)


def _outside_arrays(dataset: Dataset) -> dict[str, NDArray[Any]]:
    """Codes beside the labels they belong to, and each cost table as a file of its own."""
    arrays: dict[str, NDArray[Any]] = {}
    for axis, mode in enumerate(dataset.tensor.modes):
        if codes := dataset.outside.of_mode(mode.name):
            arrays |= text_arrays(f"codes_{axis}", [codes.get(one, "") for one in mode.labels])
    for number, table in enumerate(dataset.outside.tables.values()):
        arrays[f"{_TABLE}{number}"] = np.frombuffer(table.to_bytes(), "u1")
    return arrays


def _outside(arrays: dict[str, NDArray[Any]], modes: list[Mode]) -> OutsideKnowledge:
    codes = {
        mode.name: {
            label: code
            for label, code in zip(mode.labels, read_texts(arrays, f"codes_{axis}"), strict=True)
            if code
        }
        for axis, mode in enumerate(modes)
        if f"codes_{axis}" in arrays
    }
    names = sorted(name for name in arrays if name.startswith(_TABLE))
    tables = [read_cost_bytes(arrays[name].tobytes(), name) for name in names]
    return OutsideKnowledge(codes).with_tables(tables)


def _tensor(places: NDArray[Any], values: NDArray[Any], modes: list[Mode]) -> SparseTensor:
    """The tensor as written; sorted again only if somebody else wrote the file."""
    shape = [len(mode) for mode in modes]
    fits = places.ndim == 2 and places.shape == (len(values), len(shape)) and len(values) > 0
    if fits and places.dtype == np.int32 and values.dtype == np.float64:
        inside = (places.min(axis=0) >= 0).all() and (places.max(axis=0) < shape).all()
        keys = places[:, 0].astype(np.int64)
        for axis, size in enumerate(shape[1:], 1):
            keys = keys * size + places[:, axis]
        small = math.prod(shape) < 2**62
        sound = (values > 0).all() and np.isfinite(values).all()
        if small and inside and sound and (np.diff(keys) > 0).all():
            return SparseTensor(tuple(modes), places.astype(np.int64), values)
    return SparseTensor.from_coordinates(places, values, modes=modes)


def _dataset(manifest: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Dataset:
    modes = [
        Mode(name, read_texts(arrays, f"labels_{axis}"))
        for axis, name in enumerate(manifest["modes"])
    ]
    tensor = _tensor(arrays["coordinates"], arrays["values"], modes)
    outcome: NDArray[Any] | None = None
    if manifest["outcome_kind"]:
        flags = manifest["outcome_kind"] == "bool"
        if flags and arrays["outcome"].dtype != bool:
            raise ValueError("an outcome that is not yes or no")
        outcome = arrays["outcome"] if flags else np.array(read_texts(arrays, "outcome"))
    counts: sparse.csr_array | None = None
    words: tuple[str, ...] = ()
    if "counts_data" in arrays:
        words = read_texts(arrays, "words")
        counts = sparse.csr_array(
            (arrays["counts_data"], arrays["counts_indices"], arrays["counts_indptr"]),
            shape=(tensor.shape[0], len(words)),
        )
    groups = read_texts(arrays, "row_groups") if "row_groups" in arrays else ()
    summary = DatasetSummary.from_json(manifest["summary"]) if manifest["summary"] else None
    return Dataset(
        manifest["name"],
        tensor,
        outcome,
        manifest["outcome_name"],
        manifest["origin"],
        summary,
        counts,
        words,
        groups,
        _outside(arrays, modes),
        side_from_arrays(arrays),
        _options(arrays),
    )


def _options(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """How the data set was built; raises ValueError for what no build could have had."""
    if "options" not in arrays:
        return {}
    plain = read_json(arrays["options"].tobytes())
    return BuildOptions.from_json(plain).changed()
