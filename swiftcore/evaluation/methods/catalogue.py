"""Every method that can be compared: one entry each, and nothing else to edit.

A new factorization is one file in ``swiftcore/baselines`` and one entry here; the command line,
the experiments and the dashboard offer it by themselves. Entries are data: estimators are
loaded when they are first used, so that every page may import this.
"""

from __future__ import annotations

from math import prod

from swiftcore.baselines.defaults import KIM
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.methods.method import (
    AS_RECORDED,
    PRESENCE,
    Changes,
    Method,
    either,
    every,
)
from swiftcore.spec import ModelSpec

GRIDS = 5  # part of what an experiment is called: raise it when a method's grid changes
MAX_CELLS = 5e6  # beyond it a loss over every cell takes minutes per fit
MAX_CELLS_QUICK = 2e6  # beyond it, several seconds: too long for a quick look

_PAPER_GRID = every(
    **{name: (value,) for name, value in AS_RECORDED.items()},
    marginal_weight=(0.1, 1.0, 10.0),
    sharpness=(10.0, 20.0, 50.0, 100.0, 1000.0),
)
# Blunter than the paper's grid: mass then reaches more features, which helps short documents.
_BLUNT_GRID = every(
    **{name: (value,) for name, value in AS_RECORDED.items()},
    marginal_weight=(1.0, 10.0),
    sharpness=(2.0, 5.0),
)
# Beyond the paper's grid: what helped on documents and records (docs/evidence.md, "What helped").
_EQUAL: Changes = {"row_mass": "equal"}
_RARE: Changes = {**_EQUAL, "feature_weighting": "rarity"}
_QUICK_SWIFT: tuple[Changes, ...] = (
    {"sharpness": 2.0, **AS_RECORDED},
    {"sharpness": 10.0, **_EQUAL, "feature_weighting": "none", **PRESENCE},
    {"sharpness": 2.0, **_RARE, "entry_values": "counts"},
    *either({"sharpness": 2.0, **_RARE}),
)
_QUICK_LABELS: tuple[Changes, ...] = (
    {"sharpness": 2.0, "outcome_power": 2.0, "outcome_share": 0.3},
    {"sharpness": 10.0, "outcome_power": 2.0, "outcome_share": 0.3},
    {"sharpness": 2.0, "outcome_power": 4.0, "outcome_share": 0.3, **_EQUAL},
    {"sharpness": 2.0, **_EQUAL},
    {"sharpness": 5.0, **_EQUAL, "feature_weighting": "rarity and outcome", **PRESENCE},
)
_ENTRIES = (
    Method(
        "swift",
        "SWIFT",
        model="swiftcore.swift.estimator:Swift",
        grid=_PAPER_GRID + _BLUNT_GRID + either(*_QUICK_SWIFT[1:3], {"sharpness": 5.0, **_RARE}),
        quick_grid=_QUICK_SWIFT,
        defaults={},
        costs="all",
    ),
    Method(
        "supervised_swift",
        "SWIFT guided by the outcome",
        model="swiftcore.swift.estimator:Swift",
        grid=(
            *every(
                sharpness=(2.0, 10.0),
                outcome_power=(1.0, 2.0),
                outcome_share=(0.0, 0.3),
                row_mass=("as recorded", "equal"),
            ),
            _QUICK_LABELS[2],
            *either(_QUICK_LABELS[-1]),
        ),
        quick_grid=_QUICK_LABELS,
        defaults={**AS_RECORDED, "feature_weighting": "outcome"},
        short_title="SWIFT, outcome-guided",
        needs_labels=True,
        costs="all",
    ),
    Method(
        "cp_als",
        "CP-ALS",
        model="swiftcore.baselines.cp_als:CpAls",
        grid=either({}),
        quick_grid=either({}),
        signed=True,
        sweep_seconds=(4e-8, 3e-9),
    ),
    Method(
        "cp_nmu",
        "CP-NMU",
        model="swiftcore.baselines.cp_nmu:CpNmu",
        grid=either({}),
        quick_grid=either({}),
        sweep_seconds=(4e-8, 3e-9),
    ),
    Method(
        "supervised_cp",
        "Supervised CP",
        model="swiftcore.baselines.supervised_cp:SupervisedCp",
        grid=either(*every(similarity_weight=(1.0, 10.0, 100.0), label_weight=(0.1, 10.0, 1000.0))),
        quick_grid=(
            *every(similarity_weight=(10.0, 100.0), label_weight=(0.1,)),
            {"similarity_weight": 100.0, "label_weight": 10.0},
            {"similarity_weight": 10.0, "label_weight": 10.0, **PRESENCE},
        ),
        defaults=KIM._asdict(),
        needs_labels=True,
        costs="features",
    ),
    Method(
        "similarity_cp",
        "Similarity-based CP",
        model="swiftcore.baselines.similarity_cp:SimilarityCp",
        grid=either(*every(similarity_weight=(1.0, 10.0, 100.0, 1000.0))),
        quick_grid=(*either({"similarity_weight": 10.0}), {"similarity_weight": 100.0}),
        defaults=KIM._asdict(),
        short_title="Similarity CP",
        costs="features",
    ),
    Method(
        "cp_continuous",
        "CP-Continuous",
        model="swiftcore.baselines.cp_continuous:CpContinuous",
        grid=every(floor=(1e-10, 1.0)) + either({"floor": 0.01}),
        quick_grid=either({"floor": 0.01}),
        every_cell=True,
        sweep_seconds=(1.2e-8, 7e-10),
    ),
    Method(  # sees no counts in any case
        "cp_binary",
        "CP-Binary",
        model="swiftcore.baselines.cp_binary:CpBinary",
        every_cell=True,
        sweep_seconds=(1.2e-8, 7e-10),
    ),
    Method(
        "cp_apr",
        "CP-APR",
        model="swiftcore.baselines.cp_apr:CpApr",
        grid=either({}),
        quick_grid=either({}),
        sweep_seconds=(6e-7, 1.5e-8),
    ),
)
_CLASSIFIERS = {
    "lasso": ("Lasso", "Lasso", every(C=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0))),
    "forest": ("Random forest", "Random forest", every(min_samples_leaf=(1, 3, 10))),
    "mlp": ("MLP", "MLP", every(alpha=(0.1, 1.0, 10.0))),
    "knn": ("k-nearest neighbours", "k-NN", every(n_neighbors=(1, 5, 15, 40))),
}
_ROWS_AS = {"indicators": "on indicators", "unfolded": "on the unfolded tensor"}

CATALOGUE: dict[str, Method] = {
    **{entry.key: entry for entry in _ENTRIES},
    **{
        f"{name}_{form}": Method(
            f"{name}_{form}",
            f"{title} {rows}",
            "classifier",
            grid=grid,
            quick_grid=grid[1::2],
            short_title=f"{short}, {form}",
        )
        for form, rows in _ROWS_AS.items()
        for name, (title, short, grid) in _CLASSIFIERS.items()
    },
}
"""All methods by key, in the order of the paper's tables."""


def title_of(key: str) -> str:
    """The name of a method for people; the key itself if the catalogue does not know it."""
    return CATALOGUE[key].title if key in CATALOGUE else key


def short_title_of(key: str) -> str:
    """The name of a method where there is little room."""
    return (CATALOGUE[key].short_title if key in CATALOGUE else "") or title_of(key)


def methods_for(kind: str) -> tuple[str, ...]:
    """The keys of the methods that an experiment of this kind can be made with."""
    suited = {
        "ablation": [key for key, method in CATALOGUE.items() if method.costs != "none"],
        "stability": [key for key, method in CATALOGUE.items() if method.repeatable],
        "ranks": ["swift"],
    }
    return tuple(suited.get(kind, CATALOGUE))


def factorization(key: str) -> Method:
    """The factorization of a key; raises InvalidSettings if there is none."""
    known = [name for name, method in CATALOGUE.items() if method.is_factorization]
    if key not in known:
        raise refuse(
            "method-unknown",
            "There is no such factorization",
            "method",
            repr(key)[:80],
            f"Choose from {', '.join(known)}.",
            kind=InvalidSettings,
        )
    return CATALOGUE[key]


def spec_for(method: str, **changes: object) -> ModelSpec:
    """The usual spec of a factorization, with some changes."""
    return factorization(method).spec(**changes)


def fit_title(spec: ModelSpec) -> str:
    """A short name of a fit that begins with its method: CP-ALS, R = 12, seed 3."""
    method = CATALOGUE.get(spec.method)
    usual = None if method is None else method.spec().plain()
    return f"{short_title_of(spec.method)}, {spec.title(usual)}"


def usual_methods(dataset: Dataset, features: int = 0, *, quick: bool = False) -> tuple[str, ...]:
    """The methods of the paper's tables that a data set of this size allows.

    The factorizations that look at every cell are left out when there are too many of them. A
    quick look at as many data leaves out SWIFT's second grid, the one that sees labels, as well.

    Parameters
    ----------
    features : int
        To how many features per mode the data will be cut; 0: not at all.
    quick : bool
        Leave these out sooner.
    """
    rows, *sizes = (float(size) for size in dataset.tensor.shape)
    cells = rows * prod(min(size, features or size) for size in sizes)
    left_out = set()
    if cells > (MAX_CELLS_QUICK if quick else MAX_CELLS):
        left_out = {key for key, method in CATALOGUE.items() if method.every_cell}
        left_out |= {"supervised_swift"} if quick else set()
    return tuple(key for key in CATALOGUE if key not in left_out)
