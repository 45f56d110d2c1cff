"""Classifiers on the raw data: what a prediction reaches without any factorization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from swiftcore.evaluation.methods.row_matrix import RowUnfolding, indicators
from swiftcore.evaluation.protocol.preparation import Prepared


def classify(
    key: str, prepared: Prepared, setting: Mapping[str, Any], seed: int
) -> dict[str, NDArray[np.float64]]:
    """Class probabilities of a fold's rows.

    Those of the validation rows come from the training rows alone; those of the test rows (and
    of the known ones themselves) from training and validation rows together.
    """
    found: dict[str, NDArray[np.float64]] = {}
    for fitted, asked in (("train", ("validation",)), ("known", ("known", "test"))):
        rows = prepared.tensors[fitted]
        as_rows = indicators if key.endswith("_indicators") else RowUnfolding.of(rows)
        model = make_classifier(key, setting, seed, rows.shape[0])
        model.fit(as_rows(rows), prepared.codes[fitted])
        for part in asked:
            given = as_rows(prepared.tensors[part])
            found[part] = class_probabilities(model, given, len(prepared.classes))
    return found


def make_classifier(key: str, setting: Mapping[str, Any], seed: int, n_rows: int) -> Any:
    """An unfitted scikit-learn classifier with ``predict_proba``, for sparse rows.

    Parameters
    ----------
    key : str
        Of a classifier in the catalogue; what the rows are made of does not matter here.
    setting : dict
        One entry of its grid.
    seed : int
    n_rows : int
        It will be fitted on; k-NN asks no more neighbours than that.

    Notes
    -----
    All run on one core. Counts are taken as log(1 + count), columns scaled by their largest
    training value; for ones and zeros neither changes anything. Several classes of the lasso
    are each set against the rest. k-NN goes by the cosine distance.
    """
    name = key.rsplit("_", 1)[0]
    if "n_neighbors" in setting:
        setting = {**setting, "n_neighbors": min(setting["n_neighbors"], n_rows)}
    made = _MAKERS[name](setting, seed)
    return make_pipeline(FunctionTransformer(np.log1p, accept_sparse=True), MaxAbsScaler(), made)


def class_probabilities(
    classifier: Any, rows: sparse.csr_array, n_classes: int
) -> NDArray[np.float64]:
    """Probabilities of classes 0 ... n_classes - 1, also of those no training row had."""
    found = np.zeros((rows.shape[0], n_classes))
    found[:, classifier.classes_] = classifier.predict_proba(rows)
    return found


def _lasso(setting: Mapping[str, Any], seed: int) -> Any:
    # liblinear: coordinate descent, converged within a second where saga is still moving
    return OneVsRestClassifier(
        LogisticRegression(
            l1_ratio=1.0, solver="liblinear", intercept_scaling=10.0, random_state=seed, **setting
        )
    )


def _forest(setting: Mapping[str, Any], seed: int) -> Any:
    return RandomForestClassifier(n_estimators=200, n_jobs=1, random_state=seed, **setting)


def _mlp(setting: Mapping[str, Any], seed: int) -> Any:
    return MLPClassifier(
        hidden_layer_sizes=(32,),
        max_iter=300,
        learning_rate_init=0.003,
        tol=1e-3,
        n_iter_no_change=5,
        random_state=seed,
        **setting,
    )


def _knn(setting: Mapping[str, Any], seed: int) -> Any:
    return KNeighborsClassifier(metric="cosine", algorithm="brute", n_jobs=1, **setting)


_MAKERS = {"lasso": _lasso, "forest": _forest, "mlp": _mlp, "knn": _knn}
