"""What a computation will take is said by the formula that the fit itself goes by."""

from __future__ import annotations

import json
import os

import pytest
from support.tiny_store import tiny_dataset

from dashboard.jobs.estimate import estimate
from dashboard.store.dataset_files import read_card
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.evaluation.methods.fit_peak import fit_peak
from swiftcore.tensor import TensorSize


@pytest.mark.parametrize("row_cost", ["as costs", "none"])
@pytest.mark.parametrize("sharpness", [10.0, 1000.0])
def test_the_estimate_is_that_of_the_fit(store: Store, sharpness: float, row_cost: str) -> None:
    data = tiny_dataset(rows=200)
    settings = {"sharpness": sharpness, "row_cost": row_cost}
    request = Request("fit", store.add_dataset(data), settings)
    fit = fit_peak(TensorSize.of(data.tensor), request.spec, os.cpu_count())
    assert estimate(store, request).bytes == fit.total


def test_a_card_without_the_longest_columns_takes_the_longest_possible(store: Store) -> None:
    """As cards were written before."""
    dataset = store.add_dataset(tiny_dataset(rows=200))
    path = store.root / "datasets" / dataset / "card.json"
    card = read_card(json.dumps({**json.loads(path.read_bytes()), "longest": None}).encode())
    assert card.size.longest == card.shape
    assert store.card(dataset).size == TensorSize.of(tiny_dataset(rows=200).tensor)


def test_a_sharp_fit_is_said_to_need_more(store: Store) -> None:
    """Its columns are solved one by one, with the shares of a whole column in memory."""
    data = tiny_dataset(rows=3000)
    longest = TensorSize.of(data.tensor).longest[0]
    dataset = store.add_dataset(data)
    blunt, sharp = (
        estimate(store, Request("fit", dataset, {"sharpness": one})).bytes for one in (10.0, 1e3)
    )
    assert longest > 100 and sharp - blunt > 4 * 3000 * longest
