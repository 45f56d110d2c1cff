"""Every method that can be compared, with its grid: the one place that knows them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.methods.classifiers import (
    CLASSIFIER_GRIDS,
    RowUnfolding,
    class_probabilities,
    indicators,
    make_classifier,
)
from swiftcore.evaluation.methods.method import PRESENCE, Embedded, Method, Setting, on_amounts
from swiftcore.evaluation.methods.weighting import (
    Tensors,
    equal_rows,
    label_weights,
    presence,
    rarity,
    weigh_features,
)
from swiftcore.evaluation.protocol.preparation import PARTS, Prepared
from swiftcore.factorizer import Factorizer
from swiftcore.progress import FitOutcome
from swiftcore.swift import Swift

PROJECTION_STEPS = 50  # memberships are then within half a percent of their limit
MAX_CELLS = 5e6  # beyond it a loss over every cell takes minutes per fit
MAX_CELLS_QUICK = 2e6  # beyond it, several seconds: too long for a quick look
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
    """SWIFT on the training rows; all rows are then projected in the same way, each by itself.

    Besides the arguments of :class:`Swift` a setting may hold

    equal_rows : bool
        Give every row the same mass, so that long documents do not outweigh short ones.
    rarity_weighting : bool
        Weigh features by their inverse row frequency, so that common ones do not take all mass.
    label_weighting : float
        Weigh features by how much they say about the training rows' labels, to this power.
    presence : bool
        Count every entry as 1, costs included, so that a false large one does no more harm.
    """
    prepared, options = _take_presence(prepared, setting)
    tensors = _weighted(
        prepared, options.pop("rarity_weighting", False), options.pop("label_weighting", 0.0)
    )
    if options.pop("equal_rows", False):
        tensors = equal_rows(tensors)
    model = Swift(rank, random_state=seed, n_jobs=1, **options)
    model.fit(tensors["train"], prepared.costs)
    memberships = {
        part: model.transform(tensors[part], independent=True, max_iterations=PROJECTION_STEPS)
        for part in PARTS
    }
    return Embedded(memberships, model.factors_, model.outcome_ is FitOutcome.CONVERGED)


def _weighted(prepared: Prepared, by_rarity: bool, power: float) -> Tensors:
    """All parts weighted by what the training rows say of the features."""
    if not (by_rarity or power):
        return prepared.tensors
    present = indicators(prepared.tensors["train"])
    weights = np.ones(present.shape[1])
    if by_rarity:
        weights *= rarity(present)
    if power:
        weights *= label_weights(present, prepared.codes["train"], power)
    return weigh_features(prepared.tensors, weights)


def _take_presence(prepared: Prepared, setting: Setting) -> tuple[Prepared, dict[str, Any]]:
    """The rows as a setting wants them, and the rest of the setting."""
    options = dict(setting)
    if options.pop(PRESENCE, False):
        prepared = replace(prepared, tensors=presence(prepared.tensors))
    return prepared, options


def _embed_with(kind: type[Factorizer]) -> Any:
    def embed(prepared: Prepared, rank: int, setting: Setting, seed: int) -> Embedded:
        prepared, options = _take_presence(prepared, setting)
        model: Any = kind(rank, random_state=seed, **options)  # type: ignore[call-arg]
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

    return classify


def _grid(**choices: Sequence[Any]) -> tuple[Setting, ...]:
    """Every combination of the values given."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))


def _either(*settings: Setting) -> tuple[Setting, ...]:
    """Each setting on the counts and on presence."""
    amounts = [on_amounts(setting) for setting in settings]
    return (*amounts, *({**setting, PRESENCE: True} for setting in amounts))


# Beyond the paper's grid: what helped on documents and records (docs/evidence.md, "What helped").
_RARE: Setting = {"equal_rows": True, "rarity_weighting": True}
_QUICK_SWIFT: tuple[Setting, ...] = (
    {"sharpness": 2.0},
    {"sharpness": 10.0, "equal_rows": True, PRESENCE: True},
    *_either({"sharpness": 2.0, **_RARE}),
)
_QUICK_SUPERVISED: tuple[Setting, ...] = (
    {"sharpness": 10.0, "label_weighting": 2.0, "equal_rows": False},
    {"sharpness": 2.0, "label_weighting": 1.0, "equal_rows": True},
    {"sharpness": 5.0, "label_weighting": 1.0, **_RARE, PRESENCE: True},
)
BASELINES: dict[str, type[Factorizer]] = {
    "cp_als": CpAls,
    "cp_nmu": CpNmu,
    "supervised_cp": SupervisedCp,
    "similarity_cp": SimilarityCp,
    "cp_continuous": CpContinuous,
    "cp_binary": CpBinary,
    "cp_apr": CpApr,
    "direct_wasserstein": DirectWasserstein,
}
COST_METHODS = ("swift", "supervised_swift", "supervised_cp", "similarity_cp", "direct_wasserstein")
# Quick enough to be fitted again and again, and without labels.
REPEATABLE = ("swift", "cp_als", "cp_nmu", "similarity_cp", "cp_continuous", "cp_binary", "cp_apr")
_GRIDS: dict[str, tuple[tuple[Setting, ...], tuple[Setting, ...]]] = {  # thorough, quick
    "swift": (
        PAPER_GRID + BLUNT_GRID + _either(*_QUICK_SWIFT[1:3], {"sharpness": 5.0, **_RARE}),
        _QUICK_SWIFT,
    ),
    "supervised_swift": (
        _grid(sharpness=(2.0, 10.0), label_weighting=(1.0, 2.0), equal_rows=(False, True))
        + _either(_QUICK_SUPERVISED[-1]),
        _QUICK_SUPERVISED,
    ),
    "cp_als": (_either({}), _either({})),
    "cp_nmu": (_either({}), _either({})),
    "supervised_cp": (
        _either(*_grid(similarity_weight=(1.0, 10.0, 100.0), label_weight=(0.1, 10.0, 1000.0))),
        (
            *_grid(similarity_weight=(10.0, 100.0), label_weight=(0.1,)),
            {"similarity_weight": 100.0, "label_weight": 10.0},
            {"similarity_weight": 10.0, "label_weight": 10.0, PRESENCE: True},
        ),
    ),
    "similarity_cp": (
        _either(*_grid(similarity_weight=(1.0, 10.0, 100.0, 1000.0))),
        (*_either({"similarity_weight": 10.0}), {"similarity_weight": 100.0}),
    ),
    "cp_continuous": (
        _grid(floor=(1e-10, 1.0)) + _either({"floor": 0.01}),
        _either({"floor": 0.01}),
    ),
    "cp_binary": (({},), ({},)),  # sees no counts in any case
    "cp_apr": (_either({}), _either({})),
    "direct_wasserstein": (
        _grid(marginal_weight=(1.0,), sharpness=(10.0, 20.0)),
        _grid(sharpness=(10.0,)),
    ),
}

METHODS: dict[str, Method] = {
    **{
        key: Method(
            key,
            "factorization",
            grid=grid,
            quick_grid=quick,
            embed=_embed_with(BASELINES[key]) if key in BASELINES else embed_swift,
        )
        for key, (grid, quick) in _GRIDS.items()
    },
    **{
        key: Method(
            key,
            "classifier",
            classify=_classify_with(key),
            grid=tuple(grid),
            quick_grid=tuple(grid[1::2]),
        )
        for key, grid in CLASSIFIER_GRIDS.items()
    },
}


def usual_methods(dataset: Dataset, features: int = 0, *, quick: bool = False) -> tuple[str, ...]:
    """The methods of the paper's tables that a data set of this size allows.

    The direct form is left out (it is there for its slowness), and so are the two
    factorizations that look at every cell when there are too many of them. A quick look
    at as many data leaves out SWIFT's second grid, the one that sees labels, as well.

    Parameters
    ----------
    features : int
        To how many features per mode the data will be cut; 0: not at all.
    quick : bool
        Leave these out sooner.
    """
    rows, *sizes = (float(size) for size in dataset.tensor.shape)
    cells = rows * np.prod([min(size, features or size) for size in sizes])
    most = MAX_CELLS_QUICK if quick else MAX_CELLS
    left_out = {"direct_wasserstein"}
    if cells > most:
        left_out |= {"cp_continuous", "cp_binary"} | ({"supervised_swift"} if quick else set())
    return tuple(key for key in METHODS if key not in left_out)
