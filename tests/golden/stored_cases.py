"""What stored results are found by: keys of requests and digests of data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.store.dataset_files import dataset_id
from dashboard.store.request import Request
from golden.made_data import corpus, counts, patients, write_documents, write_events, write_tns
from golden.plain import Result, bits_of, digest, result
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.samples import load_sample, sample_folder

DATA, RUN = "a" * 32, "b" * 32
REQUESTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "fit": ("fit", {}, ""),
    "fit_changed": ("fit", {"rank": 12, "sharpness": 20, "seed": 3, "dtype": "float64"}, ""),
    "fit_still_rows": ("fit", {"row_cost": "none", "costs": "random", "start": "random"}, ""),
    "evaluation": ("evaluation", {}, ""),
    "evaluation_changed": (
        "evaluation",
        {"methods": ["swift", "cp_apr"], "ranks": [5, 10], "folds": 3, "quick": False},
        "",
    ),
    "noise": ("noise", {}, ""),
    "noise_of_fit": ("noise", {"levels": [0.05, 0.1], "draws": 1}, RUN),
    "stability": ("stability", {}, RUN),
    "stability_changed": ("stability", {"folds": 3, "seed": 2}, RUN),
    "ablation": ("ablation", {}, ""),
    "ablation_changed": ("ablation", {"recipes": ["cosine"], "features": 50}, ""),
    "projection": ("projection", {}, RUN),
}


def request_key(name: str) -> Result:
    kind, settings, run = REQUESTS[name]
    request = Request(kind, DATA, settings, run)
    return result(0.0, always={"key": request.key(), "version": request.version})


def describe_data(dataset: Dataset) -> Result:
    """All that identifies a data set."""
    tensor, outcome = dataset.tensor, dataset.outcome
    classes = None if outcome is None else np.unique(outcome, return_counts=True)
    counted = dataset.word_counts
    return result(
        0.0,
        always={
            "id": dataset_id(dataset),
            "digest": tensor.digest(),
            "shape": tensor.shape,
            "entries": tensor.n_entries,
            "modes": [[mode.name, digest(list(mode.labels))] for mode in tensor.modes],
            "outcome": [dataset.outcome_name, classes],
            "words": [len(dataset.words), digest(list(dataset.words))],
            "word_counts": None if counted is None else bits_of([counted.toarray().astype(float)]),
            "groups": digest(list(dataset.row_groups)),
        },
    )


def sample(name: str) -> Result:
    return describe_data(load_sample(name))


def built_sample(name: str) -> Result:
    return describe_data(build_path(sample_folder(name)))


def from_file(write: Callable[[Path], Path], name: str, **options: Any) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        return describe_data(build_path(write(Path(folder) / name), BuildOptions(**options)))


def write_npz(path: Path) -> Path:
    tensor = counts((12, 6, 5))
    np.savez(path, coordinates=tensor.coordinates, values=tensor.values, shape=tensor.shape)
    return path


DATA_CASES: dict[str, Callable[[], Result]] = {
    "sample_heart_failure": partial(sample, "heart_failure"),
    "sample_news": partial(sample, "news"),
    "built_heart_failure": partial(built_sample, "heart_failure"),
    "events": partial(from_file, write_events, "events.csv"),
    "events_without_outcome": partial(
        from_file, partial(write_events, outcome=False), "events.csv"
    ),
    "events_binary": partial(from_file, write_events, "events.csv", values="binary"),
    "documents": partial(from_file, write_documents, "documents.csv", vocabulary_size=15),
    "tns": partial(from_file, write_tns, "small.tns"),
    "npz": partial(from_file, write_npz, "small.npz"),
    "made_patients": lambda: describe_data(patients()),
    "made_corpus": lambda: describe_data(corpus()),
}
REQUEST_CASES: dict[str, Callable[[], Result]] = {
    name: partial(request_key, name) for name in REQUESTS
}
