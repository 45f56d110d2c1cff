"""Classifiers on the raw data: what a prediction reaches without any factorization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.tensor import SparseTensor
from swiftcore.tensor.row_checks import check_features

Setting = dict[str, Any]


@dataclass(frozen=True, eq=False)
class RowUnfolding:
    """The tensor as a matrix, rows against combinations of features, as in the paper.

    Only combinations that some training row has become columns; any others that later rows
    bring are left out, since nothing can have been learnt about them.

    Attributes
    ----------
    columns : ndarray of int64
        Combinations as flat indices over the feature modes, the last moving fastest; sorted.
    training : SparseTensor
        What they were taken from.
    """

    columns: NDArray[np.int64]
    training: SparseTensor

    @classmethod
    def of(cls, training: SparseTensor) -> RowUnfolding:
        """Learn the columns from training rows."""
        return cls(np.unique(_flat_features(training)), training)

    def __call__(self, tensor: SparseTensor) -> sparse.csr_array:
        """Rows of any tensor with the same features, (rows x columns)."""
        check_features(self.training.modes, tensor)
        flat = _flat_features(tensor)
        place = np.minimum(np.searchsorted(self.columns, flat), len(self.columns) - 1)
        known = self.columns[place] == flat
        return _matrix(
            tensor.values[known],
            tensor.coordinates[known, 0],
            place[known],
            (tensor.shape[0], len(self.columns)),
        )


def unfolded(tensor: SparseTensor) -> sparse.csr_array:
    """The row unfolding of a tensor by itself, (rows x combinations it has)."""
    return RowUnfolding.of(tensor)(tensor)


def indicators(tensor: SparseTensor) -> sparse.csr_array:
    """Which features each row has, all modes side by side: (rows x features), 0 or 1."""
    rows, columns, begin = [], [], 0
    for mode in range(1, tensor.n_modes):
        pairs = np.unique(tensor.coordinates[:, [0, mode]], axis=0)
        rows.append(pairs[:, 0])
        columns.append(pairs[:, 1] + begin)
        begin += tensor.shape[mode]
    row, column = np.concatenate(rows), np.concatenate(columns)
    return _matrix(np.ones(len(row)), row, column, (tensor.shape[0], begin))


_LASSO: list[Setting] = [{"C": c} for c in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)]
_FOREST: list[Setting] = [{"min_samples_leaf": leaf} for leaf in (1, 3, 10)]
_MLP: list[Setting] = [{"alpha": alpha} for alpha in (0.1, 1.0, 10.0)]
_KNN: list[Setting] = [{"n_neighbors": count} for count in (1, 5, 15, 40)]
CLASSIFIER_GRIDS: dict[str, list[Setting]] = {
    f"{name}_{form}": grid
    for form in ("indicators", "unfolded")
    for name, grid in (("lasso", _LASSO), ("forest", _FOREST), ("mlp", _MLP), ("knn", _KNN))
}


def make_classifier(key: str, setting: Mapping[str, Any], seed: int, n_rows: int) -> Any:
    """An unfitted scikit-learn classifier with ``predict_proba``, for sparse rows.

    Parameters
    ----------
    key : str
        One of :data:`CLASSIFIER_GRIDS`; what the rows are made of does not matter here.
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
    if key not in CLASSIFIER_GRIDS:
        raise refuse(
            "classifier-unknown",
            "There is no such classifier",
            "method",
            repr(key),
            f"Choose one of {', '.join(CLASSIFIER_GRIDS)}.",
            kind=InvalidSettings,
        )
    if "n_neighbors" in setting:
        setting = {**setting, "n_neighbors": min(setting["n_neighbors"], n_rows)}
    made = {"lasso": _lasso, "forest": _forest, "mlp": _mlp, "knn": _knn}[name](setting, seed)
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


def _flat_features(tensor: SparseTensor) -> NDArray[np.int64]:
    """One number per entry for its combination of features."""
    sizes = tensor.shape[1:]
    if float(np.prod([float(size) for size in sizes])) >= 2.0**63:
        raise refuse(
            "unfolding-size",
            "The row unfolding has more columns than can be numbered",
            "modes after the first",
            f"sizes {sizes}",
            "Use the indicators instead.",
        )
    places = tuple(tensor.coordinates[:, mode] for mode in range(1, tensor.n_modes))
    return np.asarray(np.ravel_multi_index(places, sizes), dtype=np.int64)


def _matrix(
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    shape: tuple[int, int],
) -> sparse.csr_array:
    """Compressed rows with 32-bit indices, the only ones that liblinear takes."""
    made = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=shape))
    made.sort_indices()
    made.indices, made.indptr = made.indices.astype(np.int32), made.indptr.astype(np.int32)
    return made
