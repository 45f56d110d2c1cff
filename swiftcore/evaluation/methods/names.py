"""Names of the methods that can be compared; light enough for any page to import."""

from __future__ import annotations

METHOD_TITLES = {
    "swift": "SWIFT",
    "supervised_swift": "SWIFT with label-weighted features",
    "cp_als": "CP-ALS",
    "cp_nmu": "CP-NMU",
    "supervised_cp": "Supervised CP",
    "similarity_cp": "Similarity-based CP",
    "cp_continuous": "CP-Continuous",
    "cp_binary": "CP-Binary",
    "cp_apr": "CP-APR",
    "direct_wasserstein": "Direct Wasserstein TF",
    "lasso_indicators": "Lasso on indicators",
    "forest_indicators": "Random forest on indicators",
    "mlp_indicators": "MLP on indicators",
    "knn_indicators": "k-nearest neighbours on indicators",
    "lasso_unfolded": "Lasso on the unfolded tensor",
    "forest_unfolded": "Random forest on the unfolded tensor",
    "mlp_unfolded": "MLP on the unfolded tensor",
    "knn_unfolded": "k-nearest neighbours on the unfolded tensor",
}

METHOD_KINDS = {
    key: "classifier" if key.endswith(("_indicators", "_unfolded")) else "factorization"
    for key in METHOD_TITLES
}
_GRID_SIZES = {  # quick, thorough, where counts differ; all others have one setting
    "swift": (4, 25),
    "supervised_swift": (3, 10),
    "cp_als": (2, 2),
    "cp_nmu": (2, 2),
    "supervised_cp": (4, 18),
    "similarity_cp": (3, 8),
    "cp_continuous": (2, 4),
    "cp_apr": (2, 2),
    "direct_wasserstein": (1, 2),
    "lasso": (3, 6),
    "forest": (1, 3),
    "mlp": (1, 3),
    "knn": (2, 4),
}


def grid_size(key: str, quick: bool) -> int:
    """How many settings of a method are tried in each fold."""
    name = key.rsplit("_", 1)[0] if METHOD_KINDS.get(key) == "classifier" else key
    return _GRID_SIZES.get(name, (1, 1))[0 if quick else 1]
