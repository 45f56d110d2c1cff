"""How much memory a request will take on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from dashboard.store.request import OF_A_FIT, Request
from dashboard.store.store import Store
from swiftcore.evaluation.experiments.tuning.candidates import sharpest
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.methods.fit_peak import projection_peak, team_peak
from swiftcore.evaluation.methods.memory_need import MemoryNeed, fit_need
from swiftcore.projection import ROWS_AT_ONCE
from swiftcore.runtime.memory import usable_memory
from swiftcore.spec import ModelSpec
from swiftcore.tensor import TensorSize

HELD_BACK = 2  # of an experiment's folds: one chooses, one judges


def need_of(store: Store, request: Request, ending: Iterable[int] = ()) -> MemoryNeed:
    """What a request will take; raises UnknownDataset, UnknownRun or InvalidData.

    Parameters
    ----------
    ending : iterable of int
        Processes that will be gone when its turn comes; an experiment may then do more at once.
    """
    size, spec = _largest_fit(store, request)
    if request.kind == "fit":
        return fit_need(size, spec, os.cpu_count())
    if request.kind == "projection":
        known = store.usable_card(store.run(request.run).dataset).size
        return MemoryNeed(
            f"describing {size.shape[0]:,} rows",
            replace(size, shape=(size.shape[0], *known.shape[1:])),
            spec,
            lambda size, spec: projection_peak(size, spec, ROWS_AT_ONCE),
            free=(),
        )
    team = fits_at_once(store, request, ending)
    return MemoryNeed(
        f"{team} at a time of the fits of {size} at rank {spec.rank}",
        size,
        spec,
        lambda size, spec: team_peak(size, spec, team),
        free=("rank",),
    )


def fits_at_once(store: Store, request: Request, ending: Iterable[int] = ()) -> int:
    """How many fits of an experiment run side by side: one per core, if the memory allows."""
    size, spec = _largest_fit(store, request)
    alone = team_peak(size, spec, 1)
    one_more = team_peak(size, spec, 2) - alone
    others = int((usable_memory(ending) - alone) // one_more)
    return 1 + max(0, min((os.cpu_count() or 1) - 1, others))


def _largest_fit(store: Store, request: Request) -> tuple[TensorSize, ModelSpec]:
    """The fit behind a request; of several, one that is as large as any."""
    size = store.usable_card(request.dataset).size
    if request.kind == "fit":
        return size, request.spec
    if request.kind == "tune":  # stability is looked at with all rows
        return size, ModelSpec(rank=max(request.settings["ranks"]), sharpness=sharpest())
    if request.kind != "projection" and request.kind not in OF_A_FIT:  # some rows are held back
        folds = request.settings["folds"]
        size = size.with_rows(max(1, size.shape[0] * (folds - HELD_BACK) // folds))
    if request.run:
        spec = store.run(request.run).request.spec
        return size, replace(spec, rank=max([spec.rank, *request.settings.get("ranks", [])]))
    grid = CATALOGUE["swift"].settings(request.settings["quick"])
    sharp = max(changes["sharpness"] for changes in grid)
    return size, ModelSpec(rank=max(request.settings["ranks"]), sharpness=sharp)
