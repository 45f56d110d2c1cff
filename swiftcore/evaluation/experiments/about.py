"""What an experiment says about itself besides its tables."""

from __future__ import annotations

import json
import platform
from collections import Counter
from importlib.metadata import version
from typing import Any

from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.data.summary import leaky_features, told
from swiftcore.errors import where_list
from swiftcore.evaluation.experiments.cross_validation import folds_of
from swiftcore.evaluation.experiments.score_tables import Scored
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.protocol.folds import Labels
from swiftcore.evaluation.protocol.preparation import words_missed
from swiftcore.evaluation.protocol.scores import METRIC_TITLES, metric_name
from swiftcore.spec import SETTINGS


def about_data(dataset: Dataset, settings: ExperimentSettings | TuneSettings) -> dict[str, Any]:
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


def about_scores(dataset: Dataset, scored: Scored) -> dict[str, Any]:
    """What an experiment that predicts says besides: metric, classes, and what to know."""
    labels = scored.labels
    name = metric_name(len(labels.classes))
    return {
        "metric": name,
        "metric_title": METRIC_TITLES[name],
        "chance": labels.chance,
        "classes": list(labels.classes),
        "outcome": dataset.outcome_name,
        "notes": [
            *told(leaky_features(dataset.tensor, dataset.outcome)),
            *_word_notes(dataset, scored),
            *_row_notes(scored),
            *_setting_notes(scored),
        ],
    }


def _word_notes(dataset: Dataset, scored: Scored) -> list[str]:
    """Whether words chosen from all documents may have helped those of the test folds."""
    words, features = dataset.tensor.shape[-1], scored.settings.features
    if dataset.word_counts is None or words == len(dataset.words):
        return []
    chosen = f"The {words:,} words were chosen from all documents, those of the test folds too"
    if not features or features >= words:
        return [
            f"{chosen} (not by their category). To choose them from training documents alone, "
            "build the data with all words (vocabulary_size=0) and set the number of features."
        ]
    folds = folds_of(dataset, scored.labels, scored.settings)
    missed = max(words_missed(dataset, fold.train, features) for fold in folds)
    if not missed:  # the folds would have chosen the same from all words
        return []
    return [
        f"{chosen}, and lack {missed} of the {features} that the training documents of a fold "
        "would choose. Build the data with more words, or all (vocabulary_size=0)."
    ]


def _row_notes(scored: Scored) -> list[str]:
    """Who was left out, and of how many rows the scores are."""
    labels, settings = scored.labels, scored.settings
    notes = small_class_notes(labels, settings.least_class_size)
    missing = int((labels.codes < 0).sum()) - sum(labels.left_out.values())
    if missing:
        notes.append(f"{missing} rows have no outcome and were left out.")
    if settings.subsets:
        notes.append(
            f"Scores are means over {settings.subsets} random subsets of {settings.subset_size:,} "
            f"rows, {settings.repeats * settings.folds} folds in each; intervals allow for the "
            "rows that folds and subsets share."
        )
    return notes


def small_class_notes(labels: Labels, least: int) -> list[str]:
    """Whose classes were too small to take part."""
    if not labels.left_out:
        return []
    small = where_list(f"{name} ({count:,})" for name, count in labels.left_out.items())
    rows = sum(labels.left_out.values())
    return [f"{rows:,} rows of classes with fewer than {least} rows were left out: {small}."]


def _setting_notes(scored: Scored) -> list[str]:
    """Which model stands in our row: the given spec, or what the validation rows chose."""
    settings = scored.settings
    method = CATALOGUE[settings.ours]
    if settings.judged:
        spec = method.spec(**settings.changes(method.key), rank=settings.ranks[0])
        return [
            f"{method.title} is the given spec ({spec.title()}): nothing of it was chosen here "
            "but how its memberships predict the outcome."
        ]
    mine = scored.chosen[scored.chosen["method"] == method.key].dropna(subset="score")
    if mine.empty:
        return []
    found = Counter(
        method.spec(**{k: v for k, v in json.loads(one).items() if k in SETTINGS}).difference()
        for one in mine["setting"]
    )
    return [
        f"{method.title} stands for the settings that the validation rows chose in each fold; "
        f"{_most_often(found)}."
    ]


def _most_often(found: Counter[str]) -> str:
    """Which settings were chosen most often, named by how they differ from the usual ones."""
    times = found.total()
    words, most = found.most_common(1)[0]
    if most == 1 < times:
        return f"different ones each of {times} times"
    instead = f"{words}, in place of the usual ones" if words else "the usual ones"
    return f"most often ({most} of {times} times) {instead}"
