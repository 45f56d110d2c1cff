"""How much memory a request will take on this machine."""

from __future__ import annotations

import os
from dataclasses import replace

from dashboard.store.request import OF_A_FIT, Request
from dashboard.store.store import Store
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.methods.fit_peak import projection_peak, team_peak
from swiftcore.evaluation.methods.memory_need import MemoryNeed, fit_need
from swiftcore.spec import ModelSpec

ROWS_AT_ONCE = 500  # of a projection, between two looks at the cancel flag
HELD_BACK = 2  # of an experiment's folds: one chooses, one judges


def need_of(store: Store, request: Request) -> MemoryNeed:
    """What a request will take; raises UnknownDataset, UnknownRun or InvalidData."""
    size, spec = store.usable_card(request.dataset).size, _largest_spec(store, request)
    cores = os.cpu_count() or 1
    if request.kind == "fit":
        return fit_need(size, spec, cores)
    if request.kind == "projection":
        known = store.usable_card(store.run(request.run).dataset).size
        return MemoryNeed(
            f"describing {size.shape[0]:,} rows",
            replace(size, shape=(size.shape[0], *known.shape[1:])),
            spec,
            lambda size, spec: projection_peak(size, spec, ROWS_AT_ONCE),
            free=(),
        )
    if request.kind not in OF_A_FIT:  # these fit all rows
        folds = request.settings["folds"]
        size = size.with_rows(max(1, size.shape[0] * (folds - HELD_BACK) // folds))
    return MemoryNeed(
        f"{cores} fits at a time, of {size} at rank {spec.rank} each",
        size,
        spec,
        lambda size, spec: team_peak(size, spec, cores),
        free=("rank",),
    )


def _largest_spec(store: Store, request: Request) -> ModelSpec:
    """The spec of the fits behind a request; of several, one that is as large as any."""
    if request.kind == "fit":
        return request.spec
    if request.run:
        return store.run(request.run).request.spec
    grid = CATALOGUE["swift"].settings(request.settings["quick"])
    sharpest = max(changes["sharpness"] for changes in grid)
    return ModelSpec(rank=max(request.settings["ranks"]), sharpness=sharpest)
