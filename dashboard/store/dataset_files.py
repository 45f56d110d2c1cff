"""How a data set lies in the store: its id, its card, its bundle."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from dashboard.store.cards import NEW_ROWS, DatasetCard
from swiftcore.data.bundle import bundle_from_bytes
from swiftcore.data.dataset import Dataset
from swiftcore.data.options import Limits
from swiftcore.data.reading.source import Budget
from swiftcore.errors import refuse
from swiftcore.runtime.plain_json import read_json
from swiftcore.tensor import TensorSize

DATA = "data.swift.npz"
CARD = "card.json"
NEW_ROWS_NAME = (
    "new: "  # how names of new rows begin; older cards have nothing else to tell them by
)
OWN = Limits(decoded_mb=65_536)  # what we wrote ourselves may be large


def dataset_id(dataset: Dataset) -> str:
    """32 hex digits of everything that a computation or a page uses of the data.

    Made from the values themselves and not from a file, so that it is the same for every
    version of the packages that write files.
    """
    sha = hashlib.sha256(b"dataset 1")
    _add_texts(sha, [dataset.name, dataset.outcome_name, dataset.tensor.digest()])
    if dataset.outcome is not None:
        sha.update(b"flags" if dataset.outcome.dtype == bool else b"texts")
        _add_texts(sha, [str(value) for value in dataset.outcome.tolist()])
    if dataset.word_counts is not None:
        counts = dataset.word_counts.tocsr().sorted_indices()
        for part in (counts.indptr, counts.indices):
            sha.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        sha.update(np.ascontiguousarray(counts.data, dtype="<f8").tobytes())
        _add_texts(sha, dataset.words)
    _add_texts(sha, dataset.row_groups)
    return sha.hexdigest()[:32]


def dataset_card(
    identifier: str,
    dataset: Dataset,
    added: float,
    *,
    synthetic: bool,
    imported: bool = False,
    role: str = "",
) -> DatasetCard:
    """What a list shows of the data set."""
    size = TensorSize.of(dataset.tensor)
    return DatasetCard(
        identifier,
        dataset.name,
        size.shape,
        tuple(mode.name for mode in dataset.tensor.modes),
        size.entries,
        dataset.outcome_name,
        _classes(dataset),
        synthetic,
        dataset.origin,
        added,
        size.columns,
        imported=imported,
        role=role,
        longest=size.longest,
    )


def read_card(content: bytes) -> DatasetCard:
    """A card from its file; raises InvalidData if it is none."""
    try:
        plain = read_json(content)
        rows = "role" not in plain and str(plain["name"]).startswith(NEW_ROWS_NAME)
        return DatasetCard(
            str(plain["id"]),
            str(plain["name"]),
            tuple(int(size) for size in plain["shape"]),
            tuple(str(name) for name in plain["mode_names"]),
            int(plain["entries"]),
            str(plain["outcome_name"]),
            tuple(str(value) for value in plain["classes"]),
            bool(plain["synthetic"]) and not rows,  # once it was taken over from the fit's data
            str(plain["origin"]),
            float(plain["added"]),
            tuple(int(count) for count in plain["columns"]),
            imported=bool(plain.get("imported", False)),
            role=NEW_ROWS if rows else str(plain.get("role", "")),
            longest=tuple(int(count) for count in plain.get("longest") or ()),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise refuse(
            "card-file",
            "The card of a data set cannot be read",
            CARD,
            f"{type(error).__name__}: {error}",
            "Load the data again.",
        ) from error


def read_data(files: Mapping[str, bytes], limits: Limits = OWN) -> Dataset:
    """The data set among the files of its folder; raises InvalidData if it cannot be read."""
    return bundle_from_bytes(files.get(DATA, b""), DATA, Budget(limits))


def _classes(dataset: Dataset) -> tuple[str, ...]:
    if dataset.outcome is None:
        return ()
    if dataset.outcome.dtype == bool:
        return ("no", "yes")
    return tuple(sorted({str(value) for value in dataset.outcome.tolist()}))


def _add_texts(sha: hashlib._Hash, texts: list[str] | tuple[str, ...]) -> None:
    sha.update(len(texts).to_bytes(8, "little"))
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        sha.update(len(encoded).to_bytes(8, "little") + encoded)
