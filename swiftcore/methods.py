"""Every method that can be compared, with its grid: the one place that knows them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.baselines import (
    CpAls,
    CpApr,
    CpBinary,
    CpContinuous,
    CpNmu,
    DirectWasserstein,
    SimilarityCp,
    SupervisedCp,
)
from swiftcore.classifiers import (
    CLASSIFIER_GRIDS,
    RowUnfolding,
    class_probabilities,
    indicators,
    make_classifier,
)
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.method import Embedded, Method, Setting
from swiftcore.evaluation.preparation import PARTS, Prepared
from swiftcore.factorization import Swift
from swiftcore.factorizer import Factorizer
from swiftcore.progress import FitOutcome

MOST_CELLS = 5e6  # beyond it a loss over every cell takes minutes per fit
PAPER_GRID = tuple(
    {"marginal_weight": weight, "sharpness": sharpness}
    for weight, sharpness in product((0.1, 1.0, 10.0), (10.0, 20.0, 50.0, 100.0, 1000.0))
)
# Blunter than the paper's grid: mass then reaches more features, which helps short documents.
BLUNT_GRID = tuple(
    {"marginal_weight": weight, "sharpness": sharpness}
    for weight, sharpness in product((1.0, 10.0), (2.0, 5.0))
)


def embed_swift(prepared: Prepared, rank: int, setting: Setting, seed: int) -> Embedded:
    """SWIFT on the training rows; all rows are then projected in one and the same way."""
    options = dict(setting)
    together = options.pop("projection", "alone") == "together"
    model = Swift(rank, random_state=seed, n_jobs=1, **options)
    model.fit(prepared.tensors["train"], prepared.costs)
    memberships = {}
    for part in PARTS:
        rows = prepared.tensors[part]
        if together and part == "train":
            memberships[part] = model.memberships_
        elif together:
            memberships[part] = model.transform(rows, prepared.row_cost(part))
        else:
            memberships[part] = model.transform(rows, independent=True, max_iterations=50)
    return Embedded(memberships, model.factors_, model.outcome_ is FitOutcome.CONVERGED)


def _embed_with(kind: type[Factorizer]) -> Any:
    def embed(prepared: Prepared, rank: int, setting: Setting, seed: int) -> Embedded:
        model: Any = kind(rank, random_state=seed, **setting)  # type: ignore[call-arg]
        codes = prepared.codes["train"]
        model.fit(prepared.tensors["train"], prepared.costs, labels=codes)
        memberships: Mapping[str, NDArray[np.float64]] = {
            part: model.transform(prepared.tensors[part]) for part in PARTS
        }
        return Embedded(memberships, model.factors_, model.outcome_ is FitOutcome.CONVERGED)

    return embed


def _classify_with(key: str) -> Any:
    def classify(
        prepared: Prepared, setting: Setting, seed: int
    ) -> Mapping[str, NDArray[np.float64]]:
        train = prepared.tensors["train"]
        as_rows = indicators if key.endswith("_indicators") else RowUnfolding.of(train)
        model = make_classifier(key, setting, seed).fit(as_rows(train), prepared.codes["train"])
        return {
            part: class_probabilities(model, as_rows(prepared.tensors[part]), len(prepared.classes))
            for part in PARTS[1:]
        }

    return classify


def _grid(**choices: Sequence[Any]) -> tuple[Setting, ...]:
    """Every combination of the values given."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))


_QUICK_SWIFT = _grid(marginal_weight=(1.0,), sharpness=(2.0, 5.0, 10.0))
_FACTORIZATIONS: tuple[tuple[str, Any, tuple[Setting, ...], tuple[Setting, ...]], ...] = (
    ("swift", embed_swift, PAPER_GRID + BLUNT_GRID, _QUICK_SWIFT),
    ("cp_als", _embed_with(CpAls), ({},), ({},)),
    ("cp_nmu", _embed_with(CpNmu), ({},), ({},)),
    ("supervised_cp", _embed_with(SupervisedCp),
     _grid(similarity_weight=(1.0, 10.0, 100.0), label_weight=(0.1, 10.0, 1000.0)),
     _grid(similarity_weight=(10.0, 100.0), label_weight=(0.1, 10.0))),
    ("similarity_cp", _embed_with(SimilarityCp),
     _grid(similarity_weight=(1.0, 10.0, 100.0, 1000.0)), _grid(similarity_weight=(10.0, 100.0))),
    ("cp_continuous", _embed_with(CpContinuous),
     _grid(floor=(1e-10, 0.01, 1.0)), _grid(floor=(0.01,))),
    ("cp_binary", _embed_with(CpBinary), ({},), ({},)),
    ("cp_apr", _embed_with(CpApr), ({},), ({},)),
    ("direct_wasserstein", _embed_with(DirectWasserstein),
     _grid(marginal_weight=(1.0,), sharpness=(10.0, 20.0)), _grid(sharpness=(10.0,))),
)  # fmt: skip

METHODS: dict[str, Method] = {
    **{
        key: Method(key, "factorization", embed=embed, grid=grid, quick_grid=quick)
        for key, embed, grid, quick in _FACTORIZATIONS
    },
    **{
        key: Method(key, "classifier", classify=_classify_with(key), grid=tuple(grid),
                    quick_grid=tuple(grid[1::2]))
        for key, grid in CLASSIFIER_GRIDS.items()
    },
}  # fmt: skip


def usual_methods(dataset: Dataset) -> tuple[str, ...]:
    """The methods of the paper's tables that a data set of this size allows.

    The direct form is left out (it is there for its slowness), and so are the two
    factorizations that look at every cell when there are too many of them.
    """
    cells = float(np.prod([float(size) for size in dataset.tensor.shape]))
    heavy = {"cp_continuous", "cp_binary"} if cells > MOST_CELLS else set()
    return tuple(key for key in METHODS if key not in heavy | {"direct_wasserstein"})
