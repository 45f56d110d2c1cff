"""Fits of SWIFT and of every baseline, and projections of new rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from golden.made_data import counts, labels_of
from golden.plain import FLOAT32, FLOAT64, Result, bits_of, outline, result
from swiftcore.baselines.cp_als import CpAls
from swiftcore.baselines.cp_apr import CpApr
from swiftcore.baselines.cp_binary import CpBinary
from swiftcore.baselines.cp_continuous import CpContinuous
from swiftcore.baselines.cp_nmu import CpNmu
from swiftcore.baselines.direct_wasserstein import DirectWasserstein
from swiftcore.baselines.similarity_cp import SimilarityCp
from swiftcore.baselines.supervised_cp import SupervisedCp
from swiftcore.cost import build_costs
from swiftcore.model_file import load_model, save_model
from swiftcore.swift.estimator import Swift
from swiftcore.tensor import SparseTensor

FLAT, CUBE, FOUR, WIDE = (30, 12), (36, 12, 10), (20, 8, 6, 5), (260, 45, 30)
DOUBLE = {"dtype": "float64"}
# Stated here, so that other defaults leave the recordings what they are.
BEGUN: dict[str, Any] = {"sharpness": 10.0, "max_iterations": 12, "random_state": 0, "n_jobs": 1}
HISTORY = ("objective", "transport", "model_divergence", "data_divergence", "gap", "accepted")


@dataclass(frozen=True)
class Fit:
    """A fit of SWIFT: its data, which modes have a cost of which recipe, its settings."""

    shape: tuple[int, ...] = CUBE
    rank: int = 3
    recipe: str = "cosine"
    still: tuple[int, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def costs(self, tensor: SparseTensor) -> list[Any]:
        costs = build_costs(tensor, self.recipe, reference=tensor, seed=3)
        return [None if mode in self.still else cost for mode, cost in enumerate(costs)]

    def fitted(self, **more: Any) -> Swift:
        chosen = {**BEGUN, **self.settings, **more}
        tensor = counts(self.shape)
        return Swift(self.rank, **chosen).fit(tensor, self.costs(tensor))

    @property
    def rtol(self) -> float:
        return FLOAT64 if self.settings.get("dtype") == "float64" else FLOAT32


FITS = {
    "flat_float32": Fit(FLAT, 2),
    "flat_float64": Fit(FLAT, 2, settings=DOUBLE),
    "flat_sharp": Fit(FLAT, 3, settings={"sharpness": 1000.0, **DOUBLE}),
    "cube_float32": Fit(),
    "cube_float64": Fit(settings=DOUBLE),
    "cube_converged": Fit(settings={"max_iterations": 200, **DOUBLE}),
    "cube_blunt_float32": Fit(settings={"sharpness": 2.0}),
    "cube_blunt_float64": Fit(settings={"sharpness": 2.0, **DOUBLE}),
    "cube_sharp_float32": Fit(settings={"sharpness": 1000.0}),
    "cube_sharp_float64": Fit(settings={"sharpness": 1000.0, **DOUBLE}),
    "four_float32": Fit(FOUR),
    "four_float64": Fit(FOUR, 4, settings=DOUBLE),
    "four_still_rows": Fit(FOUR, still=(0,)),
    "wide_float32": Fit(WIDE, 5, settings={"max_iterations": 6}),
    "wide_still_rows": Fit(WIDE, 5, still=(0,), settings={"max_iterations": 6}),
    "still_rows": Fit(still=(0,)),
    "still_rows_float64": Fit(still=(0,), settings=DOUBLE),
    "still_feature": Fit(still=(1,)),
    "still_feature_float64": Fit(still=(2,), settings=DOUBLE),
    "still_everything": Fit(still=(0, 1, 2), settings=DOUBLE),
    "still_rows_sharp": Fit(still=(0,), settings={"sharpness": 1000.0}),
    "random_start": Fit(settings={"start": "random"}),
    "random_start_once": Fit(settings={"start": "random", "n_restarts": 1, **DOUBLE}),
    "one_restart": Fit(settings={"n_restarts": 1}),
    "mean_unit": Fit(settings={"value_unit": "mean"}),
    "other_unit": Fit(settings={"value_unit": 2.5, **DOUBLE}),
    "no_momentum": Fit(settings={"momentum": 0.0}),
    "loose_marginals": Fit(settings={"marginal_weight": 0.1}),
    "tight_marginals": Fit(settings={"marginal_weight": 10.0, **DOUBLE}),
    "one_minus_identity": Fit(recipe="one-minus-identity"),
    "random_costs": Fit(recipe="random"),
    "large_rank": Fit(FLAT, 9, settings={"max_iterations": 30}),
    "other_seed": Fit(settings={"random_state": 5}),
}
BASELINES: dict[str, tuple[Any, tuple[int, ...], dict[str, Any]]] = {
    "cp_als": (CpAls, CUBE, {}),
    "cp_als_four": (CpAls, FOUR, {}),
    "cp_apr": (CpApr, CUBE, {}),
    "cp_apr_flat": (CpApr, FLAT, {}),
    "cp_binary": (CpBinary, CUBE, {}),
    "cp_continuous": (CpContinuous, CUBE, {"floor": 0.01}),
    "cp_nmu": (CpNmu, CUBE, {}),
    "cp_nmu_four": (CpNmu, FOUR, {}),
    "direct_wasserstein": (DirectWasserstein, (15, 6, 5), {"max_iterations": 6}),
    "similarity_cp": (SimilarityCp, CUBE, {"similarity_weight": 10.0}),
    "supervised_cp": (SupervisedCp, CUBE, {"similarity_weight": 10.0, "label_weight": 10.0}),
}


@cache
def cube_model(dtype: str, sharpness: float = 10.0, still: tuple[int, ...] = ()) -> Swift:
    """One fit that several projections share."""
    return Fit(still=still, settings={"dtype": dtype, "sharpness": sharpness}).fitted()


def describe_model(model: Any, rtol: float) -> Result:
    """All that is kept of a fit."""
    history = [[getattr(entry, name) for entry in model.history_] for name in HISTORY]
    return result(
        rtol,
        always={"shapes": [factor.shape for factor in model.factors_]},
        bits={
            "factors": bits_of(model.factors_),
            "history": bits_of([np.array(history, dtype=np.float64)]),
            "dead": getattr(model, "dead_components_", ()),
        },
        close={
            "objective": model.objective_,
            "iterations": model.n_iterations_,
            "outcome": model.outcome_.name,
            "factors": [outline(factor) for factor in model.factors_],
        },
    )


def swift_fit(name: str) -> Result:
    return describe_model(FITS[name].fitted(), FITS[name].rtol)


def workers_agree(name: str) -> Result:
    """One worker, two and three give the same bits."""
    found = {bits_of(FITS[name].fitted(n_jobs=jobs).factors_) for jobs in (1, 2, 3)}
    return result(FITS[name].rtol, always={"different": len(found)}, bits=sorted(found))


def given_start() -> Result:
    """From factors given by the caller."""
    tensor, fit = counts(CUBE), Fit()
    rng = np.random.default_rng(4)
    start = [rng.uniform(0.1, 1.0, (size, fit.rank)) for size in CUBE]
    model = Swift(fit.rank, **{**BEGUN, "max_iterations": 5})
    model.fit(tensor, fit.costs(tensor), initial_factors=start)
    return describe_model(model, FLOAT32)


def baseline_fit(name: str) -> Result:
    """A baseline, and what it says of new rows."""
    kind, shape, settings = BASELINES[name]
    tensor, new = counts(shape), counts((9, *shape[1:]), seed=1)
    costs = build_costs(tensor, reference=tensor)
    model = kind(3, random_state=0, **{"max_iterations": 15, **settings})
    model.fit(tensor, costs, labels=labels_of(tensor))
    found, memberships = describe_model(model, FLOAT64), model.transform(new)
    projected = describe_rows(memberships, FLOAT64)
    return {
        part: {"fit": found[part], "new rows": projected[part]} if part != "rtol" else FLOAT64
        for part in found
    }


def describe_rows(memberships: np.ndarray, rtol: float) -> Result:
    return result(
        rtol,
        always={"shape": memberships.shape},
        bits=bits_of([memberships]),
        close=outline(memberships),
    )


def projection(dtype: str, sharpness: float, still: tuple[int, ...], options: Any) -> Result:
    """Memberships of new rows, together or each by itself."""
    new = counts((14, *CUBE[1:]), seed=1)
    chosen = dict(options)
    if chosen.pop("own_cost", False):
        chosen["costs"] = 1.0 - np.eye(new.shape[0])
    rtol = FLOAT64 if dtype == "float64" else 10 * FLOAT32
    return describe_rows(cube_model(dtype, sharpness, still).transform(new, **chosen), rtol)


def stored_model() -> Result:
    """A model that was saved and read says the same of new rows."""
    model, new = cube_model("float32"), counts((14, *CUBE[1:]), seed=1)
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model.npz")
        again = load_model(Path(folder) / "model.npz")
    same = bits_of(again.factors_) == bits_of(model.factors_)
    rows = again.transform(new, independent=True)
    found = describe_rows(rows, 10 * FLOAT32)
    return {**found, "always": {"same": same, **found["always"]}}


PROJECTIONS: dict[str, tuple[str, float, tuple[int, ...], dict[str, Any]]] = {
    "joint_float32": ("float32", 10.0, (), {}),
    "joint_float64": ("float64", 10.0, (), {}),
    "joint_sharp": ("float64", 1000.0, (), {}),
    "joint_still_rows": ("float32", 10.0, (0,), {}),
    "joint_own_cost": ("float32", 10.0, (), {"own_cost": True}),
    "alone_float32": ("float32", 10.0, (), {"independent": True}),
    "alone_float64": ("float64", 10.0, (), {"independent": True}),
    "alone_sharp": ("float64", 1000.0, (), {"independent": True}),
    "alone_few_steps": ("float32", 10.0, (0,), {"independent": True, "max_iterations": 7}),
}
CASES: dict[str, Callable[[], Result]] = {
    **{f"swift_{name}": partial(swift_fit, name) for name in FITS},
    **{
        f"workers_{name}": partial(workers_agree, name)
        for name in ("wide_float32", "four_still_rows")
    },
    "swift_given_start": given_start,
    **{f"baseline_{name}": partial(baseline_fit, name) for name in BASELINES},
    **{f"transform_{name}": partial(projection, *one) for name, one in PROJECTIONS.items()},
    "stored_model": stored_model,
}
