"""Experiments: their tables, without timings and without the facts about them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from golden.made_data import corpus, patients
from golden.plain import Result, tables_result
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.experiments.run import link_outcome, run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.swift.estimator import Swift

MADE: dict[str, Callable[[], Dataset]] = {
    "patients": patients,
    "without outcome": partial(patients, outcome=False),
    "corpus": corpus,
    "visits": lambda: replace(
        patients(), row_groups=tuple(f"person {row // 2}" for row in range(60))
    ),
    "outcome missing": lambda: replace(
        patients(), outcome=np.array(["", *np.where(patients().outcome, "yes", "no")[1:]])
    ),
}
RECIPES = ("one-minus-identity", "random")  # the cosine is in every other experiment
SMALL: dict[str, Any] = {"ranks": (3,), "folds": 3}
EXPERIMENTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "evaluation_swift": ("evaluation", "patients", {"methods": ("swift", "cp_nmu")}),
    "evaluation_supervised": (
        "evaluation",
        "patients",
        {"methods": ("supervised_swift", "supervised_cp")},
    ),
    "evaluation_baselines": (
        "evaluation",
        "patients",
        {"methods": ("cp_als", "cp_apr", "similarity_cp", "cp_binary")},
    ),
    "evaluation_classifiers": (
        "evaluation",
        "patients",
        {"methods": ("lasso_indicators", "knn_unfolded", "knn_indicators")},
    ),
    "evaluation_thorough": (
        "evaluation",
        "patients",
        {
            "methods": ("cp_apr", "lasso_indicators"),
            "ranks": (2, 4),
            "quick": False,
            "repeats": 2,
            "features": 5,
        },
    ),
    "evaluation_categories": (
        "evaluation",
        "corpus",
        {"methods": ("swift", "cp_apr", "knn_unfolded"), "features": 12},
    ),
    "evaluation_visits": ("evaluation", "visits", {"methods": ("cp_nmu", "lasso_indicators")}),
    "evaluation_missing": ("evaluation", "outcome missing", {"methods": ("lasso_indicators",)}),
    "noise": (
        "noise",
        "patients",
        {"methods": ("swift", "lasso_indicators"), "levels": (0.2,), "draws": 1},
    ),
    "noise_without_outcome": ("noise", "without outcome", {"levels": (0.2,), "draws": 2}),
    "noise_documents": (
        "noise",
        "corpus",
        {"methods": ("cp_apr",), "levels": (0.2,), "draws": 1, "features": 12},
    ),
    "ablation": ("ablation", "patients", {"methods": ("swift",), "recipes": RECIPES}),
    "ablation_baseline": (
        "ablation",
        "patients",
        {"methods": ("similarity_cp",), "recipes": ("random",), "seed": 2},
    ),
    "stability": ("stability", "patients", {"methods": ("swift", "cp_als"), "seeds": 2}),
    "stability_settings": (
        "stability",
        "patients",
        {"seeds": 2, "fit": {"sharpness": 2.0, "row_relation": "none", "max_iterations": 10}},
    ),
    "stability_documents": ("stability", "corpus", {"seeds": 1, "features": 12}),
}


@cache
def fitted(name: str) -> tuple[np.ndarray, ...]:
    """Factors of a small fit without costs; one start, so that no two of them can tie."""
    tensor = MADE[name]().tensor
    settings: dict[str, Any] = {"random_state": 0, "n_jobs": 1, "n_restarts": 1, "dtype": "float64"}
    model = Swift(3, max_iterations=15, **settings).fit(tensor, [None] * tensor.n_modes)
    return tuple(model.factors_)


def experiment(name: str) -> Result:
    kind, data, settings = EXPERIMENTS[name]
    chosen = ExperimentSettings(**{**SMALL, **settings})
    return tables_result(dict(run_experiment(kind, MADE[data](), chosen).tables))


def taken_up() -> Result:
    """An experiment whose parts are kept, and asked for twice, gives the tables of one."""
    chosen = ExperimentSettings(methods=("cp_apr",), **SMALL)
    with tempfile.TemporaryDirectory() as folder:
        run_experiment("evaluation", patients(), chosen, checkpoints=Path(folder))
        again = run_experiment("evaluation", patients(), chosen, checkpoints=Path(folder))
    return tables_result(dict(again.tables))


def links(name: str) -> Result:
    found = link_outcome(fitted(name)[0], MADE[name](), seed=0)
    assert found is not None
    return tables_result(dict(found.tables))


CASES: dict[str, Callable[[], Result]] = {
    **{name: partial(experiment, name) for name in EXPERIMENTS},
    "evaluation_taken_up": taken_up,
    "links_yes_or_no": partial(links, "patients"),
    "links_categories": partial(links, "corpus"),
}
