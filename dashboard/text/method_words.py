"""What methods and their scores are called in the two wordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swiftcore.evaluation.methods.catalogue import title_of

_METRICS = {  # as stored: for a clinician, for a data scientist
    "pr_auc": ("share of right alarms", "PR-AUC"),
    "accuracy": ("share put into the right class", "accuracy"),
}
SECOND = {"pr_auc": "ROC AUC", "accuracy": "Macro F1"}  # only for data scientists
_CLASSIFIERS = {
    "lasso": "Weighted checklist",
    "forest": "Many decision trees",
    "mlp": "Small neural network",
    "knn": "Most similar rows",
}
_ROWS_AS = {"indicators": "on single entries", "unfolded": "on pairs of entries"}
_RECIPES = {
    "cosine": ("similar features are close", "similar features are close (cosine)"),
    "one-minus-identity": ("no similarity", "no similarity (1 - I)"),
    "random": ("a random similarity", "random similarity"),
}


def metric_words(about: Mapping[str, Any], wording: str) -> str:
    """What the score of an experiment is called, to stand inside a sentence."""
    pair = _METRICS.get(str(about.get("metric")))
    if pair is None:
        return str(about.get("metric_title") or "score")
    return pair[0] if wording == "clinician" else str(about.get("metric_title") or pair[1])


def method_words(key: str, wording: str) -> str:
    """What a method is called; to a clinician classifiers say what they do."""
    name, _, form = key.rpartition("_")
    if wording == "clinician" and name in _CLASSIFIERS and form in _ROWS_AS:
        return f"{_CLASSIFIERS[name]} {_ROWS_AS[form]}"
    return title_of(key)


def recipe_words(recipe: str, wording: str) -> str:
    """What a way of measuring similarity is called."""
    pair = _RECIPES.get(recipe, (recipe, recipe))
    return pair[0] if wording == "clinician" else pair[1]
