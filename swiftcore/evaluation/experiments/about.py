"""What an experiment says about itself besides its tables."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

from swiftcore.data.dataset import Dataset
from swiftcore.data.summary import leaky_features
from swiftcore.evaluation.experiments.cross_validation import data_digest
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.protocol.folds import Labels
from swiftcore.evaluation.protocol.scores import METRIC_TITLES, metric_name


def about_data(dataset: Dataset, settings: ExperimentSettings) -> dict[str, Any]:
    """What every experiment says: which data, which settings, which versions."""
    packages = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
    return {
        "data": {
            "name": dataset.name,
            "digest": data_digest(dataset),
            "shape": list(dataset.tensor.shape),
            "entries": dataset.tensor.n_entries,
        },
        "settings": settings.plain(),
        "versions": {
            "python": platform.python_version(),
            "swift-phenotyping": version("swift-phenotyping"),
            **{name: version(name) for name in packages},
        },
        "notes": [],
    }


def about_labels(dataset: Dataset, labels: Labels) -> dict[str, Any]:
    """What an experiment that predicts says besides: metric, classes, and what to know."""
    name = metric_name(len(labels.classes))
    return {
        "metric": name,
        "metric_title": METRIC_TITLES[name],
        "chance": labels.chance,
        "classes": list(labels.classes),
        "outcome": dataset.outcome_name,
        "notes": _notes(dataset, labels),
    }


def _notes(dataset: Dataset, labels: Labels) -> list[str]:
    notes = [str(one) for one in leaky_features(dataset.tensor, dataset.outcome)]
    words = dataset.tensor.shape[-1]
    if dataset.word_counts is not None and words < len(dataset.words):
        notes.append(
            f"The {words} words were chosen from all documents, those of the test "
            "folds too (not by their category). To choose them from "
            "training documents alone, build the data with all words and set the "
            "number of features."
        )
    missing = int((labels.codes < 0).sum())
    if missing:
        notes.append(f"{missing} rows have no outcome and were left out.")
    return notes
