"""What a computation will take is said by the formula that the fit itself goes by."""

from __future__ import annotations

import numpy as np
import pytest
from support.tiny_store import tiny_dataset

from dashboard.jobs.estimate import BASE_BYTES, estimate, fit_bytes
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.cost import build_costs
from swiftcore.evaluation.methods.factorizations import make_model


@pytest.mark.parametrize("row_cost", ["as costs", "none"])
@pytest.mark.parametrize("sharpness", [10.0, 1000.0])
def test_the_estimate_is_that_of_the_fit(store: Store, sharpness: float, row_cost: str) -> None:
    data = tiny_dataset(rows=200)
    card = store.card(store.add_dataset(data))
    request = Request("fit", card.id, {"sharpness": sharpness, "row_cost": row_cost})
    costs: list[object] = list(build_costs(data.tensor, reference=data.tensor))
    if row_cost == "none":
        costs[0] = None
    fit = make_model(request.spec, n_jobs=2).estimate_memory(data.tensor, costs)
    said = fit_bytes(card, request.settings, jobs=2) - BASE_BYTES
    squares = sum(np.size(cost) for cost in costs if cost is not None)
    assert said >= fit.total + 8 * squares  # the costs are made and kept besides
    assert said <= 3 * fit.total + 40 * squares


def test_a_sharp_fit_is_said_to_need_more(store: Store) -> None:
    """Its columns are solved one by one, with the shares of a whole column in memory."""
    dataset = store.add_dataset(tiny_dataset(rows=3000))
    blunt, sharp = (
        estimate(store, Request("fit", dataset, {"sharpness": one})).bytes for one in (10.0, 1e3)
    )
    assert sharp > blunt + 2 * 8 * 3000 * 512
